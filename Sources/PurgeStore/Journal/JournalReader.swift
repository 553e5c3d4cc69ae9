import CSQLite
import PurgeModel

/// Reads the events of a store's journal, even while a daemon writes to it; changes nothing.
/// Not to be shared between threads.
public final class JournalReader {
    /// Which events are wanted.
    public struct Filter: Hashable, Sendable {
        /// Only events with a higher sequence number.
        public var after: Int64 = 0
        /// Empty for all types.
        public var types: Set<EventType> = []
        /// At most this many, the oldest first.
        public var limit: Int?
        /// Only events whose simulated time (`Event.time`) is not before this one, in the same form.
        public var since: String?
        /// The same for the time of the host (`Event.realTime`). Events without it are left out.
        public var sinceReal: String?
        public init(
            after: Int64 = 0, types: Set<EventType> = [], limit: Int? = nil, since: String? = nil,
            sinceReal: String? = nil
        ) {
            self.after = after
            self.types = types
            self.limit = limit
            self.since = since
            self.sinceReal = sinceReal
        }
    }

    /// Events are fetched in pages, so that a slow reader never keeps old events from being deleted.
    private static let page = 1000

    /// nil if the store has no journal yet.
    private var database: Database?
    private let place: StoreDirectory

    /// Takes no lock. Throws if there is no store.
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

    /// In a store that cannot be written, a change that a killed writer left half done cannot be rolled back; a copy
    /// is read instead.
    private static func open(in place: StoreDirectory) throws(DatabaseError) -> Database? {
        do throws(DatabaseError) {
            return try JournalSchema.openForReading(place.databasePlace(of: JournalSchema.fileName))
        } catch {
            guard [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR].contains(error.code) else { throw error }
            return try JournalFiles(place).openAtRest()
        }
    }

    /// The number of the newest event; 0 if there is none.
    public func lastSequence() throws(StoreError) -> Int64 {
        try withDatabase { (database) throws(DatabaseError) in
            try database.number("SELECT max(seq) FROM events") ?? 0
        } ?? 0
    }

    /// In the order of their sequence numbers.
    public func events(_ filter: Filter = Filter()) throws(StoreError) -> [Event] {
        var events: [Event] = []
        try visit(filter) {
            events.append($0)
            return true
        }
        return events
    }

    /// In the order of their sequence numbers, as long as `body` returns true.
    public func visit(_ filter: Filter = Filter(), _ body: (Event) -> Bool) throws(StoreError) {
        var filter = filter
        while true {
            let wanted = min(filter.limit ?? .max, Self.page)
            let events = try page(filter, count: wanted)
            for event in events where !body(event) { return }
            guard let last = events.last, events.count == wanted else { return }
            filter.after = last.seq
            filter.limit = filter.limit.map { $0 - events.count }
        }
    }

    /// When each file was last used, by inode, as far as that has been written down.
    public func lastUses() throws(StoreError) -> [UInt64: Journal.LastUse] {
        try withDatabase { (database) throws(DatabaseError) in try LastUseRow.lastUses(from: database) } ?? [:]
    }

    private func page(_ filter: Filter, count: Int) throws(StoreError) -> [Event] {
        guard count > 0 else { return [] }
        return try withDatabase { (database) throws(DatabaseError) in
            try EventRow.events(filter, count: count, from: database)
        } ?? []
    }

    /// nil if there is no journal yet.
    func withDatabase<Result>(
        _ body: (Database) throws(DatabaseError) -> Result
    ) throws(StoreError) -> Result? {
        guard let database else { return nil }
        do throws(DatabaseError) {
            do throws(DatabaseError) {
                return try body(database)
            } catch {
                // Between two reads a writer was killed. Or it has just begun: to a connection that only reads, its rollback
                // journal looks the same, and another one waits for the lock that shows the difference.
                guard error.code == SQLITE_READONLY, let opened = try Self.open(in: place) else { throw error }
                self.database = opened
                return try body(opened)
            }
        } catch { throw error.error(path: place.pathOf(JournalSchema.fileName), store: place.path) }
    }
}

extension EventRow {
    fileprivate static func events(
        _ filter: JournalReader.Filter, count: Int, from database: Database
    ) throws(DatabaseError) -> [Event] {
        let types = filter.types.map(\.rawValue).sorted()
        var conditions = "seq > ?1"
        if !types.isEmpty {
            conditions += " AND type IN (\(types.indices.map { "?\($0 + 4)" }.joined(separator: ", ")))"
        }
        if filter.since != nil { conditions += " AND time >= ?2" }
        if filter.sinceReal != nil {
            guard try has("real_time", database) else { return [] }
            conditions += " AND real_time >= ?3"
        }
        let rows = try database.prepare(
            "\(try selection(from: database)) WHERE \(conditions) ORDER BY seq LIMIT \(count)")
        try rows.bind(filter.after, 1)
        if let since = filter.since { try rows.bind(since, 2) }
        if let since = filter.sinceReal { try rows.bind(since, 3) }
        for (index, type) in types.enumerated() { try rows.bind(type, Int32(index) + 4) }
        var events: [Event] = []
        while try rows.step() {
            let event = try event(rows)
            // Pages that lead back into themselves would never end.
            guard event.seq > events.last?.seq ?? filter.after else {
                throw DatabaseError(code: SQLITE_CORRUPT, message: "its events are not in order")
            }
            events.append(event)
        }
        return events
    }
}
