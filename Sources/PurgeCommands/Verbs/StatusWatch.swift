import Glibc
import PurgeSystem
import PurgeVolume

/// `status --watch`: shows the status every second, until the mount is gone or a signal arrives.
struct StatusWatch {
    private static let ends = SignalSet(SIGINT, SIGTERM).withoutIgnored
    private static let resize = SignalSet(SIGWINCH)
    private static let period: Int32 = 1000

    private let form: StatusForm
    private let text: String?
    private var target: Target
    /// Whether each status is drawn over the last one.
    private let isLive: Bool
    /// Whether the cursor is in a status that has been drawn.
    private var isDrawn = false
    private var console: Console { form.console }

    init(_ form: StatusForm, _ text: String?) throws(CommandFailure) {
        self.form = form
        self.text = text
        target = try Target(text)
        isLive = form.console.isTerminal && !form.asJSON && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
    }

    mutating func run() throws(CommandFailure) -> Int32 {
        let result = Result { () throws(CommandFailure) in try watch() }
        // Messages from now on are printed below what was drawn.
        if isDrawn { try console.print("") }
        try console.flush()
        if let signal = try result.get() { return ExitStatus.signal + signal }
        console.warn("status: \(target.place): it has been unmounted")
        return ExitStatus.done
    }

    /// Returns the signal that has ended it; nil when the container has been unmounted.
    private mutating func watch() throws(CommandFailure) -> Int32? {
        var isFirst = true
        while try showUnlessUnmounted(warnings: isFirst ? console : nil) {
            isFirst = false
            if let signal = try pause() { return signal }
        }
        return nil
    }

    /// Returns false once the container that was shown is no longer mounted. A store that is not mounted may be mounted
    /// at any time.
    private mutating func showUnlessUnmounted(warnings: Console?) throws(CommandFailure) -> Bool {
        if case .store = target { target = try Target(text) }
        guard case .mount(let mountpoint) = target else {
            try show(warnings)
            return true
        }
        do throws(CommandFailure) {
            try leave(mountpoint)
            try show(warnings)
            return true
        } catch {
            guard MountEntry.container(at: mountpoint) == nil else { throw error }
            return false
        }
    }

    /// This process must not keep the mount busy.
    private func leave(_ mountpoint: String) throws(CommandFailure) {
        do throws(Errno) {
            try System.changeDirectory("/")
        } catch { throw CommandFailure("cannot watch", path: mountpoint, error) }
    }

    private mutating func show(_ warnings: Console?) throws(CommandFailure) {
        try target.with(forReading: true, warnings: warnings) { (control) throws(CommandFailure) in
            if isLive {
                let size = System.terminalSize(STDOUT_FILENO)
                try console.write(LiveFrame(lines: try form.lines(control), size: size).text)
                isDrawn = true
            } else if form.asJSON {
                let lines = try control.content(of: .status).split(separator: "\n")
                try console.print(lines.map { $0.trimmed }.joined(separator: " "))
            } else {
                try form.show(control)
                try console.print("")
            }
        }
        try console.flush()
    }

    /// Returns the signal that ends the watch; nil when it is time for the next status. Signals are blocked only here,
    /// so that they also end a watch whose daemon does not answer.
    private func pause() throws(CommandFailure) -> Int32? {
        do throws(Errno) {
            let mask = try System.block(Self.ends.union(Self.resize))
            let signal = try System.nextSignal(of: Self.ends.union(Self.resize), milliseconds: Self.period)?.number
            try System.setMask(mask)
            return signal == SIGWINCH ? nil : signal
        } catch { throw CommandFailure("cannot watch", path: "signals", error) }
    }
}
