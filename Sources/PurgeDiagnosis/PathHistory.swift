import PurgeModel

/// The events at one path that matter for a diagnosis.
struct PathHistory: Hashable, Sendable {
    private(set) var purges: Int32 = 0
    private(set) var refusals: Int32 = 0
    private(set) var denials: Int32 = 0
    private(set) var lastPurge: Instant?
    private(set) var lastRefusal: Instant?
    private(set) var lastDenial: Instant?
    /// The state of the device at the last denial; nil if the journal does not have it.
    private(set) var deniedState: LockState?
    /// True if the last purge left a tombstone.
    private(set) var wasEmptied = false
    /// True if a replacement has lost isExcludedFromBackup.
    private(set) var lostExclusion = false
    /// The value of isPurgeable that a replacement has lost.
    private(set) var lostMark: PurgeMark?

    /// How often the app was suspended while it held a lock on the file, counting each lock.
    private(set) var locks: Int32 = 0
    /// The last such lock in words.
    private(set) var lastLock: String?

    init() {}

    /// Creates the history of a path with a single purge and no other event.
    init(purgedAt time: Instant) { (purges, lastPurge) = (1, time) }

    /// Returns the time of the event if a single time can represent it: a purge without a tombstone.
    static func onlyPurge(_ event: Event) -> Instant? {
        event.type == .purge && event.tombstone != true ? Instant(iso8601: event.time) : nil
    }

    /// The types of events that `note` uses.
    static let types: Set<EventType> = [.purge, .refused, .hostFull, .protectionDenied, .flagLost, .lockHeld]

    /// Adds an event; events must arrive in order.
    mutating func note(_ event: Event) {
        let time = Instant(iso8601: event.time)
        switch event.type {
        case .purge:
            (purges, lastPurge, wasEmptied) = (purges &+ 1, time, event.tombstone == true)
        case .refused, .hostFull: (refusals, lastRefusal) = (refusals &+ 1, time)
        case .protectionDenied:
            (denials, lastDenial) = (denials &+ 1, time)
            // The reason reads like `open complete locked`.
            deniedState = event.reason?.split(separator: " ").last.flatMap { LockState(rawValue: String($0)) }
        case .lockHeld: (locks, lastLock) = (locks &+ 1, event.reason)
        case .flagLost: noteLoss(event.reason ?? "")
        default: break
        }
    }

    /// Parses a reason of the form `NAME=VALUE`.
    private mutating func noteLoss(_ reason: String) {
        let parts = reason.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let attribute = StorageAttribute(rawValue: String(parts[0])) else { return }
        if attribute == .isExcludedFromBackup { lostExclusion = true }
        if attribute == .isPurgeable { lostMark = PurgeMark(text: parts[1]) }
    }
}
