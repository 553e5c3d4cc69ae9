import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// The device of a run before the command of `--check`.
struct RunCheck {
    let control: MountedControl

    /// Ends all faults, unlocks the device, and launches the app.
    func makeDeviceWell() throws(CommandFailure) {
        try write("off", to: .faults)
        try write("unlock", to: .deviceState)
        try write("launch", to: .appState)
    }

    private func write(_ text: String, to file: ControlFile) throws(CommandFailure) {
        do throws(Errno) { try control.write(text, to: file) } catch .noSuchProcess {
            // The app was offloaded, so it cannot be launched.
        } catch .readOnly {
            // With `-o ro`, nothing has changed.
        } catch {
            throw CommandFailure("cannot write \(file.rawValue)=\(text) before --check", path: control.place, error)
        }
    }
}
