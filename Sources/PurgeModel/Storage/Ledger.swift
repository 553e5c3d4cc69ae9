/// The numbers of one container: sums over its files, by kind.
///
/// Every change to a file changes the ledger in the same step, by the difference between the file's old and new accounts.
/// Adding up all files again gives the same ledger.
public struct Ledger: Hashable, Sendable {
    /// The charged bytes and the number of files.
    public struct Usage: Hashable, Sendable {
        public internal(set) var bytes = ByteCount.zero
        public internal(set) var files: Int64 = 0

        public init(bytes: ByteCount = .zero, files: Int64 = 0) {
            self.bytes = bytes
            self.files = files
        }
    }

    /// Determines the sums to which a file's charged bytes are added.
    public struct Account: Hashable, Sendable {
        public var tier: Tier
        /// Whether the effective mark makes the file purgeable.
        public var isMarked: Bool
        /// Whether the file is excluded from backup.
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
    /// The charged bytes of files that purging would free now.
    public internal(set) var reclaimableByClass = PurgeableBytes()
    /// The part of `reclaimableByClass` in files that are being changed, so that no purge can choose them.
    public internal(set) var heldByClass = PurgeableBytes()
    /// Bytes taken from files for a call that needs several steps to make enough room. They belong to no file until the call
    /// has enough or gives up.
    public internal(set) var setAside = ByteCount.zero

    public init() {}

    /// The charged bytes of files that purging would free now.
    public var reclaimable: ByteCount { reclaimableByClass.all }
    /// The part of `reclaimable` that no purge can choose now.
    public var held: ByteCount { heldByClass.all }

    /// The charged bytes of this container.
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
    /// Begins to count a file.
    public mutating func enter(_ charged: ByteCount, as account: Account) { add(charged, files: 1, account) }

    /// Stops counting a file.
    public mutating func withdraw(_ charged: ByteCount, as account: Account) {
        add(.zero - charged, files: -1, account)
    }

    /// Adds `bytes` to a file that already counts; a negative number subtracts them.
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
    /// Counts a file's bytes as reclaimable.
    public mutating func offer(_ charged: ByteCount, as class: PurgeClass) { reclaimableByClass.add(charged, `class`) }

    /// Stops counting a file's bytes as reclaimable. A held file must be released first.
    public mutating func retract(_ charged: ByteCount, as class: PurgeClass) {
        reclaimableByClass.add(.zero - charged, `class`)
    }

    /// Excludes a reclaimable file from purging while it is being changed.
    public mutating func hold(_ charged: ByteCount, as class: PurgeClass) { heldByClass.add(charged, `class`) }

    /// Ends `hold`.
    public mutating func release(_ charged: ByteCount, as class: PurgeClass) {
        heldByClass.add(.zero - charged, `class`)
    }

    /// Sets bytes aside for a call that does not have enough room yet. The caller has already withdrawn the files from which
    /// they were taken.
    public mutating func setAside(_ bytes: ByteCount) { setAside += bytes }

    /// Ends `setAside`: either the call takes the bytes, or the files from which they were taken are entered again.
    public mutating func returnSetAside(_ bytes: ByteCount) { setAside -= bytes }
}

extension Ledger.Usage {
    fileprivate mutating func add(_ bytes: ByteCount, _ files: Int64) {
        self.bytes += bytes
        self.files += files
    }
}
