import PurgeModel

/// The events of a run, summed up for its summary as they arrive. The size of the tally does not depend on the number of
/// events.
struct RunTally: Sendable {
    struct Purged: Sendable {
        let reason: String
        var bytes: ByteCount
    }

    private(set) var purgedFiles = 0
    /// The purged bytes by reason, in the order of first occurrence.
    private(set) var purged: [Purged] = []
    private(set) var refusals: Int64 = 0
    private(set) var hostRefusals = 0
    /// The first event of type `terminated`.
    private(set) var termination: Event?
    /// How many events of each type there were.
    private(set) var counts: [EventType: Int] = [:]
    /// The demands of `--fail-on`, with the events that they have matched.
    private(set) var demands: [EventDemand]

    init(demands: [EventDemand] = []) { self.demands = demands }

    var purgedBytes: ByteCount { purged.reduce(.zero) { $0 + $1.bytes } }

    /// The types of events of which only the number is needed. The shortest runs have no others, and preparing to decode an
    /// event takes longer than everything else at the end of such a run.
    static let plainTypes: [EventType] = [.mount, .app, .unmount]

    mutating func count(_ type: EventType) { counts[type, default: 0] += 1 }

    mutating func add(_ event: Event) {
        count(event.type)
        for index in demands.indices { demands[index].meet(event) }
        switch event.type {
        case .purge:
            if event.path != nil { purgedFiles += 1 }
            addPurged(event.bytes ?? .zero, reason: event.reason ?? "unknown")
        case .refused: refusals += 1
        case .hostFull: hostRefusals += 1
        case .terminated: termination = termination ?? event
        default: break
        }
    }

    private mutating func addPurged(_ bytes: ByteCount, reason: String) {
        if let index = purged.firstIndex(where: { $0.reason == reason }) {
            purged[index].bytes += bytes
        } else {
            purged.append(Purged(reason: reason, bytes: bytes))
        }
    }
}
