import PurgeCommandLine
import PurgeModel
import PurgeStore

/// The event that ended a file's life at a name: a removal, a purge, a replacement, or a move away from the name.
struct NameEnding {
    var event: Event
    /// The ancestor folder that the event happened to, unless it happened to the name itself.
    var above: String?

    /// True if the event names no path, because it ended the whole container or emptied `tmp`.
    var isOfAll: Bool { event.path == nil }

    /// Returns where the move took the file at `path`; nil if the event is not a move.
    func destination(of path: String) -> String? {
        guard event.type == .renamed, let to = event.to else { return nil }
        return to + path.rest(after: above ?? path)
    }
}

/// A rename of a file or of one of its ancestor folders.
struct NameMove: Encodable {
    var from: String
    var to: String
    /// The renamed folder; nil if the file itself was renamed.
    var folder: String?
    var event: Event
}

/// The fate of the last file that had a name.
enum NameFate {
    case ended(NameEnding, at: String, [NameMove])
    /// The file was moved and is still at its destination.
    case there(String, [NameMove])
    /// The file was moved and is not there, and no event says why. If the name is taken now, its holder is newer.
    case lost(String, [NameMove], isTaken: Bool)
    /// The file was moved more often than the search follows.
    case beyond(String, [NameMove])
    case unknown
}

/// Follows the former holder of a name through the journal. The cost depends neither on the size of the journal nor on the
/// number of events of a name, because the search reads only the nearest events of each name.
struct NameHistory {
    let journal: any NameEvents
    /// Returns true if the container has an entry at a path.
    let exists: (String) -> Bool
    /// Returns the earliest time at which the entry at a path may have existed, by the host's clock; nil if unknown.
    let since: (String) -> String?
    let rebootsEmptyTmp: Bool

    private typealias Query = JournalReader.Query
    private static let page = 64
    /// The maximum number of events searched for an ending, per name and for the whole container.
    private static let most = 1024
    static let mostMoves = 200
    /// The maximum number of folders looked up while following moves: a path may have hundreds.
    private static let mostFolders = 4000
    private static let mostLives = 32

    /// Returns how many lives of a name are searched. A deep path gets fewer, because each of its folders is searched too.
    private static func lives(of path: String) -> Int {
        max(4, min(mostLives, mostFolders / (path.pathNames.count + 1)))
    }

    /// Returns the fate of the last file that had this name, which is free now. The answer is doubtful if an earlier file of
    /// the name may have been the last.
    func fate(of path: String) throws(CommandFailure) -> (fate: NameFate, isDoubtful: Bool) {
        var before = Int64.max
        var likely: NameFate?
        for _ in 0..<Self.lives(of: path) {
            guard let ending = try lastEnding(of: path, before: before), likely == nil || !ending.isOfAll else { break }
            let fate = try follow(path, from: ending)
            if ending.above == nil { return (fate, false) }
            if isSure(fate) { return (fate, try isDoubtful(fate, of: path, before: ending.event.seq)) }
            // The ending happened to an ancestor folder, and nothing shows that the file was still in it.
            likely = likely ?? fate
            before = ending.event.seq
        }
        return (likely ?? .unknown, false)
    }

    /// Returns true if the fate is certain. The removal of a folder above leaves the fate uncertain: only empty folders are
    /// removed, so the file was gone before.
    private func isSure(_ fate: NameFate) -> Bool {
        switch fate {
        case .ended(let ending, _, _): ending.above == nil
        case .there, .beyond: true
        case .lost, .unknown: false
        }
    }

    /// Returns true if the file may have ended earlier. A folder above was moved, and a file of this name ended at the folder's
    /// destination. But the name had become free once before, and the journal does not tell whether a newer file had it when
    /// the folder was moved.
    private func isDoubtful(_ fate: NameFate, of path: String, before: Int64) throws(CommandFailure) -> Bool {
        guard case .ended(let ending, let place, _) = fate,
            let prior = try lastEnding(of: path, before: before), !prior.isOfAll
        else { return false }
        guard case .ended(let other, let otherPlace, _) = try follow(path, from: prior) else { return true }
        return other.event.seq != ending.event.seq || !otherPlace.isPath(place)
    }

