import Foundation
import Glibc
import Support

/// A directory and an environment in which `purgefs` is the program under test, as in a user's shell.
struct UserShell: Sendable {
    /// The working directory of commands.
    let directory: String
    private let scratch: String

    init(in scratch: Scratch) throws {
        self.scratch = scratch.path
        directory = "\(scratch.path)/work"
        for name in ["work", "bin", "home", "tmp"] { try Files.makeDirectory("\(scratch.path)/\(name)") }
        try Files.symlink(PurgefsBinary.path, "\(scratch.path)/bin/purgefs")
    }

    /// Runs `words`. If `isMerged`, the output has both streams.
    func run(
        _ words: [String], _ more: [String: String] = [:], isMerged: Bool = false, timeout: Double = Scale.patience
    ) throws -> Outcome {
        let command = isMerged ? ["sh", "-c", "exec \"$@\" 2>&1", "sh"] + words : words
        return try Program.run(
            command, in: directory, environment: environment.merging(more) { $1 }, timeout: timeout)
    }

    /// Starts `words`, and does not wait for the end.
    func start(_ words: [String]) throws -> ChildProcess {
        try Program.start(words, in: directory, environment: environment)
    }

    private var environment: [String: String] {
        let outer = ProcessInfo.processInfo.environment
        return [
            "PATH": "\(scratch)/bin:" + (outer["PATH"] ?? "/usr/bin:/bin"),
            // rustup, where it is installed, looks for its compilers in HOME.
            "RUSTUP_HOME": outer["RUSTUP_HOME"] ?? "\(NSHomeDirectory())/.rustup",
            "HOME": "\(scratch)/home", "TMPDIR": "\(scratch)/tmp", "LC_ALL": "C", "PURGEFS_MOUNT": "",
            "PURGEFS_SOURCES": DocumentedExample.root,
        ]
    }

    /// Unmounts all remaining mounts in the scratch directory.
    func clear() throws {
        for entry in MountTable.entries().reversed() where entry.mountpoint.hasPrefix(scratch + "/") {
            _ = try run(["purgefs", "unmount", "--force", entry.mountpoint])
        }
    }

    /// Passes `body` a shell in a directory of its own, which is removed afterwards with all mounts.
    static func with<R>(_ label: String, _ body: (UserShell) throws -> R) throws -> R {
        try Scratch.with(label) { scratch in
            let shell = try UserShell(in: scratch)
            let result = Result { try body(shell) }
            try shell.clear()
            return try result.get()
        }
    }
}
