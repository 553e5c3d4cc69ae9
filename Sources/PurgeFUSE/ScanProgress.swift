import PurgeSystem
import Synchronization

/// Reports the progress of a scan, at most once a second.
final class ScanProgress: Sendable {
    private let started = System.uptime()
    private let last = Mutex<Int64>(System.uptime())

    func report(_ count: Int) {
        let now = System.uptime()
        let isDue = last.withLock { last in
            guard now - last > 1_000_000_000 else { return false }
            last = now
            return true
        }
        if isDue {
            MountService.note("purgefs: reading the store: \(count) entries, \((now - started) / 1_000_000_000) s")
        }
    }
}
