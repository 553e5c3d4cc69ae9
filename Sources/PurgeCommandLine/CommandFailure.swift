import Glibc
import PurgeStore
import PurgeSystem

/// Why a verb has failed, as a message for the user.
package struct CommandFailure: Error, Hashable {
    package var status = ExitStatus.failed
    /// The message: what failed, where and why, followed by lines of advice. Empty if everything has already been reported.
    package var message: String

    /// Creates the message `WHAT: PATH: REASON`, followed by the advice, which may take several lines.
    package init(_ what: String, path: String, _ reason: String, advice: String) {
        let place = path.isEmpty ? "''" : path
        message =
            VisibleText.of("\(what): \(place): \(reason)")
            + (advice.isEmpty
                ? ""
                : "\n  "
                    + advice.split(separator: "\n", omittingEmptySubsequences: false)
                    .map { VisibleText.of(String($0)) }.joined(separator: "\n"))
    }

    package init(status: Int32, message: String) {
        self.status = status
        self.message = message
    }

    /// Returns the failure for an invalid command line.
    package static func usage(_ message: String) -> CommandFailure {
        CommandFailure(status: ExitStatus.usage, message: VisibleText.of(message))
    }

    package init(_ what: String, _ error: StoreError) {
        self.init(what, path: error.path, error.what, advice: VisibleText.of(error.advice))
    }
}

extension CommandFailure {
    /// Creates the failure for a system call.
    package init(_ what: String, path: String, _ error: Errno, advice: String = "") {
        let next = advice.isEmpty ? VisibleText.of(Self.advice(for: error, path)) : advice
        self.init(what, path: path, "\(error)", advice: next)
    }

    /// Creates the failure for `FileDescriptor.openOutput` or `openTrusted`.
    package init(_ what: String, output path: String, _ error: Errno) {
        guard error == Errno(ELOOP), System.isRoot else {
            self.init(what, path: path, error)
            return
        }
        self.init(
            what, path: path,
            "the path contains a symbolic link in a directory that other users can change, and root does not follow it",
            advice: "Name the path that realpath(1) prints.")
    }

    private static func advice(for error: Errno, _ path: String) -> String {
        switch error {
        case .accessDenied: AccessAdvice.text(path)
        case .notPermitted: geteuid() == 0 ? AccessAdvice.rootToo : "Run this as the user who owns it, or as root."
        case .noEntry, .notDirectory, .nameTooLong, Errno(ELOOP): "Check the path."
        case Errno.socketNotConnected:
            "Its daemon has ended. Remove the mount: purgefs unmount "
                + (MountEntry.holding(path).map { ShellWord.of($0.mountpoint) } ?? "MOUNTPOINT")
        case .isDirectory: "Name a file."
        case .illegalByteSequence:
            "purgefs accepts only paths in UTF-8: rename the file or folder (mv)."
        case .tooManyOpenFiles, .tooManyOpenFilesInSystem:
            "Raise the limit of open files (ulimit -n 4096), or close some, and try again."
        case .noSpace: "The disk is full: make room there, then try again."
        default: ""
        }
    }
}
