import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// A node that was found or made, and to which the kernel now holds one more reference.
public struct Entry: Sendable {
    public let node: Node
    public let attributes: Attributes
    /// Whether the kernel may keep the name until it changes the name itself.
    public var nameMayBeCached = true
}

/// The caller, with the IDs that new files get.
public struct Caller: Sendable {
    public var owner: uid_t
    public var group: gid_t
    /// The calling thread; 0 for our own calls, for RELEASE and the like, and for a thread in another PID namespace.
    public var tid: pid_t
    public var umask: mode_t

    public init(owner: uid_t, group: gid_t, tid: pid_t, umask: mode_t) {
        self.owner = owner
        self.group = group
        self.tid = tid
        self.umask = umask
    }
}

extension VolumeState {
    /// Gives the kernel one more reference to a node.
    mutating func grant(_ node: Node) {
        // Unmanaged: one retained reference stands for all of the kernel's, from the first to the last.
        if tree.references.grant(node) { _ = Unmanaged.passRetained(node) }
    }
}

extension EntryFacts {
    /// The facts of a new entry. The kernel uses one time for its birth and its modification.
    init(ofNew status: FileStatus, on device: borrowing Device, _ protection: FileProtection?, opens: UInt32 = 0) {
        let creation = device.fileClock.time(of: FileTime(status.st_mtim))
        self.init(protection: protection, creation: creation, opens: opens)
    }
}
