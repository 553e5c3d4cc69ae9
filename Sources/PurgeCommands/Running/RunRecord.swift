import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The file that `purgefs run --events` writes.
struct RunRecord {
    private let path: String
    private let file: FileDescriptor

    /// Opened before COMMAND begins, so that a bad name is known at once.
    init(path: String) throws(CommandFailure) {
        self.path = path
        do throws(Errno) {
            file = try FileDescriptor.open(path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
        } catch { throw CommandFailure("cannot write the events", path: path, error) }
    }

    func write(_ events: [Event]) throws(CommandFailure) {
        do throws(Errno) {
            for event in events { try file.writeAll(Array((JSONText.encode(event) + "\n").utf8)) }
        } catch { throw CommandFailure("cannot write the events", path: path, error) }
    }
}
