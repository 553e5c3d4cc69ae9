import Glibc
import PurgeCommandLine
import PurgeSystem

/// `status --watch` on a terminal. A second thread reads the status, and may have to wait for the daemon. The main thread draws
/// and gets the signals. So signals end the watch even if the daemon hangs, and the terminal is restored.
struct LiveWatch {
    private static let ends = SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT).withoutIgnored
    private static let stop = SignalSet(SIGTSTP).withoutIgnored
    private static let signals = ends.union(stop).union(SignalSet(SIGWINCH))
    /// The milliseconds between two checks for a new status.
    private static let period: Int32 = 100

    private enum Ending {
        case signal(Int32)
        case reading(StatusReading.End, last: WatchedStatus?)
    }

    private let console: Console
    private let reading: StatusReading
    private let isUnicode = Bar.localeHasUnicode
    /// Whether colours are used (https://no-color.org).
    private let isColoured = getenv("NO_COLOR").map { strlen($0) == 0 } ?? true

    init(_ console: Console, _ container: WatchedContainer) {
        self.console = console
        reading = StatusReading(container)
    }

    /// Runs the watch. Returns the signal that has ended it, or nil when the container has been unmounted.
    func run() throws(CommandFailure) -> Int32? {
        var screen = TerminalScreen(console: console)
        let mask = try begin()
        let ending: Ending
        do throws(CommandFailure) { ending = try show(on: &screen) } catch {
            try screen.leave()
            throw error
        }
        try screen.leave()
        try end(mask)
        switch ending {
        case .signal(let number): return number
        case .reading(let end, let last):
            if let last {
                for line in text(last).lines { try console.print(line.text.replacing(WatchText.keys, with: "")) }
            }
            try console.flush()
            if case .failed(let failure) = end { throw failure }
            return nil
        }
    }

    private func text(_ status: WatchedStatus) -> WatchText {
        WatchText(status, isUnicode: isUnicode, size: System.terminalSize(STDOUT_FILENO))
    }

    private func show(on screen: inout TerminalScreen) throws(CommandFailure) -> Ending {
        var drawn = 0
        while true {
            let now = reading.state
            if let status = now.latest, now.number != drawn {
                let text = text(status)
                let frame = LiveFrame(lines: text.lines, size: text.size, isColoured: isColoured)
                if try screen.draw(frame) { drawn = now.number }
            }
            if let end = now.end { return .reading(end, last: now.latest) }
            switch try nextSignal() {
            case nil: continue
            case SIGWINCH: drawn = 0
            case SIGTSTP:
                try stop(&screen)
                drawn = 0
            case let number?: return .signal(number)
            }
        }
    }

    /// Stops this process with SIGTSTP, which the kernel ignores if no shell could continue the process.
    private func stop(_ screen: inout TerminalScreen) throws(CommandFailure) {
        try screen.leave()
        do throws(Errno) {
            try System.signal(getpid(), SIGTSTP)
            try System.unblock(Self.stop)
            _ = try System.block(Self.stop)
        } catch { throw Self.failure(error) }
    }

    private func nextSignal() throws(CommandFailure) -> Int32? {
        do throws(Errno) {
            return try System.nextSignal(of: Self.signals, milliseconds: Self.period)?.number
        } catch { throw Self.failure(error) }
    }

    /// Blocks the signals before the reading thread starts, so that the thread inherits the mask. Returns the previous mask.
    private func begin() throws(CommandFailure) -> SignalSet {
        do throws(Errno) {
            let mask = try System.block(Self.signals)
            try reading.start()
            return mask
        } catch { throw Self.failure(error) }
    }

    private func end(_ mask: SignalSet) throws(CommandFailure) {
        do throws(Errno) { try System.setMask(mask) } catch { throw Self.failure(error) }
    }

    private static func failure(_ error: Errno) -> CommandFailure {
        CommandFailure("cannot watch", path: "signals", error)
    }
}
