import PurgeModel

/// What the journal says has happened to the files at one path, as far as a diagnosis asks.
struct PathHistory: Hashable, Sendable {
    private(set) var purges: Int32 = 0
    private(set) var refusals: Int32 = 0
    private(set) var denials: Int32 = 0
    private(set) var lastPurge: Instant?
    private(set) var lastRefusal: Instant?
    private(set) var lastDenial: Instant?
    /// The state of the device when it was last kept closed; nil where the journal does not say.
    private(set) var deniedState: LockState?
    /// Whether the last purge has emptied it and left its name.
    private(set) var wasEmptied = false
    /// Whether a replacement has lost isExcludedFromBackup.
    private(set) var lostExclusion = false
    /// The value of isPurgeable that a replacement has lost.
    private(set) var lostMark: PurgeMark?

    init() {}

    /// Of a path whose files were purged once, and nothing else.
    init(purgedAt time: Instant) { (purges, lastPurge) = (1, time) }

    /// When that is all that an event tells.
    static func onlyPurge(_ event: Event) -> Instant? {
        event.type == .purge && event.tombstone != true ? Instant(iso8601: event.time) : nil
    }

    /// The types of events that `note` uses.
    static let types: Set<EventType> = [.purge, .refused, .hostFull, .protectionDenied, .flagLost]

    /// Events come in their order.
    mutating func note(_ event: Event) {
        let time = Instant(iso8601: event.time)
        switch event.type {
        case .purge:
            (purges, lastPurge, wasEmptied) = (purges &+ 1, time, event.tombstone == true)
        case .refused, .hostFull: (refusals, lastRefusal) = (refusals &+ 1, time)
        case .protectionDenied:
            (denials, lastDenial) = (denials &+ 1, time)
            // `open complete locked`
            deniedState = event.reason?.split(separator: " ").last.flatMap { LockState(rawValue: String($0)) }
        case .flagLost: noteLoss(event.reason ?? "")
        default: break
        }
    }

    /// `NAME=VALUE`.
    private mutating func noteLoss(_ reason: String) {
        let parts = reason.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let attribute = StorageAttribute(rawValue: String(parts[0])) else { return }
        if attribute == .isExcludedFromBackup { lostExclusion = true }
        if attribute == .isPurgeable { lostMark = PurgeMark(text: parts[1]) }
    }
}
