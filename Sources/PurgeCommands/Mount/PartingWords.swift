import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// The daemon's last message to the process that unmounts the container, in a file in the daemon's memory. The file needs no
/// disk, because the disk may be the cause of the failure. A reader that has opened the file can read it even after the daemon
/// has ended.
enum PartingWords {
    private static let name = "purgefs-parting-words"
    private static let limit = 16 << 10

    /// Creates the file, in the daemon. If that fails, the daemon's last message is lost.
    static func make() -> FileDescriptor? {
        do throws(Errno) { return try System.makeMemoryFile(name) } catch { return nil }
    }

    static func leave(_ text: String, in file: FileDescriptor) {
        do throws(Errno) { try file.writeAll(Array(text.utf8)) } catch {}  // then the message is lost
    }

    /// Opens the file of a running daemon; returns nil if this user may not.
    static func file(of daemon: pid_t) -> FileDescriptor? {
        ProcessTable.openFile(of: daemon, as: "/memfd:\(name) (deleted)")
    }

    /// Returns the message; empty if there is none. Call this after the daemon has ended.
    static func text(in file: FileDescriptor) -> String {
        do throws(Errno) {
            let lines = String(decoding: try file.readAll(limit: limit), as: UTF8.self).split(separator: "\n")
            return lines.map { VisibleText.of(String($0)) }.joined(separator: "\n")
        } catch { return "" }
    }
}
