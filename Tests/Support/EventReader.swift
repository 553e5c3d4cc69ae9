import Glibc
import PurgeSystem

/// A reader of MOUNT/.purgefs/events that sees every event after its creation.
public final class EventReader {
    private let file: OpenFile
    private var pending: [UInt8] = []
    public private(set) var seen: [StoreEvent] = []

    public init(_ mount: TestMount) throws {
        file = try OpenFile(mount.control("events"), O_RDONLY | O_NONBLOCK)
    }
    public func close() { file.close() }

    /// Waits until `condition` holds for the events seen so far.
    public func wait(within seconds: Double = 10, _ what: String, _ condition: ([StoreEvent]) -> Bool) throws {
        try eventually(within: seconds, "\(what) among \(seen)") {
            try readMore()
            return condition(seen)
        }
    }

    private func readMore() throws {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(file.descriptor, &buffer, buffer.count)
            if count < 0, errno == EAGAIN { return }
            if count < 0 { throw Errno(errno) }
            if count == 0 { return }
            pending += buffer[..<count]
            guard let end = pending.lastIndex(of: UInt8(ascii: "\n")) else { continue }
            seen += try StoreEvent.lines(String(decoding: pending[...end], as: UTF8.self))
            pending.removeSubrange(...end)
        }
    }
}
