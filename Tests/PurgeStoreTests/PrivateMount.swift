import Glibc
import PurgeSystem
import Support
import Testing

/// A file system mounted only in a helper process, reached through /proc/PID/root; it disappears with this value.
final class PrivateMount {
    /// The path of the mounted directory, for this process.
    let path: String
    private let helper: ChildProcess
    /// The helper's input: the helper ends at the latest when this process does.
    private let input: OpenFile

    static let isPossible: Bool = {
        do {
            let directory = try TemporaryDirectory()
            _ = try PrivateMount(at: directory.path, "mount -t ramfs none .")
            return true
        } catch { return false }
    }()

    /// Runs `script` in `directory`, within a new mount namespace.
    init(at directory: String, _ script: String) throws {
        let fifo = ScratchRoot.shared.newName("private-mount")
        try #require(mkfifo(fifo, 0o600) == 0)
        input = try OpenFile(fifo, O_RDWR)
        let full = "cd \(directory) && \(script) && echo ready && read end"
        helper = try Program.start(["unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c", full], input: fifo)
        path = "/proc/\(helper.pid)/root\(directory)"
        try eventually("a mount in a helper process") { helper.output == "ready\n" || helper.status() != nil }
        try #require(helper.status() == nil, "\(helper.errors)")
    }

    deinit {
        helper.signalGroup(SIGKILL)
        _ = try? helper.wait(within: 10)
    }
}
