import Foundation
import Synchronization

/// The events since a container was mounted, as far as they have been read from its control file `events`.
final class EventLog: Sendable {
    private struct Known {
        var lines: [Data] = []
        var events: [Container.Event] = []
        /// Whether the container has gone away, so that no more events come.
        var isOver = false
        /// The number of the newest purge that `expectPurge` has found, by file.
        var found: [String: Int] = [:]
    }

    private let file: Descriptor
    /// The beginning of a line that has not been read to its end. Locked during a read, which never returns while the daemon
    /// is stopped; `known` stays available meanwhile.
    private let rest = Mutex(Data())
    private let known = Mutex(Known())

    /// Returns the lines of all events in the journal.
    private let journal: @Sendable () throws -> [Data]

    init(path: String, journal: @escaping @Sendable () throws -> [Data]) throws {
        file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        self.journal = journal
    }

    func close() { file.close() }

    /// Returns all events so far, oldest first.
    func events() throws -> [Container.Event] {
        try rest.withLock { try read(&$0) }
        return try eventsRead()
    }

    /// Returns the events read so far, without a call into the mount.
    func eventsRead() throws -> [Container.Event] {
        try known.withLock { known in
            while known.events.count < known.lines.count {
                known.events.append(try Lines.decode(Container.Event.self, from: known.lines[known.events.count]))
            }
            return known.events
        }
    }

    /// The events read so far, as the JSON lines that purgefs wrote.
    var textRead: String {
        known.withLock { $0.lines }.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
    }

    /// Whether the container had gone away at the last read.
    var isOver: Bool { known.withLock { $0.isOver } }

    // MARK: Purges that were found

    /// Returns the number of the newest purge of a file that `expectPurge` has found, or 0.
    func position(ofPurge name: String) -> Int { known.withLock { $0.found[name] ?? 0 } }

    func note(purge number: Int, of name: String) {
        known.withLock { $0.found[name] = max($0.found[name] ?? 0, number) }
    }

    // MARK: Reading

    /// Reads the available events. It may wait for the daemon and, if events were dropped, for `purgefs events`, but never for
    /// new events.
    private func read(_ rest: inout Data) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let isOver = file.with { number in
            while number >= 0 {
                let count = Foundation.read(number, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 || errno != EAGAIN }
                rest.append(contentsOf: buffer[..<count])
            }
            return false
        }
        let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        rest = Data(lines.last ?? Data())
        for line in lines.dropLast() {
            let more = line.range(of: Self.dropped) == nil ? [Data(line)] : try fill(Data(line))
            known.withLock { $0.lines += more }
        }
        known.withLock { $0.isOver = isOver }
    }

    /// Replaces a record of dropped events with those events from the journal. If the journal lacks some of them, a record with
    /// their number stays at the end.
    private func fill(_ line: Data) throws -> [Data] {
        let record = try Lines.decode(Container.Event.self, from: line)
        guard record.type == .dropped else { return [line] }
        let last = try known.withLock { $0.lines.last }.map { try Lines.decode(Numbered.self, from: $0).seq } ?? 0
        // The journal of a store that was mounted before has older events.
        let found = try journal().filter { line in
            let event = try Lines.decode(Numbered.self, from: line)
            return event.seq > last && event.seq <= record.seq && event.type != .dropped
        }.suffix(record.missed)
        guard found.count < record.missed else { return Array(found) }
        let text = String(decoding: line, as: UTF8.self)
        let left = text.replacingOccurrences(
            of: "\"\(record.missed) event", with: "\"\(record.missed - found.count) event")
        return found + [Data(left.utf8)]
    }

    private static let dropped = Data("\"dropped\"".utf8)

    private struct Numbered: Decodable {
        var seq: Int
        var type: Container.EventType
    }
}

/// Reads the journal of a container's store through the binary.
struct EventJournal: Sendable {
    let container, binary: String

    /// Returns a line of JSON for each event. `purgefs events` first makes the mount write its pending events to the journal.
    func lines() throws -> [Data] {
        let output = try Descriptor.anonymousFile()
        let errors = try Descriptor.anonymousFile()
        let child = try Child(
            [binary, "events", container, "--json"], environment: ProcessInfo.processInfo.environment,
            files: [try Descriptor.open("/dev/null", O_RDONLY), output, errors])
        guard child.wait(.seconds(60)) == 0 else {
            child.endGroup()
            throw ContainerError.verbFailed("purgefs events", errors.text())
        }
        return try output.content().split(separator: UInt8(ascii: "\n")).map { Data($0) }
    }
}
