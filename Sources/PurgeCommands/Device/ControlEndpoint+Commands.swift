import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension ControlEndpoint {
    /// Writes a command, with a message for the user when it fails. `doing` is its purpose, as in "lock the device".
    func command(_ text: String, to file: ControlFile, doing: String) throws(CommandFailure) {
        do throws(Errno) {
            try write(text, to: file)
        } catch {
            if error == .ioError { try requireStore("cannot \(doing)") }
            throw CommandFailure("cannot \(doing)", path: place, "\(error)", advice: advice(for: error, file))
        }
    }

    /// Writes the app's state for `purgefs run`. A read-only mount does not record it.
    func tell(_ command: AppCommand) throws(CommandFailure) {
        do throws(Errno) {
            try write(command.rawValue, to: .appState)
        } catch .readOnly {
        } catch { throw CommandFailure("cannot \(command.rawValue) the app", path: place, error) }
    }

    private func advice(for error: Errno, _ file: ControlFile) -> String {
        switch error {
        case .invalid where file == .deviceClock:
            "It can be 4294967296 seconds (136 years) ahead of real time at most."
        case .ioError:
            isMounted
                ? "It could not be saved. `purgefs status` shows what is in force; that is lost at the unmount unless a\n"
                    + "  later change can be saved. Make room on the disk under the store, and try again."
                : "It could not be saved. Make room on the disk under the store, and try again."
        case .canceled:
            "Nothing was changed: the store could not keep a note of what is being done, so it was not begun. Make room on\n"
                + "  the disk under the store, or make the store writable, and try again."
        case .notEmpty:
            "The app is deleted, but something is in the container again or still: a program goes on writing there, or\n"
                + "  a file could not be removed, which the daemon's log names. End the program, and delete once more."
        case .readOnly: "It is mounted read-only: mount it without -o ro."
        default: ""
        }
    }
}
