/// How much is to be purged.
public enum PurgeGoal: Hashable, Sendable {
    /// At least this much, of whatever kind, in order; the share of others.purgeable first.
    case bytes(ByteCount)
    /// All of one step, and nothing else.
    case step(PurgeStep)
    /// Everything that may be purged, others.purgeable first.
    case all

    /// What is left to do once that much has been freed; nil if it is enough.
    public func rest(after freed: ByteCount) -> PurgeGoal? {
        guard case .bytes(let wanted) = self else { return self }
        return wanted > freed ? .bytes(wanted - freed) : nil
    }

    /// Everything of a place, however much that is.
    public var isWhole: Bool {
        if case .bytes = self { false } else { true }
    }

    /// The only step that it concerns.
    public var step: PurgeStep? {
        if case .step(let step) = self { step } else { nil }
    }
}

/// A directory of which a purge has taken some of the files that are purged as one.
public struct UnfinishedGroup<File: Sendable>: Sendable {
    public let directory: File
    /// The ranks of the files that go together.
    public let ranks: [PurgeRank]
}

/// What a purge takes, in order. `purge --dry-run` prints this value, and a purge carries it out, in steps.
public struct PurgePlan<File: Sendable>: Sendable {
    /// Taken from others.purgeable (and from others with it) before any file.
    public private(set) var fromOthers = ByteCount.zero
    public private(set) var victims: [Victim<File>] = []
    /// What the victims have.
    public private(set) var bytes = ByteCount.zero
    /// Taken from others.purgeable after the victims, because there are no more files.
    public private(set) var restOfOthers = ByteCount.zero
    /// What the shares leave to files and these do not have: a further step of the same purge goes on with it.
    public private(set) var leftToFiles = ByteCount.zero
    /// All of `Library/Caches` goes, and not all of it may be among the victims, because they have reached their limit.
    public private(set) var leavesCaches = false
    /// Groups of which the plan of a size has some files, and perhaps not all because it has reached its limit of files.
    public private(set) var unfinished: [UnfinishedGroup<File>] = []
    /// Some of what stays though its turn was not later.
    public var passedOver: [PassedOver] = []

    public var allFromOthers: ByteCount { fromOthers + restOfOthers }
    public var freed: ByteCount { allFromOthers + bytes }
    public var isEmpty: Bool { victims.isEmpty && allFromOthers == .zero }

    /// Exactly these files.
    public init(_ victims: [Victim<File>] = []) {
        self.victims = victims
        bytes = victims.reduce(.zero) { $0 + $1.bytes }
    }

    /// Takes victims from `next`, which returns them in purge order, file by file until it is enough and no group has
    /// been taken in part, or `limit` files. Victims that are not needed are not requested, so the cost of a plan
    /// depends on what it takes. If the order takes Caches whole, a file that goes because it is in `Library/Caches`
    /// brings all others of that place with it.
    public init(
        _ goal: PurgeGoal, in order: PurgeOrder = .documented, othersPurgeable: ByteCount,
        share: OthersShare = OthersShare(), limit: Int = .max, next: (PurgeStep?) -> Victim<File>?
    ) {
        switch goal {
        case .bytes(let short):
            // A negative amount counts as zero: a purge must never make others grow.
            let part = share.part(of: short)
            fromOthers = min(part, othersPurgeable)
            let isLast = take(short - fromOthers, of: nil, limit, next)
            let files = bytes
            if order.takesCachesWhole, victims.last?.reason == .caches {
                takeRestOfCaches(limit, next)
            } else {
                noteUnfinished(order)
            }
            if isLast { restOfOthers = max(.zero, min((short - freed).roundedUp, othersPurgeable - fromOthers)) }
            leftToFiles = max(.zero, short - part - files)
        case .step(let only):
            _ = take(nil, of: only, limit, next)
            leftToFiles = max(.zero, share.leftToFiles - bytes)
        case .all:
            fromOthers = othersPurgeable
            _ = take(nil, of: nil, limit, next)
        }
    }

    /// One more file.
    public mutating func add(_ victim: Victim<File>) {
        victims.append(victim)
        bytes += victim.bytes
    }

    /// A further step of the same purge.
    public mutating func add(_ next: PurgePlan) {
        fromOthers += next.fromOthers
        victims += next.victims
        bytes += next.bytes
        restOfOthers += next.restOfOthers
        leftToFiles = next.leftToFiles
        unfinished += next.unfinished
        if passedOver.isEmpty { passedOver = next.passedOver }
    }

    /// Takes files until these bytes are no longer missing; all of them if nil. Returns whether there are no more.
    private mutating func take(
        _ wanted: ByteCount?, of step: PurgeStep?, _ limit: Int, _ next: (PurgeStep?) -> Victim<File>?
    ) -> Bool {
        while wanted.map({ bytes < $0 }) ?? true || victims.last?.unfinishedGroup != nil, victims.count < limit {
            guard let victim = next(step) else { return true }
            add(victim)
        }
        return false
    }

    /// If the last file has gone because it is in Caches, so does the rest of that place: those before it have gone, and
    /// nothing that comes after it in the order is among the victims.
    private mutating func takeRestOfCaches(_ limit: Int, _ next: (PurgeStep?) -> Victim<File>?) {
        leavesCaches = true
        while victims.count < limit {
            guard let victim = next(.caches) else { return leavesCaches = false }
            add(victim)
        }
    }

    private mutating func noteUnfinished(_ order: PurgeOrder) {
        guard let last = victims.last, let directory = last.unfinishedGroup, let rank = last.rank else { return }
        unfinished = [UnfinishedGroup(directory: directory, ranks: order.ranks(with: rank))]
    }
}
