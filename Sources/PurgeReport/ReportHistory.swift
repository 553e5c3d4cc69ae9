import PurgeContainers
import PurgeModel
import PurgeSystem

/// A summary of the journal, in bounded memory.
struct ReportHistory {
    /// The files of one directory that were purged for one reason.
    struct Purged {
        /// The directory: `.` for the container itself, nil for space of other apps and for a sum of groups.
        var directory: String?
        var reason: String
        var files: Int64 = 0
        var bytes = ByteCount.zero
        /// The time of the purge recorded last, or the latest such time in a sum.
        var last = ""
    }
    private struct Group: Hashable {
        /// The hash of the directory's path.
        var directory: Int?
        var reason: String
    }

    /// The largest number of groups kept apart; later groups are summed by reason.
    private static let mostGroups = 20_000
    /// The largest number of events that a table lists.
    static let mostNewest = 50
    static let mostGroupsShown = 40

    private var groups: [Group: Purged] = [:]
    /// The sums, by reason, of groups beyond `mostGroups`.
    private var further: [String: Purged] = [:]
    private(set) var newestPurges = Newest<Event>(ReportHistory.mostNewest)
    private(set) var newestRefusals = Newest<Event>(ReportHistory.mostNewest)
    private(set) var story = EventGroups()
    private(set) var purges = Moments()
    private(set) var refusals = Moments()
    private(set) var levels = States<PressureLevel>(most: 1024, rank: \.severity)
    private(set) var locks = States<LockState>(most: 1024) { $0.restrictsData ? 1 : 0 }
    private(set) var timesLocked = 0
    private(set) var reboots = Moments()
    private(set) var flagsLost = 0
    private(set) var denials = 0
    /// The number of records in the journal that report missing events.
    private(set) var dropped = 0
    private var eventTimes = EventTimes()
    /// The earliest time of any event. Because clocks can be set back, it need not belong to the first event.
    var first: String? { eventTimes.first }
    var last: String? { eventTimes.last }

    mutating func add(_ event: Event) {
        eventTimes.add(event.time)
        let time = Instant(iso8601: event.time)?.nanoseconds
        story.add(event)
        switch event.type {
        case .purge: addPurge(event, time)
        case .refused, .hostFull:
            newestRefusals.add(event)
            if let time { refusals.add(time) }
        case .pressure:
            if let time, let level = event.reason.flatMap(PressureLevel.init(rawValue:)) { levels.add(time, level) }
        case .device: addState(event, time)
        case .flagLost: flagsLost += 1
        case .protectionDenied: denials += 1
        case .dropped: dropped += 1
        default: break
        }
    }

    private mutating func addState(_ event: Event, _ time: Int64?) {
        guard let time, let state = event.reason.flatMap(LockState.init(rawValue:)) else { return }
        locks.add(time, state)
        if state == .locked { timesLocked += 1 }
        if state == .beforeFirstUnlock { reboots.add(time) }
    }

    private mutating func addPurge(_ event: Event, _ time: Int64?) {
        newestPurges.add(event)
        if let time { purges.add(time, event.bytes ?? .zero) }
        let directory = event.path.map(EventGroup.directory)
        let group = Group(directory: directory?.pathHash, reason: event.reason ?? "")
        if groups[group] != nil || groups.count < Self.mostGroups {
            groups[group, default: Purged(directory: directory, reason: group.reason)].add(event)
        } else {
            further[group.reason, default: Purged(directory: nil, reason: group.reason)].add(event)
        }
    }
}

extension ReportHistory.Purged {
    fileprivate mutating func add(_ event: Event) {
        if event.path != nil { files += 1 }
        bytes += event.bytes ?? .zero
        last = event.time
    }

    fileprivate mutating func add(_ other: ReportHistory.Purged) {
        files += other.files
        bytes += other.bytes
        last = max(last, other.last)
    }
}

extension ReportHistory {
    /// The groups with the most bytes, and the number and sum of all others. Groups beyond `mostGroups` count as one for each
    /// reason.
    var purged: (shown: [Purged], others: (count: Int, sum: Purged)?) {
        let sorted = groups.values.sorted { left, right in
            if left.bytes != right.bytes { return left.bytes > right.bytes }
            if left.files != right.files { return left.files > right.files }
            return (left.directory ?? "", left.reason) < (right.directory ?? "", right.reason)
        }
        let rest = Array(sorted.dropFirst(Self.mostGroupsShown)) + further.values
        guard !rest.isEmpty else { return (sorted, nil) }
        var sum = Purged(directory: nil, reason: "")
        for group in rest { sum.add(group) }
        return (Array(sorted.prefix(Self.mostGroupsShown)), (rest.count, sum))
    }

    /// The sums of the purged files, and of the purged space of the system and other apps.
    var purgedSums: (files: Purged, others: Purged) {
        var sums = (files: Purged(directory: nil, reason: ""), others: Purged(directory: nil, reason: ""))
        for group in [Array(groups.values), Array(further.values)].joined() {
            if group.reason == PurgeReason.others.rawValue { sums.others.add(group) } else { sums.files.add(group) }
        }
        return sums
    }

    /// The moments that a chart must include.
    var times: [Int64] {
        [purges.spans, refusals.spans, reboots.spans].joined().flatMap { [$0.first, $0.last] }
            + levels.changes.map(\.time) + locks.changes.map(\.time)
            + [first, last].compactMap { $0.flatMap { Instant(iso8601: $0)?.nanoseconds } }
    }
}
