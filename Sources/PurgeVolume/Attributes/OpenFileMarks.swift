import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Reads and sets isPurgeable of an open file or directory, as the ioctls of APFS do. The kernel does not hold the inode's lock
/// during an ioctl.
public struct OpenFileMarks: VolumeFamily {
    let core: VolumeCore

    /// Returns the node's own mark; nil if it has none.
    public func mark(of node: Node) -> PurgeMark? { read { $0[node].ownMark } }

    /// Sets the attribute. Throws EPERM unless the caller has the file open for writing, owns it or is root. The kernel does
    /// not check this for an ioctl.
    public func set(_ mark: PurgeMark, of handle: Handle, caller: Caller) throws(Errno) {
        if !handle.canWrite, caller.owner != 0 {
            guard try System.status(handle.descriptor).st_uid == caller.owner else { throw .notPermitted }
        }
        try extendedAttributes.set(mark, of: handle, tid: caller.tid)
    }

    /// Sets the attribute of a directory. Throws EPERM unless the caller owns it or is root.
    public func set(_ mark: PurgeMark, ofDirectory node: Node, caller: Caller) throws(Errno) {
        if caller.owner != 0 {
            guard try lookups.attributes(of: node).status.st_uid == caller.owner else { throw .notPermitted }
        }
        try extendedAttributes.set(mark, ofDirectory: node, caller: caller)
    }
}
