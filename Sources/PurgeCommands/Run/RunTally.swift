import PurgeModel

/// What the summary of a run says about its events, added up as they arrive: its size does not depend on their number.
struct RunTally: Sendable {
    struct Purged: Sendable {
        let reason: String
        var bytes: ByteCount
    }

    private(set) var purgedFiles = 0
    /// By reason, in the order of purging.
    private(set) var purged: [Purged] = []
    private(set) var refusals: Int64 = 0
    private(set) var hostRefusals = 0
    /// How many events of each type there were.
    private(set) var counts: [EventType: Int] = [:]
    /// What `--fail-on` names, and the events that it has met.
    private(set) var demands: [EventDemand]

    init(demands: [EventDemand] = []) { self.demands = demands }

    var purgedBytes: ByteCount { purged.reduce(.zero) { $0 + $1.bytes } }

    /// Of these only the number counts. There are no others in the shortest of runs, and to prepare the decoding of an
    /// event takes longer than all the rest of its end.
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
