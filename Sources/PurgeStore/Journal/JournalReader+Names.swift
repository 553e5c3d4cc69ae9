import CSQLite
import PurgeModel
import PurgeSystem

// What has happened to a name, in both directions of time. Each question is answered by an index: it takes as long as
// its answer is.
extension JournalReader {
    /// Which events are wanted.
    public struct NameQuery: Hashable, Sendable {
        public enum Subject: Hashable, Sendable {
            /// Events of exactly this path.
            case at(String)
            /// Events that have brought something to this path (`Event.to`).
            case to(String)
            /// Events of a type that name no path: they concern the whole container.
            case whole(EventType)
        }
        public var subject: Subject
        /// All types if it is empty. Events of other types are skipped by the database.
        public var types: Set<EventType> = []
        /// Only events with a number between these.
        public var after: Int64
        public var before: Int64
        /// Otherwise the oldest come first.
        public var isNewestFirst: Bool
        public var limit: Int

        public init(
            _ subject: Subject, after: Int64 = 0, before: Int64 = .max, newestFirst: Bool = true, limit: Int = 64
        ) {
            (self.subject, self.after, self.before) = (subject, after, before)
            (isNewestFirst, self.limit) = (newestFirst, limit)
        }
    }

    /// In a journal of an earlier format, which has no index, it takes longer.
    public func events(_ query: NameQuery) throws(StoreError) -> [Event] {
        guard query.limit > 0 else { return [] }
        return try withDatabase { (database) throws(DatabaseError) in
            if case .to = query.subject, try !EventRow.has("target", database) { return [] }
            let rows = try database.prepare("\(EventRow.selection(from: database)) \(EventRow.condition(query))")
            try rows.bind(query.after, 1)
            try rows.bind(query.before, 2)
            try rows.bind(Int64(query.limit), 3)
            try rows.bind(query.subject.text, 4)
            var events: [Event] = []
            while try rows.step() {
                let event = try EventRow.event(rows)
                // The entries of an index may lead elsewhere, and its pages back into themselves.
                guard query.admits(event, after: events.last) else {
                    throw DatabaseError(code: SQLITE_CORRUPT, message: "its index does not fit its events")
                }
                events.append(event)
            }
            return events
        } ?? []
    }

    /// Those of some paths that have events, or to which events have brought something. Of a deep path, most folders have none.
    public func having(events paths: [String], to isTarget: Bool) throws(StoreError) -> [String] {
        try withDatabase { (database) throws(DatabaseError) in
            if isTarget, try !EventRow.has("target", database) { return [] }
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

    /// The paths with events that come right after a text in the order of their bytes (or, with `backwards`, right before it),
    /// each once.
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
                    throw DatabaseError(code: SQLITE_CORRUPT, message: "its index does not fit its events")
                }
                paths.append(path)
                rows.reset()
            }
            return paths
        } ?? []
    }
}

extension JournalReader.NameQuery {
    fileprivate func admits(_ event: Event, after last: Event?) -> Bool {
        guard event.seq > after, event.seq < before, types.isEmpty || types.contains(event.type) else { return false }
        if let last, isNewestFirst ? event.seq >= last.seq : event.seq <= last.seq { return false }
        return switch subject {
        case .at(let path): event.path == path
        case .to(let path): event.to == path
        case .whole(let type): event.type == type && event.path == nil
        }
    }
}

extension JournalReader.NameQuery.Subject {
    fileprivate var text: String {
        switch self {
        case .at(let path), .to(let path): path
        case .whole(let type): type.rawValue
        }
    }
}

extension EventRow {
    /// The parameters are the numbers between which events are wanted, how many, and the text of the subject.
    static func condition(_ query: JournalReader.NameQuery) -> String {
        let subject =
            switch query.subject {
            case .at: "path = ?4"
            case .to: "target = ?4"
            case .whole: "path IS NULL AND type = ?4"
            }
        let types = query.types.map { "'\($0.rawValue)'" }.sorted().joined(separator: ", ")
        return
            "WHERE \(subject)\(types.isEmpty ? "" : " AND type IN (\(types))") AND seq > ?1 AND seq < ?2 ORDER BY seq \(query.isNewestFirst ? "DESC" : "ASC") LIMIT ?3"
    }

    static func existence(to isTarget: Bool) -> String {
        "SELECT 1 FROM events WHERE \(isTarget ? "target" : "path") = ?1 LIMIT 1"
    }

    static func nextPath(backwards: Bool) -> String {
        "SELECT path FROM events WHERE path \(backwards ? "<" : ">") ?1 ORDER BY path \(backwards ? "DESC" : "ASC") LIMIT 1"
    }
}
