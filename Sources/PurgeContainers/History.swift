import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem

/// The past events of a container, from its store's journal.
package struct History {
    /// The number of events that are read at once.
    private static let page = 1000

    private let reader: JournalReader

    package init(store: String) throws(CommandFailure) {
        do throws(StoreError) {
            reader = try JournalReader(storePath: store)
        } catch { throw CommandFailure("cannot read the journal", error) }
    }

    /// Returns the number of the newest event; 0 if there are none.
    package func lastSequence() throws(CommandFailure) -> Int64 {
        do throws(StoreError) {
            return try reader.lastSequence()
        } catch { throw CommandFailure("cannot read the journal", error) }
    }

    /// Visits, in order, the events after `sequence` that `filter` accepts.
    package func visit(
        after sequence: Int64, _ filter: EventFilter, _ body: (Event) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        if let path = filter.onlyPath { return try visit(path, after: sequence, filter, body) }
        var failure: CommandFailure?
        do throws(StoreError) {
            let wanted = JournalReader.Filter(after: sequence, types: filter.types, since: filter.since)
            try reader.visit(wanted) { event in
                guard filter.accepts(event) else { return true }
                do throws(CommandFailure) { try body(event) } catch { failure = error }
                return failure == nil
            }
        } catch { throw CommandFailure("cannot read the journal", error) }
        if let failure { throw failure }
    }

    package func events(after sequence: Int64, _ filter: EventFilter = EventFilter()) throws(CommandFailure) -> [Event]
    {
        var events: [Event] = []
        try visit(after: sequence, filter) { events.append($0) }
        return events
    }

    /// Returns the sequence number just before the newest `count` events that `filter` accepts; 0 if there are fewer events. If
    /// `count` is 0, returns the number of the newest event. Reads from the end, so the time depends on the events after that
    /// number. With a filter for one path, it depends only on the events of that path.
    package func sequence(beforeNewest count: Int, _ filter: EventFilter) throws(CommandFailure) -> Int64 {
        guard count > 0 else { return try lastSequence() }
        var (before, left) = (Int64.max, count)
        do throws(StoreError) {
            while true {
                let events =
                    if let path = filter.onlyPath {
                        try page(of: path, before: before, isNewestFirst: true)
                    } else {
                        try reader.events(
                            .init(.any, filter.types, before: before, since: filter.since, limit: Self.page))
                    }
                for event in events where filter.accepts(event) {
                    left -= 1
                    if left == 0 { return event.seq - 1 }
                }
                guard let last = events.last, events.count == Self.page else { return 0 }
                before = last.seq
            }
        } catch { throw CommandFailure("cannot read the journal", error) }
    }

    /// Returns the newest `count` events that `filter` accepts, in order.
    package func newest(_ count: Int, _ filter: EventFilter) throws(CommandFailure) -> [Event] {
        try events(after: sequence(beforeNewest: count, filter), filter)
    }
}

// The events of one path, found by the indices of the journal.
extension History {
    private func visit(
        _ path: String, after sequence: Int64, _ filter: EventFilter, _ body: (Event) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var last = sequence
        while true {
            let events: [Event]
            do throws(StoreError) { events = try page(of: path, after: last) } catch {
                throw CommandFailure("cannot read the journal", error)
            }
            for event in events where filter.accepts(event) { try body(event) }
            guard let end = events.last, events.count == Self.page else { return }
            last = end.seq
        }
    }

    /// Returns a page of events of a path, including events whose `to` is that path.
    private func page(
        of path: String, after: Int64 = 0, before: Int64 = .max, isNewestFirst: Bool = false
    ) throws(StoreError) -> [Event] {
        func events(_ subject: JournalReader.Query.Subject) throws(StoreError) -> [Event] {
            try reader.events(
                .init(subject, after: after, before: before, newestFirst: isNewestFirst, limit: Self.page))
        }
        let from = try events(.at(path))
        let both = from + (try events(.to(path)).filter { $0.path.map { !$0.isPath(path) } ?? true })
        return Array(both.sorted { isNewestFirst ? $0.seq > $1.seq : $0.seq < $1.seq }.prefix(Self.page))
    }
}

/// The events to show.
package struct EventFilter {
    /// All events but the app's own name changes.
    package static let usual = EventFilter(types: Set(EventType.allCases).subtracting(EventType.ofApp))

    /// All types if empty.
    package var types: Set<EventType> = []
    /// A pattern of fnmatch(3) for the path, old or new; its `*` matches a slash too.
    package var glob: String?
    /// The earliest time of the events, in the form of `Event.time`.
    package var since: String?

    package init(types: Set<EventType> = [], glob: String? = nil, since: String? = nil) {
        (self.types, self.glob, self.since) = (types, glob, since)
    }

    /// The path, if the filter accepts only events of one path; otherwise nil.
    var onlyPath: String? { glob.flatMap(Glob.onlyMatch) }

    /// Whether the filter accepts the app's own name changes, which only the journal has.
    package var acceptsApp: Bool { types.isEmpty || !types.isDisjoint(with: EventType.ofApp) }

    package func accepts(_ event: Event) -> Bool {
        guard types.isEmpty || types.contains(event.type) else { return false }
        if let since, event.time < since { return false }
        guard let glob else { return true }
        return [event.path, event.to].contains { path in path.map { Glob(glob).matches($0.utf8) } ?? false }
    }
}
