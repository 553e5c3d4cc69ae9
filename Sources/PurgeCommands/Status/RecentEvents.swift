import PurgeCommandLine
import PurgeContainers
import PurgeModel

/// The newest events of a container, read repeatedly from its journal. Normally, each read fetches only new events.
struct RecentEvents: Sendable {
    /// How many events are kept.
    private static let most = WatchText.mostEvents
    /// With more new events than this, reading them from the end is quicker.
    private static let burst: Int64 = 10_000

    private var store = ""
    /// Events up to this number have been read.
    private var last: Int64 = 0
    /// The events, oldest first.
    private(set) var events: [Event] = []

    mutating func update(from store: String) throws(CommandFailure) {
        let history = try History(store: store)
        let end = try history.lastSequence()
        // Reading starts over if the store or its journal is another one, and after a burst of events.
        if store != self.store || end < last || end - last > Self.burst {
            events = try history.newest(Self.most, .usual)
        } else if end > last {
            events = (events + (try history.events(after: last, .usual))).suffix(Self.most)
        }
        self.store = store
        last = max(end, events.last?.seq ?? 0)
    }
}
