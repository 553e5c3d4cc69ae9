import Foundation
import Glibc
import Synchronization

/// The only directory in which a test process leaves anything, including mounts. A janitor process removes it when the test
/// process is gone, however it ended.
public final class ScratchRoot: Sendable {
    public static let shared = ScratchRoot()
    public let path: String
    private let counter = Atomic<Int>(0)

    private init() {
        // The name does not contain the process id, because ids are reused and the janitor of an earlier run may still be
        // removing mounts.
        var template = Array("/var/tmp/purgefs-tests-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mountDisk()
        chmod(path, 0o755)
        startJanitor()
    }

    /// If the tests run as root, mounts an ext4 file system at `path`, in a sparse file that is then unlinked. The file system
    /// has a journal. Without a journal, which short-lived machines often lack, ext4 takes a millisecond to create a file where
    /// many files were removed in the last half minute. Barriers are off, because no test cuts the power. Without loop devices,
    /// the tests use the machine's own file system.
    private func mountDisk() {
        guard geteuid() == 0 else { return }
        let image = "\(path).image"
        defer { Glibc.unlink(image) }
        let options = "loop,nobarrier,discard,noinit_itable"
        for command in [
            ["truncate", "-s", "200G", image],
            [
                "mkfs.ext4", "-q", "-F", "-m", "0", "-N", "2000000", "-E", "lazy_itable_init=1,lazy_journal_init=1",
                image,
            ],
            ["mount", "-o", options, image, path],
        ] {
            guard let child = try? ChildProcess(command, output: "/dev/null", errors: "/dev/null"),
                (try? child.wait(within: 60)) == 0
            else { return }
        }
    }

    /// Returns a unique path.
    public func newName(_ label: String) -> String {
        "\(path)/\(label)-\(counter.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// Starts the janitor, which reads a pipe to which nothing is written: end of file means that this process has ended.
    private func startJanitor() {
        let script = """
            trap '' INT TERM HUP
            cat >/dev/null
            awk -v root="\(path)/" 'index($5, root) == 1 {print $5}' /proc/self/mountinfo | tac |
            while read -r mount; do umount -l "$mount"; done
            umount -l "\(path)" 2>/dev/null
            # A daemon writes to its store until it has ended.
            for attempt in $(seq 50); do
              rm -rf --one-file-system "\(path)"; sleep 0.2; test -e "\(path)" || exit 0
            done
            """
        let fifo = "\(path)/janitor"
        mkfifo(fifo, 0o600)
        // Read-write, so that neither end waits for the other; close-on-exec, so that no child keeps the pipe open.
        let keptOpen = open(fifo, O_RDWR | O_CLOEXEC)
        guard keptOpen >= 0 else { return }
        _ = try? ChildProcess(["/bin/sh", "-c", script], output: "/dev/null", errors: "/dev/null", input: fifo)
    }
}

/// A directory for one test, removed with `remove`.
public struct Scratch: Sendable {
    public let path: String

    public init(_ label: String = "scratch") throws {
        path = ScratchRoot.shared.newName(label)
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("cannot make \(path)") }
    }

    /// Removes the directory, but never crosses a mount point, so that a mount left behind is not emptied.
    public func remove() throws {
        try Program.run("rm", "-rf", "--one-file-system", path).succeeded()
    }

    /// Gives `body` a directory and removes it afterwards.
    public static func with<R>(_ label: String = "scratch", _ body: (Scratch) throws -> R) throws -> R {
        let scratch = try Scratch(label)
        let result = Result { try body(scratch) }
        let removal = Result { try scratch.remove() }
        // A failed test often leaves what cannot be removed, so its own error comes first.
        let value = try result.get()
        try removal.get()
        return value
    }
}
