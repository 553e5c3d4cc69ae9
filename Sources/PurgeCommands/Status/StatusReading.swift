import PurgeCommandLine
import PurgeSystem
import Synchronization

/// Reads the status of a container every second, on its own thread.
final class StatusReading: Sendable {
    private static let period: Int64 = 1000
    /// The largest number of readings whose free space is kept; no terminal shows more.
    private static let mostReadings = 500

    enum End: Sendable {
        case unmounted
        case failed(CommandFailure)
    }
    struct State: Sendable {
        var latest: WatchedStatus?
        /// The number of statuses read so far.
        var number = 0
        var end: End?
    }

    private let current = Mutex(State())
    private let container: WatchedContainer
    /// Never advances: the thread only sleeps at it.
    private let pause = Gate()

    init(_ container: WatchedContainer) { self.container = container }

    var state: State { current.withLock { $0 } }

    func start() throws(Errno) { _ = try WorkThread(name: "status") { [self] in run() } }

    private func run() {
        var (container, recent) = (container, RecentEvents())
        while let status = next(&container, &recent) {
            current.withLock { state in
                let free = (state.latest?.free ?? []) + [status.report.storage.available]
                state.latest = status
                state.latest?.free = free.suffix(Self.mostReadings)
                state.number += 1
            }
            pause.wait(while: 0, milliseconds: Self.period)
        }
    }

    /// Returns the next status; nil at the end.
    private func next(_ container: inout WatchedContainer, _ recent: inout RecentEvents) -> WatchedStatus? {
        do throws(CommandFailure) {
            let status = try container.with(warnings: nil) { (control) throws(CommandFailure) in
                try WatchedStatus(control, &recent)
            }
            if status == nil { current.withLock { $0.end = .unmounted } }
            return status
        } catch {
            current.withLock { $0.end = .failed(error) }
            return nil
        }
    }
}
