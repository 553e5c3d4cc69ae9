import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// What a daemon says at its end, for whoever has unmounted it, in a file in its memory: that needs no disk, which may be
/// the very thing that has failed. A reader that has opened the file keeps it when the daemon is gone.
enum PartingWords {
    private static let name = "purgefs-parting-words"
    private static let limit = 16 << 10

    /// For the daemon. nil if there can be no such file: then nobody learns what it would have said.
    static func make() -> FileDescriptor? {
        do throws(Errno) { return try System.makeMemoryFile(name) } catch { return nil }
    }

    static func leave(_ text: String, in file: FileDescriptor) {
        do throws(Errno) { try file.writeAll(Array(text.utf8)) } catch {}  // then nobody learns it
    }

    /// The file of a daemon that runs; nil if this user may not open it.
    static func file(of daemon: pid_t) -> FileDescriptor? {
        ProcessTable.openFile(of: daemon, as: "/memfd:\(name) (deleted)")
    }

    /// Once the daemon has ended; empty if there was nothing to say.
    static func text(in file: FileDescriptor) -> String {
        do throws(Errno) {
            let lines = String(decoding: try file.readAll(limit: limit), as: UTF8.self).split(separator: "\n")
            return lines.map { VisibleText.of(String($0)) }.joined(separator: "\n")
        } catch { return "" }
    }
}
