import Foundation
import Synchronization

/// The events since a container was made: what its control file `events` has told so far.
final class EventLog: Sendable {
    private struct Read {
        var lines: [Data] = []
        var events: [Container.Event] = []
        /// The beginning of a line whose end has not been read.
        var rest = Data()
    }

    private let file: Descriptor
    private let log = Mutex(Read())

    init(path: String) throws { file = try Descriptor.open(path, O_RDONLY | O_NONBLOCK) }

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
        while let end = log.rest.firstIndex(of: UInt8(ascii: "\n")) {
            log.lines.append(Data(log.rest[log.rest.startIndex..<end]))
            log.rest = Data(log.rest[log.rest.index(after: end)...])
        }
    }
}
