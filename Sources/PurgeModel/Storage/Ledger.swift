/// The numbers of one container: the sums over its files, by kind.
///
/// Every change of a file changes the ledger in the same step, from what the file counted as before to what it counts
/// as afterwards. The ledger has nothing that could not be added up again from the files.
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
        /// The effective mark makes the file purgeable.
        public var isMarked: Bool
        /// The file is excluded from backup.
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
    /// Charged bytes of the files that purging would really free now.
    public internal(set) var reclaimableByClass = PurgeableBytes()
    /// The part of them that no purge can choose now, because the files are being changed.
    public internal(set) var heldByClass = PurgeableBytes()
    /// Bytes that have been taken from files for a call that needs more than one step to get enough room.
    /// They belong to no file until that call has enough or gives up.
    public internal(set) var setAside = ByteCount.zero

    public init() {}

    /// Charged bytes of the files that purging would really free now.
    public var reclaimable: ByteCount { reclaimableByClass.all }
    /// The part of `reclaimable` that no purge can choose now.
    public var held: ByteCount { heldByClass.all }

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

    /// A file no longer counts.
    public mutating func withdraw(_ charged: ByteCount, as account: Account) {
        add(.zero - charged, files: -1, account)
    }

    /// A file that counts has this many more bytes, or fewer if the number is negative.
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
    /// From now on purging would free these bytes of a file.
    public mutating func offer(_ charged: ByteCount, as class: PurgeClass) { reclaimableByClass.add(charged, `class`) }

    /// Purging would no longer free them. Bytes of a file that is held are released first.
    public mutating func retract(_ charged: ByteCount, as class: PurgeClass) {
        reclaimableByClass.add(.zero - charged, `class`)
    }

    /// A file that counts as reclaimable is being changed, so that no purge can choose it.
    public mutating func hold(_ charged: ByteCount, as class: PurgeClass) { heldByClass.add(charged, `class`) }

    /// The end of `hold`.
    public mutating func release(_ charged: ByteCount, as class: PurgeClass) {
        heldByClass.add(.zero - charged, `class`)
    }

    /// Takes bytes for a call that does not have enough room yet. The files that have them are withdrawn.
    public mutating func setAside(_ bytes: ByteCount) { setAside += bytes }

    /// The end of `setAside`: the call takes the bytes, or the files that had them enter again.
    public mutating func returnSetAside(_ bytes: ByteCount) { setAside -= bytes }
}

extension Ledger.Usage {
    fileprivate mutating func add(_ bytes: ByteCount, _ files: Int64) {
        self.bytes += bytes
        self.files += files
    }
}
