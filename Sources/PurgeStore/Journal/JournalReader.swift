import CSQLite
import PurgeModel

/// Reads a store's journal, even while a daemon writes to it. Changes nothing, except that SQLite rolls back a change that a
/// killed writer left half done. Threads must not share a reader.
public final class JournalReader {
    /// A filter for events.
    public struct Filter: Hashable, Sendable {
        /// Limits the events to higher sequence numbers.
        public var after: Int64 = 0
        /// All types if empty.
        public var types: Set<EventType> = []
        /// The maximum number of events; the oldest are returned.
        public var limit: Int?
        /// The earliest simulated time of the events, in the form of `Event.time`.
        public var since: String?
        public init(after: Int64 = 0, types: Set<EventType> = [], limit: Int? = nil, since: String? = nil) {
            (self.after, self.types, self.limit, self.since) = (after, types, limit, since)
        }
    }

    /// The number of events fetched at once, limited so that a slow reader never keeps old events from being deleted.
    private static let page = 1000

    /// nil if the store has no journal yet.
    private var database: Database?
    private let place: StoreDirectory

    /// Opens the journal without taking the store's lock. Throws if there is no store.
    public init(storePath: String) throws(StoreError) {
        place = try StoreDirectory.open(storePath)
        let names = try place.names()
        try place.refuseForeign(names, creating: false)
        guard names.contains(JournalSchema.fileName) else {
            database = nil
            return
        }
        do {
            try JournalFiles(place).check()
            database = try Self.open(in: place)
        } catch { throw error.error(path: place.pathOf(JournalSchema.fileName), store: storePath) }
    }

    /// Opens the database. If the store cannot be written, a change that a killed writer left half done cannot be rolled back
    /// there, so this opens a copy.
    private static func open(in place: StoreDirectory) throws(DatabaseError) -> Database? {
        do throws(DatabaseError) {
            return try JournalSchema.openForReading(place.databasePlace(of: JournalSchema.fileName))
        } catch {
            guard [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR].contains(error.code) else { throw error }
            return try JournalFiles(place).openAtRest()
        }
    }

    /// Returns the number of the newest event; 0 if there is none.
    public func lastSequence() throws(StoreError) -> Int64 {
        try withDatabase { (database) throws(DatabaseError) in
            try database.number("SELECT max(seq) FROM events") ?? 0
        } ?? 0
    }

    /// Returns the events in the order of their sequence numbers.
    public func events(_ filter: Filter = Filter()) throws(StoreError) -> [Event] {
        var events: [Event] = []
        try visit(filter) {
            events.append($0)
            return true
        }
        return events
    }

    /// Passes events to `body` in the order of their sequence numbers, until it returns false.
    public func visit(_ filter: Filter = Filter(), _ body: (Event) -> Bool) throws(StoreError) {
        var filter = filter
        while true {
            let wanted = min(filter.limit ?? .max, Self.page)
            let events = try events(
                Query(
                    .any, filter.types, after: filter.after, since: filter.since, newestFirst: false, limit: wanted))
            for event in events where !body(event) { return }
            guard let last = events.last, events.count == wanted else { return }
            filter.after = last.seq
            filter.limit = filter.limit.map { $0 - events.count }
        }
    }

    /// Returns the last use of each file in the journal, by inode.
    public func lastUses() throws(StoreError) -> [UInt64: Journal.LastUse] {
        try withDatabase { (database) throws(DatabaseError) in try LastUseRow.lastUses(from: database) } ?? [:]
    }

    /// Returns the samples of storage use, oldest first.
    public func samples() throws(StoreError) -> [StorageSample] {
        try withDatabase { (database) throws(DatabaseError) in try SampleRow.samples(from: database) } ?? []
    }

    /// Runs `body` on the database; returns nil if there is no journal yet.
    func withDatabase<Result>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result? {
        guard let database else { return nil }
        do throws(DatabaseError) {
            do throws(DatabaseError) {
                return try body(database)
            } catch {
                // Either a writer was killed between two reads, or one has just begun. A read-only connection finds the same
                // rollback journal in both cases. A new connection waits for a lock, which tells the cases apart.
                guard error.code == SQLITE_READONLY, let opened = try Self.open(in: place) else { throw error }
                self.database = opened
                return try body(opened)
            }
        } catch { throw error.error(path: place.pathOf(JournalSchema.fileName), store: place.path) }
    }
}
