import Synchronization

/// A thread that carries out work in order. It is for commands and notifications, which may wait for requests and so must not
/// occupy a worker.
package final class WorkQueue: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])
    private let thread = WakefulThread()

    package init() {}

    package func start(name: String) throws(Errno) {
        try thread.start(name: name) { [self] in
            let batch = work.withLock { work in
                defer { work = [] }
                return work
            }
            for work in batch { work() }
            return batch.isEmpty ? .idle : .again
        }
    }

    package func add(_ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0.append(work) }
        thread.wake()
    }

    /// Waits until all work is done, and ends the thread.
    package func end() { thread.end() }
}
