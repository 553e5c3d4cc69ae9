import PurgeModel
import PurgeStore

/// How what had a name came to its end, or left it.
struct NameEnding {
    var event: Event
    /// The folder above to which it happened, if it did not happen to the name itself.
    var above: String?

    /// The whole container came to an end.
    var isOfAll: Bool { event.path == nil }

    /// Where what was at `path` has gone; nil if it was not moved.
    func destination(of path: String) -> String? {
        guard event.type == .renamed, let to = event.to else { return nil }
        return to + path.rest(after: above ?? path)
    }
}

/// A rename of a file, or of a folder that it was in.
struct NameMove: Encodable {
    var from: String
    var to: String
    /// The folder that was renamed, if it was not the file itself.
    var folder: String?
    var event: Event
}

/// What became of what a name stood for.
enum NameFate {
    case ended(NameEnding, at: String, [NameMove])
    /// It was moved, and is there.
    case there(String, [NameMove])
    /// It was moved, and no event says why it is not there.
    case lost(String, [NameMove])
    case unknown
}

/// Follows what had a name through the journal. Neither the number of events of the journal nor that of one name
/// matters: of each name, only the nearest are looked at.
struct NameHistory {
    let journal: any NameEvents
    /// Whether there is something at a path of the container.
    let exists: (String) -> Bool

    private typealias Query = JournalReader.NameQuery
    private static let page = 64
    /// So many events of a name are looked at on the way to its next, or last, end.
    private static let most = 1024
    private static let mostMoves = 64
    private static let mostLives = 32

    /// Of the latest life of a name that nothing has any more.
    func fate(of path: String) throws(CommandFailure) -> NameFate {
        var before = Int64.max
        var likely: NameFate?
        for _ in 0..<Self.mostLives {
            guard let ending = try lastEnding(of: path, before: before), likely == nil || !ending.isOfAll else { break }
            let fate = try follow(path, from: ending)
            guard ending.above != nil, !isSure(fate) else { return fate }
            // Something has happened to a folder above, and nothing shows that the file was still in it.
            likely = likely ?? fate
            before = ending.event.seq
        }
        return likely ?? .unknown
    }

    /// Only empty folders are removed, so a file was gone when its folder was.
    private func isSure(_ fate: NameFate) -> Bool {
        switch fate {
        case .ended(let ending, _, _): ending.above == nil
        case .there: true
        case .lost, .unknown: false
        }
    }

    private func follow(_ path: String, from first: NameEnding) throws(CommandFailure) -> NameFate {
        var (place, ending, moves) = (path, first, [NameMove]())
        while moves.count < Self.mostMoves, let to = ending.destination(of: place) {
            moves.append(NameMove(from: place, to: to, folder: ending.above, event: ending.event))
            place = to
            guard let next = try nextEnding(of: place, after: ending.event) else {
                return exists(place) ? .there(place, moves) : .lost(place, moves)
            }
            ending = next
        }
        return .ended(ending, at: place, moves)
    }

    /// How what was at a path before a moment had come there, the newest move first.
    func origins(of path: String, before: Int64) throws(CommandFailure) -> [NameMove] {
        var (place, before, moves) = (path, before, [NameMove]())
        while moves.count < 8, let move = try arrival(at: place, before: before) {
            // In an exchange, the other one went the other way.
            if let last = moves.last, Self.areOneStep(last.event, move.event) { break }
            moves.append(move)
            (place, before) = (move.from, move.event.seq)
        }
        return moves
    }

    private func arrival(at path: String, before: Int64) throws(CommandFailure) -> NameMove? {
        var found: NameMove?
        for place in [path] + (try journal.having(events: path.foldersAbove, to: true)) {
            let events = try journal.events(Query(.to(place), before: before, limit: Self.page))
            guard let event = events.first(where: { $0.type == .renamed }), let from = event.path,
                event.seq > found?.event.seq ?? 0
            else { continue }
            let rest = path.rest(after: place)
            found = NameMove(from: from + rest, to: path, folder: rest.isEmpty ? nil : from, event: event)
        }
        guard let found, let end = try lastEnding(of: path, before: before) else { return found }
        return end.event.seq < found.event.seq || Self.areOneStep(found.event, end.event) ? found : nil
    }
}

extension NameHistory {
    /// The newest end before a moment.
    func lastEnding(of path: String, before: Int64) throws(CommandFailure) -> NameEnding? {
        try ending(of: path, Query(.at(path), before: before)) { $0.seq > $1.seq }
    }

    /// The first end after something came to a path by a rename.
    private func nextEnding(of path: String, after move: Event) throws(CommandFailure) -> NameEnding? {
        try ending(of: path, Query(.at(path), after: move.seq, newestFirst: false), not: move) { $0.seq < $1.seq }
    }

    private func ending(
        of path: String, _ range: JournalReader.NameQuery, not move: Event? = nil, _ isNearer: (Event, Event) -> Bool
    ) throws(CommandFailure) -> NameEnding? {
        var nearest: NameEnding?
        func offer(_ event: Event?, above: String?) {
            guard let event, nearest.map({ isNearer(event, $0.event) }) ?? true else { return }
            nearest = NameEnding(event: event, above: above)
        }
        offer(
            try first(.at(path), range) { event in
                event.endsName && !(move.map { Self.areOneStep($0, event) } ?? false)
            }, above: nil)
        for folder in try journal.having(events: path.foldersAbove, to: false) {
            offer(try first(.at(folder), range) { EventType.ofApp.contains($0.type) }, above: folder)
        }
        offer(try first(.whole(.app), range) { $0.reason == AppCommand.delete.rawValue }, above: nil)
        offer(try first(.whole(.restore), range) { _ in true }, above: nil)
        return nearest
    }

    /// The nearest event of a subject that is wanted.
    private func first(
        _ subject: JournalReader.NameQuery.Subject, _ range: JournalReader.NameQuery, _ isWanted: (Event) -> Bool
    ) throws(CommandFailure) -> Event? {
        var query = range
        (query.subject, query.limit) = (subject, Self.page)
        for _ in 0..<(Self.most / Self.page) {
            let events = try journal.events(query)
            if let event = events.first(where: isWanted) { return event }
            guard let last = events.last, events.count == query.limit else { return nil }
            if query.isNewestFirst { query.before = last.seq } else { query.after = last.seq }
        }
        return nil
    }

    /// A rename over a file has an event for that file, and an exchange has one for each of its names.
    static func areOneStep(_ move: Event, _ other: Event) -> Bool {
        guard other.path == move.to, other.to == move.path, other.pid == move.pid else { return false }
        switch other.type {
        case .replaced: return (move.seq - other.seq).magnitude <= 2
        case .renamed: return (move.seq - other.seq).magnitude == 1 && other.time == move.time
        default: return false
        }
    }
}

extension Event {
    /// Whether what had the name `path` does not have it any more.
    var endsName: Bool { type.isOfApp || type == .purge && tombstone != true }
}

extension String {
    /// The folders above a path of a container, the nearest first.
    var foldersAbove: [String] {
        let names = utf8.split(separator: UInt8(ascii: "/"))
        return (0..<max(0, names.count - 1)).reversed().map { last in
            String(Substring(utf8[..<names[last].endIndex]))
        }
    }

    /// The bytes after those of `beginning`, which it begins with.
    func rest(after beginning: String) -> String { String(Substring(utf8.dropFirst(beginning.utf8.count))) }
}
