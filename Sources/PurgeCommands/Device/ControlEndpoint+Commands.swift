import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension ControlEndpoint {
    /// Writes a command. If it fails, throws a message for the user in which `doing` names its purpose, as in "lock the
    /// device".
    func command(_ text: String, to file: ControlFile, doing: String) throws(CommandFailure) {
        do throws(Errno) {
            try write(text, to: file)
        } catch {
            if error == .ioError { try requireStore("cannot \(doing)") }
            if error == .noSuchProcess, file == .appState { throw appRefusal(text, doing) }
            throw CommandFailure("cannot \(doing)", path: place, "\(error)", advice: advice(for: error, file))
        }
    }

    /// Throws if the container is not mounted. `what` begins the message, as in `cannot launch the app`.
    func requireMount(_ what: String) throws(CommandFailure) {
        guard !isMounted else { return }
        throw CommandFailure(
            what, path: place, "the container is not mounted",
            advice: "Mount it first: purgefs mount \(ShellWord.of(place)) MOUNTPOINT")
    }

    /// Returns the message about a command that the state of the app does not allow.
    private func appRefusal(_ command: String, _ doing: String) -> CommandFailure {
        let (reason, first) =
            command == AppCommand.suspend.rawValue
            ? ("it does not run", "Launch it first: purgefs app launch")
            : ("it is offloaded", "Install it first: purgefs app install")
        return CommandFailure("cannot \(doing)", path: place, reason, advice: "\(first) \(ShellWord.of(place))")
    }

    private func advice(for error: Errno, _ file: ControlFile) -> String {
        switch error {
        case .invalid where file == .deviceClock:
            "The clock can be at most 4294967296 seconds (136 years) ahead of real time."
        case .ioError:
            isMounted
                ? "The change is in force, but could not be saved: it is lost at the unmount unless a later change is "
                    + "saved.\n  Make room on the disk under the store, and try again."
                : "The change could not be saved. Make room on the disk under the store, and try again."
        case .canceled:
            "Nothing was changed: the start of the change could not be recorded in the store. Make room on the disk\n "
                + " under the store, or make the store writable, and try again."
        case .notEmpty:
            "The app is deleted, but the container is not empty: a program still writes there, or a file could not "
                + "be\n  removed (the daemon's log names it). End the program, and delete the app again."
        case .readOnly: "It is mounted read-only: mount it without -o ro."
        default: ""
        }
    }
}
