import Glibc
import PurgeSystem
import Testing

/// A file system mounted only in a helper process, reached through /proc/PID/root; it disappears with this value.
final class PrivateMount {
    /// The path of the mounted directory, for this process.
    let path: String
    private let pid: pid_t
    private let input: Int32

    static let isPossible: Bool = {
        do {
            let directory = try TemporaryDirectory()
            _ = try PrivateMount(at: directory.path, "mount -t ramfs none .")
            return true
        } catch { return false }
    }()

    /// Runs `script` in `directory`, within a new mount namespace.
    init(at directory: String, _ script: String) throws {
        var (toChild, fromChild): ([Int32], [Int32]) = ([0, 0], [0, 0])
        try #require(pipe(&toChild) == 0)
        try #require(pipe(&fromChild) == 0)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        let full = "cd \(directory) && \(script) && echo ready && read end"
        let words = ["unshare", geteuid() == 0 ? "-m" : "-rm", "sh", "-c", full]
        let arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var child: pid_t = 0
        let code = posix_spawnp(&child, "unshare", &actions, nil, arguments, environ)
        close(toChild[0])
        close(fromChild[1])
        (pid, input) = (child, toChild[1])
        path = "/proc/\(child)/root\(directory)"
        defer { close(fromChild[0]) }
        try #require(code == 0)
        var answer = [UInt8](repeating: 0, count: 5)
        try #require(read(fromChild[0], &answer, 5) == 5)
    }

    deinit {
        close(input)
        kill(pid, SIGKILL)
        waitpid(pid, nil, 0)
    }
}
