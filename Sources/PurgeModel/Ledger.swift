/// The numbers of one container: what its files add up to, by kind.
///
/// Whoever changes a file changes the ledger in the same step, with what the file counts as before and after.
/// It holds nothing that could not be added up anew from the files.
public struct Ledger: Hashable, Sendable {
    /// Charged bytes of files, and how many files there are.
    public struct Usage: Hashable, Sendable {
        public internal(set) var bytes = ByteCount.zero
        public internal(set) var files: Int64 = 0

        public init(bytes: ByteCount = .zero, files: Int64 = 0) {
            self.bytes = bytes
            self.files = files
        }
    }

    /// Which numbers a file counts in.
    public struct Account: Hashable, Sendable {
        public var tier: Tier
        /// Its effective mark makes it purgeable.
        public var isMarked: Bool
        /// It is excluded from backup.
        public var isExcluded: Bool

        public init(tier: Tier, isMarked: Bool = false, isExcluded: Bool = false) {
            self.tier = tier
            self.isMarked = isMarked
            self.isExcluded = isExcluded
        }
    }

    public internal(set) var temporary = Usage()
    public internal(set) var caches = Usage()
    public internal(set) var persistent = Usage()
    public internal(set) var marked = Usage()
    public internal(set) var excluded = Usage()
    /// Charged bytes of the files that purging would really give back now.
    public internal(set) var reclaimable = ByteCount.zero
    /// The part of `reclaimable` that no purge can choose now, because the files are being changed.
    public internal(set) var held = ByteCount.zero
    /// Bytes that have been taken from files for a call that needs more than one step to get enough room.
    /// They are nobody's until that call has all of it or gives up.
    public internal(set) var setAside = ByteCount.zero

    public init() {}

    /// Charged bytes of this container.
    public var used: ByteCount { temporary.bytes + caches.bytes + persistent.bytes + setAside }

    public func usage(of tier: Tier) -> Usage {
        switch tier {
        case .temporary: temporary
        case .caches: caches
        case .persistent: persistent
        }
    }
}

extension Ledger {
    /// A file begins to count.
    public mutating func enter(_ charged: ByteCount, as account: Account) { add(charged, files: 1, account) }

    /// A file counts no longer.
    public mutating func withdraw(_ charged: ByteCount, as account: Account) {
        add(.zero - charged, files: -1, account)
    }

    /// A file that counts has so many bytes more, or fewer where the number is negative.
    public mutating func charge(_ bytes: ByteCount, as account: Account) { add(bytes, files: 0, account) }

    private mutating func add(_ bytes: ByteCount, files: Int64, _ account: Account) {
        switch account.tier {
        case .temporary: temporary.add(bytes, files)
        case .caches: caches.add(bytes, files)
        case .persistent: persistent.add(bytes, files)
        }
        if account.isMarked { marked.add(bytes, files) }
        if account.isExcluded { excluded.add(bytes, files) }
    }
}

extension Ledger {
    /// Purging would give these bytes of a file back from now on.
    public mutating func offer(_ charged: ByteCount) { reclaimable += charged }

    /// Purging would not give them back any longer. Those of a file that is held are released before.
    public mutating func retract(_ charged: ByteCount) { reclaimable -= charged }

    /// A file that counts as reclaimable is being changed, so that no purge can choose it.
    public mutating func hold(_ charged: ByteCount) { held += charged }

    /// The end of `hold`.
    public mutating func release(_ charged: ByteCount) { held -= charged }

    /// Takes bytes for a call that does not have enough room yet. The files that they come from are withdrawn.
    public mutating func setAside(_ bytes: ByteCount) { setAside += bytes }

    /// The end of `setAside`: the call takes the bytes, or the files that they come from enter again.
    public mutating func returnSetAside(_ bytes: ByteCount) { setAside -= bytes }
}

extension Ledger.Usage {
    fileprivate mutating func add(_ bytes: ByteCount, _ files: Int64) {
        self.bytes += bytes
        self.files += files
    }
}