    /// Returns the latest ending at a path. Endings of the present file, which may have been moved away and back, do not count.
    /// With `acrossSaves`, an atomic save continues the life of the file that it replaces.
    func beginning(of path: String, acrossSaves: Bool = false) throws(CommandFailure) -> NameEnding? {
        var before = Int64.max
        for _ in 0..<Self.lives(of: path) {
            guard let ending = try lastEnding(of: path, before: before) else { return nil }
            let isSave = acrossSaves && ending.above == nil && ending.event.type == .replaced
            if !isSave, try !isBack(path, from: ending) { return ending }
            before = ending.event.seq
        }
        return nil
    }

    private func isBack(_ path: String, from ending: NameEnding) throws(CommandFailure) -> Bool {
        guard case .there(let place, _) = try follow(path, from: ending) else { return false }
        return place.isPath(path)
    }

    private func follow(_ path: String, from first: NameEnding) throws(CommandFailure) -> NameFate {
        var (place, ending, moves, folders) = (path, first, [NameMove](), 0)
        while let to = ending.destination(of: place) {
            folders += place.pathNames.count
            if moves.count == Self.mostMoves || folders > Self.mostFolders { return .beyond(place, moves) }
            moves.append(NameMove(from: place, to: to, folder: ending.above, event: ending.event))
            place = to
            let next = try nextEnding(of: place, after: ending.event)
            if ending.above != nil, try isFilled(place, after: ending.event, before: next?.event) {
                return .lost(place, moves, isTaken: exists(place))
            }
            guard let next else {
                guard exists(place) else { return .lost(place, moves, isTaken: false) }
                return isNewer(place, than: moves) ? .lost(place, moves, isTaken: true) : .there(place, moves)
            }
            ending = next
        }
        return .ended(ending, at: place, moves)
    }

    /// Returns true if a rename moved another entry to the vacant place: such a rename replaces nothing, so no other event
    /// shows it.
    private func isFilled(_ place: String, after move: Event, before next: Event?) throws(CommandFailure) -> Bool {
        var query = Query(.to(place), after: move.seq, before: next?.seq ?? .max, newestFirst: false, limit: 1)
        query.types = [.renamed]
        guard let arrival = try journal.events(query).first else { return false }
        return next.map { !Self.areOneStep(arrival, $0) } ?? true
    }

    /// Returns true if the present entry is newer than the first move. Returns false if a move was of the file itself: only the
    /// move of a folder leaves open whether the file was in it.
    private func isNewer(_ place: String, than moves: [NameMove]) -> Bool {
        guard moves.allSatisfy({ $0.folder != nil }), let moved = moves.first?.event.realTime, let since = since(place)
        else { return false }
        return since > moved
    }

    /// Returns the latest moves, at most eight, that brought a file to a path before an event, newest first. `made` is the
    /// earliest time at which the file may have existed, if known. A folder move before `made` ends the search: the file was
    /// not in the folder yet.
    func origins(of path: String, before: Int64 = .max, made: String? = nil) throws(CommandFailure) -> [NameMove] {
        var (place, before, moves) = (path, before, [NameMove]())
        while moves.count < 8, let move = try arrival(at: place, before: before) {
            // In an exchange, the other file went the opposite way.
            if let last = moves.last, Self.areOneStep(last.event, move.event) { break }
            if move.folder != nil, let made, let moved = move.event.realTime, made > moved { break }
            moves.append(move)
            (place, before) = (move.from, move.event.seq)
        }
        return moves
    }

