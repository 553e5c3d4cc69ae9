import PurgeModel
import PurgeStore

@testable import PurgeWhy

/// A journal backed by a list of events with consecutive numbers.
struct ListedEvents: NameEvents {
    private let all: [Event]

    init(_ events: [Event], from first: Int64 = 1) {
        all = events.enumerated().map { index, event in
            var event = event
            event.seq = first + Int64(index)
            if event.time.isEmpty { event.time = Self.time(event.seq) }
            if event.realTime == nil { event.realTime = event.time }
            return event
        }
    }

    /// Returns the time for an event that has none: one minute for each number.
    static func time(_ sequence: Int64) -> String {
        Instant(seconds: 1_790_000_000 + 60 * sequence, nanoseconds: 0).iso8601
    }

    func events(_ query: JournalReader.Query) -> [Event] {
        let found = all.filter { event in
            guard event.seq > query.after, event.seq < query.before else { return false }
            guard query.types.isEmpty || query.types.contains(event.type) else { return false }
            return switch query.subject {
            case .any: true
            case .at(let path): event.path == path
            case .to(let path): event.to == path
            case .whole(let type): event.type == type && event.path == nil
            }
        }
        return Array((query.isNewestFirst ? found.reversed() : found).prefix(query.limit))
    }

    func having(events paths: [String], to isTarget: Bool) -> [String] {
        paths.filter { path in all.contains { (isTarget ? $0.to : $0.path) == path } }
    }

    func paths(near text: String, backwards: Bool, limit: Int) -> [String] {
        let paths = Set(all.compactMap(\.path)).filter { path in
            let follows = text.utf8.lexicographicallyPrecedes(path.utf8)
            return path != text && follows != backwards
        }
        let sorted = paths.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return Array((backwards ? sorted.reversed() : sorted).prefix(limit))
    }
}
