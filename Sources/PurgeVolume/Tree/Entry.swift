import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// A node's attributes as a caller sees them: those of the backing file, with the blocks of the ledger.
public struct Attributes: Sendable {
    public var status: FileStatus
    /// The kernel may keep these attributes until it changes them itself.
    public var mayBeCached: Bool
}

/// A node that was found or made, and to which the kernel now holds one more reference.
public struct Entry: Sendable {
    public let node: Node
    public var attributes: Attributes
}

/// The caller, with the ids that new files get.
public struct Caller: Sendable {
    public var owner: uid_t
    public var group: gid_t
    /// The calling thread; 0 for RELEASE and the like.
    public var tid: pid_t
    public var umask: mode_t

    public init(owner: uid_t, group: gid_t, tid: pid_t, umask: mode_t) {
        self.owner = owner
        self.group = group
        self.tid = tid
        self.umask = umask
    }
}

extension Node {
    /// What a caller sees of the backing's status; under the lock.
    func attributes(_ status: FileStatus) -> Attributes {
        var status = status
        status.st_blocks = isRegular ? Int(blocks * 8) : 0
        status.st_blksize = 4096
        // When an ordinary user writes, the daemon clears the bits, which the kernel's cache does not see.
        let dropsBits = isRegular && status.st_mode & (S_ISUID | S_ISGID) != 0
        return Attributes(status: status, mayBeCached: !dropsBits && !isPassed)
    }
}

extension VolumeState {
    /// One more reference of the kernel.
    mutating func grant(_ node: Node) {
        // Unmanaged: the kernel's references are one retained reference, from the first to the last.
        if tree.references.grant(node) { _ = Unmanaged.passRetained(node) }
    }
}
