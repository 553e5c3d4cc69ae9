import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// The `events` control file: the events from the moment it is opened.
package final class EventStream {
    /// One line of the file.
    package enum Record {
        case event(Event, line: String)
        /// Events that were lost because this reader was too slow. The journal has them.
        case dropped
    }

    private let file: FileDescriptor
    private let path: String
    private var rest: [UInt8] = []

    package init(_ control: MountedControl) throws(CommandFailure) {
        path = control.path(.events)
        do throws(Errno) {
            file = try FileDescriptor.open(path, O_RDONLY)
        } catch { throw CommandFailure("cannot follow events", path: path, error) }
    }

    /// Waits for the next record. Returns nil after the unmount.
    package func next() throws(CommandFailure) -> Record? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[..<end], as: UTF8.self)
                rest.removeSubrange(...end)
                return try record(line)
            }
            do throws(Errno) {
                let bytes = try file.readSome(1 << 16)
                if bytes.isEmpty { return nil }
                rest += bytes
            } catch .socketNotConnected, .connectionAbort {
                return nil
            } catch { throw CommandFailure("cannot follow events", path: path, error) }
        }
    }

    /// Discards all events until `milliseconds` have passed, and returns false; or until the unmount, and returns true.
    package func hasEnded(within milliseconds: Int64) throws(CommandFailure) -> Bool {
        let deadline = System.uptime() + milliseconds * 1_000_000
        do throws(Errno) {
            while true {
                let left = max(0, deadline - System.uptime()) / 1_000_000
                guard try System.waitReadable(file.raw, milliseconds: Int32(left)) else { return false }
                if try file.readSome(1 << 16).isEmpty { return true }
            }
        } catch .socketNotConnected, .connectionAbort {
            return true
        } catch { throw CommandFailure("cannot follow events", path: path, error) }
    }

    private func record(_ line: String) throws(CommandFailure) -> Record {
        do {
            let event = try JSONText.decode(Event.self, from: line)
            return event.type == .dropped ? .dropped : .event(event, line: line)
        } catch {
            throw CommandFailure(
                "cannot follow events", path: path,
                "the format of a line is unknown to this version of purgefs: "
                    + "\(line)",
                advice: "Use the purgefs that mounted it (`purgefs --version`).")
        }
    }
}
