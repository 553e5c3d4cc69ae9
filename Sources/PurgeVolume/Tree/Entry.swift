import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// What a caller sees of a node's attributes: the backing's, with the blocks that the ledger knows.
public struct Attributes: Sendable {
    public var status: FileStatus
    /// The kernel may keep these attributes until it changes them itself.
    public var mayBeCached: Bool
}

/// A node, found or made, of which the kernel now holds one more reference.
public struct Entry: Sendable {
    public let node: Node
    public var attributes: Attributes
}

/// Who asks, with the ids that new files get.
public struct Caller: Sendable {
    public var owner: uid_t
    public var group: gid_t
    /// The thread that asks; 0 for RELEASE and the like.
    public var pid: pid_t
    public var umask: mode_t

    public init(owner: uid_t, group: gid_t, pid: pid_t, umask: mode_t) {
        self.owner = owner
        self.group = group
        self.pid = pid
        self.umask = umask
    }
}

extension Volume {
    /// The backing's status as a caller sees it. `st_blocks` x 512 is the charge on every store,
    /// so that du, df and the ledger agree (docs/RULES.md, Charged bytes).
    func attributes(of node: Node, _ status: FileStatus) -> Attributes {
        read { _ in lockedAttributes(of: node, status) }
    }

    /// The same, for who holds the lock.
    func lockedAttributes(of node: Node, _ status: FileStatus) -> Attributes {
        var status = status
        status.st_blocks = node.isRegular ? Int(node.blocks * 8) : 0
        status.st_blksize = 4096
        // A write by an ordinary user clears the bits in the daemon, unseen by the kernel's cache.
        let dropsBits = node.isRegular && status.st_mode & (S_ISUID | S_ISGID) != 0
        return Attributes(status: status, mayBeCached: !dropsBits && !node.isPassed)
    }

    /// One more reference of the kernel; under the lock.
    func lockedGrant(_ node: Node, _ state: inout VolumeState) {
        // Unmanaged: the kernel's references are one retained reference, from the first to the last.
        if state.tree.references.grant(node) { _ = Unmanaged.passRetained(node) }
    }

    /// The kernel has dropped `count` references.
    public func forget(_ node: Node, count: UInt64) {
        guard node !== root, !node.isControl else { return }
        let isLast = change { state in state.tree.references.forget(node, count: count) }
        // Unmanaged: `lockedGrant` retained it when the kernel got its first reference.
        if isLast { Unmanaged.passUnretained(node).release() }
    }
}
