import Foundation
import Synchronization

/// The events since a container was made: what its control file `events` has told so far.
final class EventLog: Sendable {
    private struct Read {
        var lines: [Data] = []
        var events: [Container.Event] = []
        /// The beginning of a line whose end has not been read.
        var rest = Data()
        /// The newest purge of a file that a test has found.
        var found: [String: Int] = [:]
    }

    private let file: Descriptor
    private let log = Mutex(Read())

    /// The lines of all events in the journal.
    private let journal: @Sendable () throws -> [Data]

    init(path: String, journal: @escaping @Sendable () throws -> [Data]) throws {
        file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK)
        self.journal = journal
    }

    func close() { file.close() }

    /// As JSON lines, as purgefs has written them.
    func text() throws -> String {
        try log.withLock { log in
            try read(into: &log)
            return log.lines.map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        }
    }

    /// All events so far, oldest first.
    func events() throws -> [Container.Event] {
        try log.withLock { log in
            try read(into: &log)
            while log.events.count < log.lines.count {
                log.events.append(try Lines.decode(Container.Event.self, from: log.lines[log.events.count]))
            }
            return log.events
        }
    }

    /// Waits until there are more events, or for so many milliseconds.
    func wait(_ milliseconds: Int32) {
        file.with { number in
            var ready = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            poll(&ready, 1, milliseconds)
        }
    }

    // MARK: Purges that were found

    /// Up to this event, purges of a file were found by a test; 0 if none were.
    func position(ofPurge name: String) -> Int { log.withLock { $0.found[name] ?? 0 } }

    func note(purge number: Int, of name: String) { log.withLock { $0.found[name] = max($0.found[name] ?? 0, number) } }

    // MARK: Reading

    /// Never waits. Nothing comes any more when the file is closed, or when the container has gone away.
    private func read(into log: inout Read) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        file.with { number in
            while number >= 0 {
                let count = Foundation.read(number, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                log.rest.append(contentsOf: buffer[..<count])
            }
        }
        let lines = log.rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        log.rest = Data(lines.last ?? Data())
        for line in lines.dropLast() {
            if line.range(of: Self.dropped) == nil { log.lines.append(Data(line)) } else { try fill(Data(line), &log) }
        }
    }

    /// Events that came faster than they were read are in the journal; a record about those that are not even there stays.
    private func fill(_ line: Data, _ log: inout Read) throws {
        let record = try Lines.decode(Container.Event.self, from: line)
        guard record.type == .dropped else { return log.lines.append(line) }
        let last = try log.lines.last.map { try Lines.decode(Numbered.self, from: $0).seq } ?? 0
        // A store that was there before has older events too.
        let found = try journal().filter { line in
            let event = try Lines.decode(Numbered.self, from: line)
            return event.seq > last && event.seq <= record.seq && event.type != .dropped
        }.suffix(record.missed)
        log.lines += found
        guard found.count < record.missed else { return }
        let text = String(decoding: line, as: UTF8.self)
        let left = text.replacingOccurrences(
            of: "\"\(record.missed) event", with: "\"\(record.missed - found.count) event")
        log.lines.append(Data(left.utf8))
    }

    private static let dropped = Data("\"dropped\"".utf8)

    private struct Numbered: Decodable {
        var seq: Int
        var type: Container.EventType
    }
}

/// The journal of a container's store, as the binary prints it.
struct EventJournal: Sendable {
    let container, binary: String

    /// JSON, a line for each event. The mount writes first what it has not written yet.
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
