import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// The attributes of an entry as a caller sees them. Every reply with attributes takes them from here, so each rule about
/// visible attributes has one place.
public struct Attributes: Sendable {
    public private(set) var status: FileStatus
    /// Creation time; nil if it was not requested, or the store's file system does not keep it.
    public private(set) var birth: Instant?
    /// Whether the kernel may keep these attributes until it changes them itself.
    public let mayBeCached: Bool

    /// Creates the attributes of an entry of the store from its status there. `st_blocks` x 512 is the charge on every store,
    /// so that du, df and the ledger agree (docs/RULES.md, Charged bytes).
    ///
    /// `mayArriveLate` is for replies to SETATTR, LINK and requests that make entries. The kernel accepts such a reply even
    /// if it is older than the kernel's last invalidation, so on a device whose clock was advanced the kernel must not cache
    /// its attributes.
    // Inlined, because a call would copy the borrowed state.
    @inline(__always)
    init(
        of node: Node, _ status: FileStatus, birth: Instant? = nil, mayArriveLate: Bool = false,
        in state: borrowing VolumeState
    ) {
        // When an ordinary user writes, the daemon clears these bits, and the kernel's cache does not see that.
        let dropsBits = node.isRegular && status.st_mode & (S_ISUID | S_ISGID) != 0
        // After a change of the clock, the kernel can be made to revalidate an entry without a name only if it is an open file.
        let isFound = !state[node].isUnlinked || state[node].opens > 0
        let isAdvanced = !state.device.history.isEmpty
        self.init(
            status, birth: birth,
            mayBeCached: !dropsBits && !state[node].isPassed && isFound && !(mayArriveLate && isAdvanced))
        if isAdvanced {
            state.device.fileClock.showTimes(&self.status, &self.birth, state[node].io.setTimes)
        }
        self.status.st_blocks = node.isRegular ? Int(state[node].blocks * 8) : 0
        self.status.st_blksize = 4096
    }

    /// Creates the attributes of a purged entry whose name the announcing thread is about to remove.
    init(ofGhost status: FileStatus) { self.init(status, mayBeCached: false) }

    /// Creates the attributes of the control directory or one of its files, which are not in the store.
    init(ofControl status: FileStatus) { self.init(status, mayBeCached: true) }

    private init(_ status: FileStatus, birth: Instant? = nil, mayBeCached: Bool) {
        self.status = status
        self.birth = birth
        self.mayBeCached = mayBeCached
    }
}
