import CSQLite
import PurgeModel
import Synchronization

/// STORE/journal.sqlite: the events of a store's whole life, and when each file was last used.
/// For a thread in the background; a call may wait for the disk.
public final class Journal: Sendable {
    /// Events beyond this many are dropped, the oldest first.
    public static let capacity: Int64 = 1_000_000

    private struct State {
        var database: Database?
        var lastSequence: Int64
    }
    private let state: Mutex<State>
    private let path: String
    private let storePath: String
    private let capacity: Int64

    private init(_ state: sending State, store: Store, capacity: Int64) {
        self.state = Mutex(state)
        path = store.place.pathOf(JournalSchema.fileName)
        storePath = store.path
        self.capacity = capacity
    }

    /// Makes the journal if there is none. A damaged one is an error, and left as it is.
    public static func open(in store: Store) throws(StoreError) -> Journal { try open(in: store, capacity: capacity) }

    static func open(in store: Store, capacity: Int64) throws(StoreError) -> Journal {
        do {
            let database = try JournalSchema.openForWriting(store.place.absolutePathOf(JournalSchema.fileName))
            let last = try database.number("SELECT max(seq) FROM events") ?? 0
            return Journal(State(database: database, lastSequence: last), store: store, capacity: capacity)
        } catch { throw error.error(path: store.place.pathOf(JournalSchema.fileName), store: store.path) }
    }

    deinit { state.withLock { Self.close(&$0) } }

    /// Of the newest event; 0 when there is none.
    public var lastSequence: Int64 { state.withLock { $0.lastSequence } }

    /// Adds events, whose `seq` the caller has set and which rise; all or none.
    public func append(_ events: [Event]) throws(StoreError) {
        guard let last = events.last?.seq else { return }
        try withState { (state) throws(DatabaseError) in
            guard let database = state.database else { throw .closed }
            let before = state.lastSequence
            try database.transaction { () throws(DatabaseError) in
                let insertion = try database.prepare(EventRow.insertion())
                for event in events { try EventRow.insert(event, with: insertion) }
                try dropOldest(of: database, before: before, last: last)
            }
            state.lastSequence = max(before, last)
        }
    }

    /// Writes everything into the one file and closes it; what comes after throws.
    public func close() { state.withLock { Self.close(&$0) } }

    func withDatabase<Result: Sendable>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result {
        try withState { (state) throws(DatabaseError) in
            guard let database = state.database else { throw .closed }
            return try body(database)
        }
    }

    private func withState<Result: Sendable>(
        _ body: (inout State) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result {
        do {
            return try state.withLock { (state) throws(DatabaseError) in try body(&state) }
        } catch { throw error.error(path: path, store: storePath) }
    }

    /// Rarely: only when a hundredth of the capacity has come in since the last time.
    private func dropOldest(of database: Database, before: Int64, last: Int64) throws(DatabaseError) {
        let step = max(1, capacity / 100)
        guard before / step != last / step else { return }
        let deletion = try database.prepare("DELETE FROM events WHERE seq <= ?")
        try deletion.bind(last - capacity, 1)
        try deletion.run()
    }

    private static func close(_ state: inout State) {
        guard let database = state.database else { return }
        state.database = nil
        do {
            try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        } catch {
            // Nothing is lost: the events are safe in the -wal file, which the next opening takes up.
        }
    }
}
