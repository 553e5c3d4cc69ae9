import PurgeSystem
import Synchronization

/// The threads of a volume, which are joined at its end.
final class VolumeThreads: Sendable {
    private let threads = Mutex<[WorkThread]>([])

    func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let thread = try WorkThread(name: name, body)
        threads.withLock { $0.append(thread) }
    }

    func join() {
        for thread in threads.withLock({ $0 }) { thread.join() }
    }
}
