import CSQLite
import PurgeModel
import PurgeSystem

// The history of names, with the oldest or the newest events first. An index finds the events of a name, so the events of other
// names cost no time.
extension JournalReader {
    /// A query for events.
    public struct Query: Hashable, Sendable {
        public enum Subject: Hashable, Sendable {
            case any
            /// Events of exactly this path.
            case at(String)
            /// Events with this path as `Event.to`, such as a rename to it.
            case to(String)
            /// Events of a type that name no path: they concern the whole container.
            case whole(EventType)
        }
        public var subject: Subject
        /// All types if empty. The database skips events of other types.
        public var types: Set<EventType>
        /// Limits the events to numbers between these two, which are excluded.
        public var after: Int64
        public var before: Int64
        /// The earliest simulated time of the events, in the form of `Event.time`.
        public var since: String?
        /// Whether the newest events come first.
        public var isNewestFirst: Bool
        public var limit: Int

        public init(
            _ subject: Subject, _ types: Set<EventType> = [], after: Int64 = 0, before: Int64 = .max,
            since: String? = nil, newestFirst: Bool = true, limit: Int = 64
        ) {
            (self.subject, self.types, self.after, self.before) = (subject, types, after, before)
            (self.since, isNewestFirst, self.limit) = (since, newestFirst, limit)
        }
    }

    public func events(_ query: Query) throws(StoreError) -> [Event] {
        guard query.limit > 0 else { return [] }
        return try withDatabase { (database) throws(DatabaseError) in
            let rows = try database.prepare("\(EventRow.selection) \(EventRow.condition(query))")
            try rows.bind(query.after, 1)
            // No valid event has the largest number, but an event in a damaged journal can have it.
            try rows.bind(query.before == .max ? .max : query.before - 1, 2)
            try rows.bind(Int64(query.limit), 3)
            if let text = query.subject.text { try rows.bind(text, 4) }
            if let since = query.since { try rows.bind(since, 5) }
            var events: [Event] = []
            while try rows.step() {
                let event = try EventRow.event(rows)
                // A damaged index may lead to wrong rows, or its pages may form a cycle.
                guard query.admits(event, after: events.last) else {
                    throw DatabaseError(code: SQLITE_CORRUPT, message: "its index does not match its events")
                }
                events.append(event)
            }
            return events
        } ?? []
    }

    /// Returns the paths that an event has as its path or, with `isTarget`, as its `to`. Most folders above a deep path have no
    /// event, so the caller need not ask about them one by one.
    public func having(events paths: [String], to isTarget: Bool) throws(StoreError) -> [String] {
        try withDatabase { (database) throws(DatabaseError) in
            let rows = try database.prepare(EventRow.existence(to: isTarget))
            var found: [String] = []
            for path in paths {
                try rows.bind(path, 1)
                if try rows.step() { found.append(path) }
                rows.reset()
            }
            return found
        } ?? []
    }

    /// Returns the distinct paths of events that come next after `text` in byte order or, with `backwards`, next before it.
    public func paths(
        near text: String, backwards: Bool, limit: Int
    ) throws(StoreError) -> [String] {
        try withDatabase { (database) throws(DatabaseError) in
            let rows = try database.prepare(EventRow.nextPath(backwards: backwards))
            var paths: [String] = []
            while paths.count < limit {
                try rows.bind(paths.last ?? text, 1)
                guard try rows.step(), let path = rows.text(0) else { break }
                guard !path.isPath(paths.last ?? text) else {
                    throw DatabaseError(code: SQLITE_CORRUPT, message: "its index does not match its events")
                }
                paths.append(path)
                rows.reset()
            }
            return paths
        } ?? []
    }
}

extension JournalReader.Query {
    fileprivate func admits(_ event: Event, after last: Event?) -> Bool {
        guard event.seq > after, event.seq < before, types.isEmpty || types.contains(event.type) else { return false }
        if let last, isNewestFirst ? event.seq >= last.seq : event.seq <= last.seq { return false }
        return switch subject {
        case .any: true
        case .at(let path): event.path == path
        case .to(let path): event.to == path
        case .whole(let type): event.type == type && event.path == nil
        }
    }
}

extension JournalReader.Query.Subject {
    fileprivate var text: String? {
        switch self {
        case .any: nil
        case .at(let path), .to(let path): path
        case .whole(let type): type.rawValue
        }
    }
}

extension EventRow {
    /// Returns the SQL condition. Its parameters are the two bounds of the number, the limit, the subject's text, and the time.
    static func condition(_ query: JournalReader.Query) -> String {
        let subject =
            switch query.subject {
            case .any: ""
            case .at: " AND path = ?4"
            case .to: " AND target = ?4"
            case .whole: " AND path IS NULL AND type = ?4"
            }
        let types = query.types.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return "WHERE seq > ?1 AND seq <= ?2\(subject)\(types.isEmpty ? "" : " AND type IN (\(types))")"
            + "\(query.since == nil ? "" : " AND time >= ?5") ORDER BY seq \(query.isNewestFirst ? "DESC" : "ASC") LIMIT ?3"
    }

    static func existence(to isTarget: Bool) -> String {
        "SELECT 1 FROM events WHERE \(isTarget ? "target" : "path") = ?1 LIMIT 1"
    }

    static func nextPath(backwards: Bool) -> String {
        "SELECT path FROM events WHERE path \(backwards ? "<" : ">") ?1 ORDER BY path \(backwards ? "DESC" : "ASC") LIMIT 1"
    }
}
