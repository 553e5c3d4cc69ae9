import Foundation
import Glibc
import Synchronization

/// The one directory under which a test process leaves anything, including mounts. A janitor
/// process removes it when the test process is gone, however it ended.
public final class ScratchRoot: Sendable {
    public static let shared = ScratchRoot()
    public let path: String
    private let counter = Atomic<Int>(0)

    private init() {
        // Not named after the process: the janitor of an earlier run may still be removing the mounts of its own, and the
        // system gives process ids again.
        var template = Array("/var/tmp/purgefs-tests-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mountDisk()
        chmod(path, 0o755)
        startJanitor()
    }

    /// Root gets an ext4 file system there, in a sparse file without a name. One without a journal, as machines made for a
    /// short life have, takes a millisecond for a new file where many were removed in the last half minute; and no test
    /// takes the power away, so what is synced need not reach the disk. Without loop devices it is the machine's.
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

    /// A unique path.
    public func newName(_ label: String) -> String {
        "\(path)/\(label)-\(counter.wrappingAdd(1, ordering: .relaxed).newValue)"
    }

    /// It reads a pipe to which nothing is written: end of file means that this process has ended.
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
        // Read-write, so that neither end waits for the other; close-on-exec, so that no child keeps it open.
        let keptOpen = open(fifo, O_RDWR | O_CLOEXEC)
        guard keptOpen >= 0 else { return }
        _ = try? ChildProcess(["/bin/sh", "-c", script], output: "/dev/null", errors: "/dev/null", input: fifo)
    }
}

/// A directory of one test, removed with `remove`.
public struct Scratch: Sendable {
    public let path: String

    public init(_ label: String = "scratch") throws {
        path = ScratchRoot.shared.newName(label)
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("cannot make \(path)") }
    }

    /// Never across a mount point, so that a mount that was left behind is not emptied.
    public func remove() throws {
        try Program.run("rm", "-rf", "--one-file-system", path).succeeded()
    }

    /// Gives `body` a directory and removes it afterwards.
    public static func with<R>(_ label: String = "scratch", _ body: (Scratch) throws -> R) throws -> R {
        let scratch = try Scratch(label)
        let result = Result { try body(scratch) }
        try scratch.remove()
        return try result.get()
    }
}
