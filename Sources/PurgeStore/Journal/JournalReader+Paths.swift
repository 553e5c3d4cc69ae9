import CSQLite
import PurgeModel

// What has happened to a path, the newest event first. By an index: it takes as long as there are such events, however
// many others there are. (A journal of an earlier format has no index until it is next mounted.)
extension JournalReader {
    /// Events of exactly this path, numbered below `before`.
    public func events(
        at path: String, types: Set<EventType> = [], before: Int64 = .max, limit: Int
    ) throws(StoreError) -> [Event] {
        try newest(types, before: before, limit: limit, whose: ("path", path)) { $0.path }
    }

    /// Events that have brought something to this path (`Event.to`).
    public func events(
        to path: String, types: Set<EventType> = [], before: Int64 = .max, limit: Int
    ) throws(StoreError) -> [Event] {
        try newest(types, before: before, limit: limit, whose: ("target", path)) { $0.to }
    }

    /// Any events; with `since` only those whose simulated time (`Event.time`) is not before that, in the same form.
    public func events(
        types: Set<EventType> = [], since: String? = nil, before: Int64 = .max, limit: Int
    ) throws(StoreError) -> [Event] {
        try newest(types, since: since, before: before, limit: limit, whose: nil) { _ in nil }
    }

    /// Oldest first; empty in a journal of an earlier format.
    public func samples() throws(StoreError) -> [StorageSample] {
        try withDatabase { (database) throws(DatabaseError) in
            try JournalSchema.hasSamples(database) ? try SampleRow.samples(from: database) : []
        } ?? []
    }

    private func newest(
        _ types: Set<EventType>, since: String? = nil, before: Int64, limit: Int,
        whose value: (column: String, text: String)?, _ read: (Event) -> String?
    ) throws(StoreError) -> [Event] {
        guard limit > 0 else { return [] }
        return try withDatabase { (database) throws(DatabaseError) in
            if let value, try !EventRow.has(value.column, database) { return [] }
            let sql = EventRow.newest(types.count, of: value?.column, isSince: since != nil)
            let rows = try database.prepare("\(EventRow.selection(from: database)) \(sql)")
            try rows.bind(before, 1)
            try rows.bind(Int64(limit), 2)
            if let value { try rows.bind(value.text, 3) }
            for (index, type) in types.map(\.rawValue).sorted().enumerated() {
                try rows.bind(type, Int32(index) + 4)
            }
            if let since { try rows.bind(since, Int32(types.count) + 4) }
            var events: [Event] = []
            while try rows.step() {
                let event = try EventRow.event(rows)
                // The entries of an index may lead elsewhere, and its pages back into themselves.
                guard event.seq < events.last?.seq ?? before, value == nil || read(event) == value?.text else {
                    throw DatabaseError(code: SQLITE_CORRUPT, message: "its index does not fit its events")
                }
                events.append(event)
            }
            return events
        } ?? []
    }
}

extension EventRow {
    /// The parameters are the number before which events are wanted, how many, the value of `column`, the types, and the time.
    static func newest(_ types: Int, of column: String?, isSince: Bool = false) -> String {
        var sql = "WHERE seq < ?1"
        if let column { sql += " AND \(column) = ?3" }
        if types > 0 { sql += " AND type IN (\((0..<types).map { "?\($0 + 4)" }.joined(separator: ", ")))" }
        if isSince { sql += " AND time >= ?\(types + 4)" }
        return sql + " ORDER BY seq DESC LIMIT ?2"
    }

    /// Whether the table of events has this column, which is one of a later format.
    static func has(_ column: String, _ database: Database) throws(DatabaseError) -> Bool {
        try database.number("SELECT count(*) FROM pragma_table_info('events') WHERE name = '\(column)'") == 1
    }
}
