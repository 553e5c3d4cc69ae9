/// The amount to purge.
public enum PurgeGoal: Hashable, Sendable {
    /// At least this many bytes, in purge order; the share of others.purgeable comes first.
    case bytes(ByteCount)
    /// All of one step, and nothing else.
    case step(PurgeStep)
    /// Everything that may be purged, beginning with others.purgeable.
    case all

    /// Returns the goal that remains after a purge has freed `freed` bytes, or nil if that is enough. Only a goal in bytes
    /// changes.
    public func rest(after freed: ByteCount) -> PurgeGoal? {
        guard case .bytes(let wanted) = self else { return self }
        return wanted > freed ? .bytes(wanted - freed) : nil
    }

    /// Whether the goal is everything, or all of one step, rather than an amount.
    public var isWhole: Bool {
        if case .bytes = self { false } else { true }
    }

    /// The step to which the goal is limited, if any.
    public var step: PurgeStep? {
        if case .step(let step) = self { step } else { nil }
    }
}

/// A group of which a purge has taken only some files.
public struct UnfinishedGroup<File: Sendable>: Sendable {
    public let directory: File
    /// The ranks of the files that are purged together.
    public let ranks: [PurgeRank]
}

/// The result of planning a purge, in order. `purge --dry-run` prints this value; a purge carries it out in steps.
public struct PurgePlan<File: Sendable>: Sendable {
    /// Bytes taken from others.purgeable, and so from others, before any file.
    public private(set) var fromOthers = ByteCount.zero
    public private(set) var victims: [Victim<File>] = []
    /// The charged bytes of the victims.
    public private(set) var bytes = ByteCount.zero
    /// Bytes taken from others.purgeable after the victims, because no files are left.
    public private(set) var restOfOthers = ByteCount.zero
    /// The bytes that files must still give: their share of the shortfall, less the bytes of these victims. The next step of
    /// the same purge starts from this number.
    public private(set) var leftToFiles = ByteCount.zero
    /// The folder whose turn comes after the victims. It goes as a whole, so the plan ends before it.
    public private(set) var folder: WholeFolder?
    /// Groups of which the plan has some files, and may lack others because it reached its file limit.
    public private(set) var unfinished: [UnfinishedGroup<File>] = []
    /// Some of the files that were skipped although their turn had come.
    public var passedOver: [PassedOver] = []

    public var allFromOthers: ByteCount { fromOthers + restOfOthers }
    public var freed: ByteCount { allFromOthers + bytes }
    public var isEmpty: Bool { victims.isEmpty && allFromOthers == .zero }

    /// Creates a plan of exactly these files.
    public init(_ victims: [Victim<File>] = []) {
        self.victims = victims
        bytes = victims.reduce(.zero) { $0 + $1.bytes }
    }

    /// Plans a purge from the victims that `next` returns in purge order. Planning stops when the goal is reached and no group
    /// is left incomplete, at `limit` files, or when `next` returns nil. Victims that are not needed are never requested, so
    /// the cost of a plan depends only on the victims that it takes. If `next` returns nil because a folder that goes as a whole
    /// comes next, `nextFolder` returns that folder.
    public init(
        _ goal: PurgeGoal, in order: PurgeOrder = .documented, othersPurgeable: ByteCount,
        share: OthersShare = OthersShare(), limit: Int = .max, nextFolder: () -> WholeFolder? = { nil },
        next: (PurgeStep?) -> Victim<File>?
    ) {
        switch goal {
        case .bytes(let short):
            // A negative amount counts as zero: a purge must never make others grow.
            let part = share.part(of: short)
            fromOthers = min(part, othersPurgeable)
            let isLast = take(short - fromOthers, of: nil, limit, nextFolder, next)
            let files = bytes
            noteUnfinished(order)
            if isLast { restOfOthers = max(.zero, min((short - freed).roundedUp, othersPurgeable - fromOthers)) }
            leftToFiles = max(.zero, short - part - files)
        case .step(let only):
            _ = take(nil, of: only, limit, { nil }, next)
            leftToFiles = max(.zero, share.leftToFiles - bytes)
        case .all:
            fromOthers = othersPurgeable
            _ = take(nil, of: nil, limit, nextFolder, next)
        }
    }

    public mutating func add(_ victim: Victim<File>) {
        victims.append(victim)
        bytes += victim.bytes
    }

    /// Appends the next step of the same purge.
    public mutating func add(_ next: PurgePlan) {
        fromOthers += next.fromOthers
        victims += next.victims
        bytes += next.bytes
        restOfOthers += next.restOfOthers
        leftToFiles = next.leftToFiles
        unfinished += next.unfinished
        if passedOver.isEmpty { passedOver = next.passedOver }
    }

    /// Takes files until `wanted` bytes are found and the last group is complete, or all files if `wanted` is nil, but stops at
    /// `limit` and before a folder. Returns whether nothing is left to take.
    private mutating func take(
        _ wanted: ByteCount?, of step: PurgeStep?, _ limit: Int, _ nextFolder: () -> WholeFolder?,
        _ next: (PurgeStep?) -> Victim<File>?
    ) -> Bool {
        while wanted.map({ bytes < $0 }) ?? true || victims.last?.unfinishedGroup != nil, victims.count < limit {
            guard let victim = next(step) else {
                folder = nextFolder()
                return folder == nil
            }
            add(victim)
        }
        return false
    }

    private mutating func noteUnfinished(_ order: PurgeOrder) {
        guard let last = victims.last, let directory = last.unfinishedGroup, let rank = last.rank else { return }
        unfinished = [UnfinishedGroup(directory: directory, ranks: order.ranks(with: rank))]
    }
}
