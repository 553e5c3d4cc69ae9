/// A file that purging would free, as the plan sees it.
public struct PurgeCandidate<ID: Sendable>: Sendable {
    public var id: ID
    public var rank: PurgeRank
    public var age: PurgeAge
    /// If further files are purged with it as one: the directory that they are below.
    public var unfinishedGroup: ID?

    public init(id: ID, rank: PurgeRank, age: PurgeAge, unfinishedGroup: ID? = nil) {
        self.id = id
        self.rank = rank
        self.age = age
        self.unfinishedGroup = unfinishedGroup
    }

    public var reason: PurgeReason { rank.reason(freeing: age.charged) }
}

/// One file of a plan, with the reason why it may be purged.
public struct PlannedPurge<ID: Sendable>: Sendable {
    public var id: ID
    public var reason: PurgeReason
    public var bytes: ByteCount
}

/// A directory of which a purge has taken some of the files that are purged as one.
public struct UnfinishedGroup<ID: Sendable>: Sendable {
    public var directory: ID
    /// Of a file that has been taken; the others are in the same step and urgency.
    public var rank: PurgeRank
}

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

/// What a purge takes, in order. `purge --dry-run` prints this value; a purge takes the same files in the same order, in
/// steps.
public struct PurgePlan<ID: Sendable>: Sendable {
    /// Taken from others.purgeable (and from others with it) before any file.
    public var fromOthers: ByteCount
    public var items: [PlannedPurge<ID>]
    /// The same after them, because there are no more files.
    public private(set) var restOfOthers = ByteCount.zero
    /// What the shares leave to files and these do not have: a further step of the same purge goes on with it.
    public private(set) var leftToFiles = ByteCount.zero
    /// All of `Library/Caches` goes, and not all of it may be among the items, because they have reached their limit.
    public private(set) var leavesCaches = false
    /// A group of which the plan of a size has some files, and not all because it has reached its limit of files.
    public private(set) var unfinished: UnfinishedGroup<ID>?

    public var freed: ByteCount { items.reduce(fromOthers + restOfOthers) { $0 + $1.bytes } }

    /// Takes candidates from `next`, which returns them in purge order, file by file until it is
    /// enough and no group has been taken in part, or `limit` files. Candidates that are not needed are not requested, so the
    /// cost of a plan depends on what it takes. With `takesCachesWhole`, a file that goes because it is in `Library/Caches`
    /// brings all others of that place with it.
    public init(
        goal: PurgeGoal, othersPurgeable: ByteCount, share: OthersShare = OthersShare(), limit: Int = .max,
        takesCachesWhole: Bool = false,
        next: (PurgeStep?) -> PurgeCandidate<ID>?
    ) {
        items = []
        switch goal {
        case .bytes(let short):
            // A negative amount counts as zero: a purge must never make others grow.
            let part = share.part(of: short)
            fromOthers = min(part, othersPurgeable)
            let (files, isLast) = take(short - fromOthers, of: nil, limit, next)
            if takesCachesWhole { takeRestOfCaches(limit, next) }
            if isLast { restOfOthers = max(.zero, min((short - freed).roundedUp, othersPurgeable - fromOthers)) }
            leftToFiles = max(.zero, short - part - files)
        case .step(let only):
            fromOthers = .zero
            leftToFiles = max(.zero, share.leftToFiles - take(nil, of: only, limit, next).bytes)
            unfinished = nil
        case .all:
            fromOthers = othersPurgeable
            _ = take(nil, of: nil, limit, next)
            unfinished = nil
        }
    }

    /// Takes files until these bytes are no longer missing; all of them if nil. Returns what they have, and whether there
    /// are no more.
    private mutating func take(
        _ wanted: ByteCount?, of step: PurgeStep?, _ limit: Int, _ next: (PurgeStep?) -> PurgeCandidate<ID>?
    ) -> (bytes: ByteCount, isLast: Bool) {
        var taken = ByteCount.zero
        while wanted.map({ taken < $0 }) ?? true || unfinished != nil, items.count < limit {
            guard let candidate = next(step) else { return (taken, true) }
            add(candidate)
            taken += candidate.age.charged
            unfinished = candidate.unfinishedGroup.map { UnfinishedGroup(directory: $0, rank: candidate.rank) }
        }
        return (taken, false)
    }

    private mutating func add(_ candidate: PurgeCandidate<ID>) {
        items.append(PlannedPurge(id: candidate.id, reason: candidate.reason, bytes: candidate.age.charged))
    }

    /// If the last file has gone because it is in Caches, so does the rest of that place: those before it have gone, and
    /// nothing that comes after it in the order is among the items.
    private mutating func takeRestOfCaches(_ limit: Int, _ next: (PurgeStep?) -> PurgeCandidate<ID>?) {
        guard items.last?.reason == .caches else { return }
        (leavesCaches, unfinished) = (true, nil)
        while items.count < limit {
            guard let candidate = next(.caches) else { return leavesCaches = false }
            add(candidate)
        }
    }
}
