import PurgeCommandLine
import PurgeContainers
import PurgeModel

/// The newest events of a container, read repeatedly from its journal. Normally, each read fetches only new events.
struct RecentEvents: Sendable {
    /// The number of events that are read from before the watch began.
    private static let most = 10_000
    /// With more new events than this, reading them from the end is quicker.
    private static let burst: Int64 = 10_000

    private var store = ""
    /// Events up to this number have been read.
    private var last: Int64 = 0
    private(set) var events = EventGroups()
    /// The number of the last event in `events`.
    private var newest: Int64 = 0

    mutating func update(from store: String) throws(CommandFailure) {
        let history = try History(store: store)
        let end = try history.lastSequence()
        // Reading starts over if the store or its journal is another one, and after a burst of events.
        if store != self.store || end < last || end - last > Self.burst {
            (events, newest) = (EventGroups(), 0)
            add(try history.newest(Self.most, .usual))
        } else if end > last {
            add(try history.events(after: last, .usual))
        }
        self.store = store
        last = max(end, newest)
    }

    private mutating func add(_ new: [Event]) {
        for event in new {
            events.add(event)
            newest = event.seq
        }
    }
}