    private func arrival(at path: String, before: Int64) throws(CommandFailure) -> NameMove? {
        var found: NameMove?
        for place in [path] + (try journal.having(events: path.foldersAbove, to: true)) {
            var query = Query(.to(place), before: before, limit: 1)
            query.types = [.renamed]
            guard let event = try journal.events(query).first, let from = event.path,
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
    /// Returns the latest ending before the event number `before`.
    func lastEnding(of path: String, before: Int64) throws(CommandFailure) -> NameEnding? {
        try ending(of: path, Query(.at(path), before: before)) { $0.seq > $1.seq }
    }

    /// Returns the first ending after a rename to the path.
    private func nextEnding(of path: String, after move: Event) throws(CommandFailure) -> NameEnding? {
        let range = Query(.at(path), after: move.seq, newestFirst: false)
        let next = try ending(of: path, range, not: move) { $0.seq < $1.seq }
        guard Place.at(path: path.utf8) == .temporary else { return next }
        // Emptying tmp leaves an event for each file but none for folders.
        if let next, next.event.type == .purge, next.event.trigger == .reboot { return next }
        guard let emptied = try emptyingOfTmp(range), emptied.seq < next?.event.seq ?? .max else { return next }
        return NameEnding(event: emptied)
    }

    /// Returns the nearest event that emptied tmp.
    func emptyingOfTmp(_ range: JournalReader.Query) throws(CommandFailure) -> Event? {
        let reboot = rebootsEmptyTmp ? try first(.whole(.device), range) { $0.trigger == .reboot } : nil
        let update = try first(.whole(.app), range) { $0.reason == AppCommand.update.rawValue }
        guard let reboot, let update else { return reboot ?? update }
        return (reboot.seq > update.seq) == range.isNewestFirst ? reboot : update
    }

    private func ending(
        of path: String, _ range: JournalReader.Query, not move: Event? = nil, _ isNearer: (Event, Event) -> Bool
    ) throws(CommandFailure) -> NameEnding? {
        var nearest: NameEnding?
        func offer(_ event: Event?, above: String?) {
            guard let event, nearest.map({ isNearer(event, $0.event) }) ?? true else { return }
            nearest = NameEnding(event: event, above: above)
        }
        offer(
            try first(.at(path), range, EventType.ofApp.union([.purge])) { event in
                event.endsName && !(move.map { Self.areOneStep($0, event) } ?? false)
            }, above: nil)
        for folder in try journal.having(events: path.foldersAbove, to: false) {
            offer(
                try first(.at(folder), range, EventType.ofApp) { event in
                    !(move.map { Self.areOneStep($0, event) } ?? false)
                }, above: folder)
        }
        offer(try first(.whole(.app), range) { $0.reason == AppCommand.delete.rawValue }, above: nil)
        offer(try first(.whole(.restore), range) { _ in true }, above: nil)
        return nearest
    }

    /// Returns the nearest event of a subject that satisfies `isWanted`; nil if none of the nearest `most` events does.
    private func first(
        _ subject: Query.Subject, _ range: Query, _ types: Set<EventType> = [], _ isWanted: (Event) -> Bool
    ) throws(CommandFailure) -> Event? {
        var query = range
        (query.subject, query.types, query.limit) = (subject, types, Self.page)
        for _ in 0..<(Self.most / Self.page) {
            let events = try journal.events(query)
            if let event = events.first(where: isWanted) { return event }
            guard let last = events.last, events.count == query.limit else { return nil }
            if query.isNewestFirst { query.before = last.seq } else { query.after = last.seq }
        }
        return nil
    }

    /// Returns true if both events belong to one rename. A rename over a file records the replaced file right before itself,
    /// and an exchange records both names. A program that renames there and back makes two separate events.
    static func areOneStep(_ move: Event, _ other: Event) -> Bool {
        guard other.path == move.to, other.to == move.path, other.pid == move.pid else { return false }
        switch other.type {
        case .replaced: return move.seq - other.seq == 1
        case .renamed:
            let (first, second) = move.seq < other.seq ? (move, other) : (other, move)
            return second.seq - first.seq == 1 && first.reason == RenameReason.exchange.rawValue
                && second.reason == RenameReason.exchanged.rawValue
        default: return false
        }
    }
}

extension Event {
    /// True if the event's path no longer names the file afterwards.
    var endsName: Bool { type.isOfApp || type == .purge && tombstone != true }
}

extension String {
    /// The ancestor folders of a path in a container, nearest first.
    var foldersAbove: [String] {
        let names = utf8.split(separator: UInt8(ascii: "/"))
        return (0..<max(0, names.count - 1)).reversed().map { last in
            String(Substring(utf8[..<names[last].endIndex]))
        }
    }

    /// Returns the bytes after the prefix `beginning`, which must match.
    func rest(after beginning: String) -> String { String(Substring(utf8.dropFirst(beginning.utf8.count))) }
}
