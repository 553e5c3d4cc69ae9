import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

/// `status --watch`: shows the status every second, until the mount is gone or a signal arrives.
struct StatusWatch {
    private static let ends = SignalSet(SIGINT, SIGTERM).withoutIgnored
    private static let period: Int32 = 1000

    private let form: StatusForm
    private var container: WatchedContainer
    private var console: Console { form.console }

    init(_ form: StatusForm, _ text: String?) throws(CommandFailure) {
        self.form = form
        container = try WatchedContainer(text)
    }

    mutating func run() throws(CommandFailure) -> Int32 {
        let signal = try isLive ? LiveWatch(console, container).run() : print()
        if let signal { return ExitStatus.signal + signal }
        console.warn("status: \(container.place): it has been unmounted")
        return ExitStatus.done
    }

    /// Whether each status is drawn over the last one.
    private var isLive: Bool {
        form.console.isTerminal && !form.asJSON && getenv("TERM").map { strcmp($0, "dumb") != 0 } ?? false
    }

    /// Prints one status after the other. Returns the signal that has ended the watch, or nil when the container has been
    /// unmounted.
    private mutating func print() throws(CommandFailure) -> Int32? {
        let (form, console) = (form, console)
        var warnings: Console? = console
        while true {
            let isShown: Void? = try container.with(warnings: warnings) { (control) throws(CommandFailure) in
                try form.showNext(control)
            }
            guard isShown != nil else { return nil }
            warnings = nil
            if let signal = try pause() { return signal }
        }
    }

    /// Waits until the next status is due. Returns the signal that ends the watch, or nil. Signals are blocked only here, so
    /// that they also end a watch whose daemon does not answer.
    private func pause() throws(CommandFailure) -> Int32? {
        do throws(Errno) {
            let mask = try System.block(Self.ends)
            let signal = try System.nextSignal(of: Self.ends, milliseconds: Self.period)?.number
            try System.setMask(mask)
            return signal
        } catch { throw CommandFailure("cannot watch", path: "signals", error) }
    }
}

extension StatusForm {
    /// Prints the next status of the watch, and flushes.
    fileprivate func showNext(_ control: any ControlEndpoint) throws(CommandFailure) {
        if asJSON {
            let lines = try control.content(of: .status).split(separator: "\n")
            try console.print(lines.map { $0.trimmed }.joined(separator: " "))
        } else {
            try show(control)
            try console.print("")
        }
        try console.flush()
    }
}
