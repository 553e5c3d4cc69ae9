import PurgeModel
import PurgeStore
import PurgeSystem

/// The past events of a container, from its store's journal.
struct History {
    private let reader: JournalReader

    init(store: String) throws(CommandFailure) {
        do throws(StoreError) {
            reader = try JournalReader(storePath: store)
        } catch { throw CommandFailure("cannot read the journal", error) }
    }

    /// 0 when there are no events.
    func lastSequence() throws(CommandFailure) -> Int64 {
        do throws(StoreError) {
            return try reader.lastSequence()
        } catch { throw CommandFailure("cannot read the journal", error) }
    }

    /// Visits, in order, the events after `sequence` that `filter` accepts.
    func visit(
        after sequence: Int64, _ filter: EventFilter, _ body: (Event) throws(CommandFailure) -> Void
    ) throws(CommandFailure) {
        var failure: CommandFailure?
        do throws(StoreError) {
            try reader.visit(JournalReader.Filter(after: sequence, types: filter.types)) { event in
                guard filter.accepts(event) else { return true }
                do throws(CommandFailure) { try body(event) } catch { failure = error }
                return failure == nil
            }
        } catch { throw CommandFailure("cannot read the journal", error) }
        if let failure { throw failure }
    }

    func events(after sequence: Int64, _ filter: EventFilter = EventFilter()) throws(CommandFailure) -> [Event] {
        var events: [Event] = []
        try visit(after: sequence, filter) { events.append($0) }
        return events
    }
}

/// Which events to show.
struct EventFilter {
    /// Empty: all.
    var types: Set<EventType> = []
    /// A pattern of fnmatch(3) for the path; its `*` matches a slash too.
    var glob: String?

    func accepts(_ event: Event) -> Bool {
        guard types.isEmpty || types.contains(event.type) else { return false }
        guard let glob else { return true }
        return event.path.map { Glob(glob).matches($0.utf8) } ?? false
    }
}
