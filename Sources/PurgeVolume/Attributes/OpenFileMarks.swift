import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// isPurgeable of an open file, by its descriptor, as the ioctls of APFS have it. The kernel does not hold the inode's
/// lock meanwhile.
public struct OpenFileMarks: VolumeFamily {
    let core: VolumeCore

    /// The file's own mark; nil if it has none.
    public func mark(of handle: Handle) -> PurgeMark? { read { $0[handle.node].ownMark } }

    /// Sets the attribute. EPERM if the caller neither has the file open for writing nor owns it, nor is root: the kernel
    /// has not checked whether it may.
    public func set(_ mark: PurgeMark, of handle: Handle, caller: Caller) throws(Errno) {
        if !handle.canWrite, caller.owner != 0 {
            guard try System.status(handle.descriptor).st_uid == caller.owner else { throw .notPermitted }
        }
        try extendedAttributes.set(mark, of: handle, tid: caller.tid)
    }
}
