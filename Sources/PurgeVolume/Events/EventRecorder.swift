import PurgeSystem
import Synchronization

/// Receives events as JSON lines, whole or in pieces; returns false when it accepts no more.
public typealias EventSink = @Sendable ([UInt8]) -> Bool

/// Sends every live event of a mount, from the first to the last, to the process that started the daemon. The app's own changes
/// of names are not live events. The recorder runs on its own thread: a slow sink misses events (which a `dropped` record
/// reports), but delays only the end of the mount.
public final class EventRecorder: Sendable {
    /// The longest time, in milliseconds, that the end of a mount waits for a sink that accepts nothing.
    private static let patience: Int64 = 5000

    let reader: EventReader
    private let news = Gate()
    private let end = Gate()
    /// The number of batches that the sink has accepted.
    private let sent = Atomic<Int>(0)
    private let isRunning = Atomic<Bool>(false)
    /// Whether all events have been sent.
    let isComplete = Atomic<Bool>(false)

    init(_ reader: EventReader) {
        self.reader = reader
        reader.onData { [news] in news.advance() }
    }

    public func start(_ send: @escaping EventSink) throws(Errno) {
        isRunning.store(true, ordering: .sequentiallyConsistent)
        do throws(Errno) {
            _ = try WorkThread(name: "recorder") { [self] in
                record(send)
                isRunning.store(false, ordering: .sequentiallyConsistent)
                end.advance()
            }
        } catch {
            isRunning.store(false, ordering: .sequentiallyConsistent)
            throw error
        }
    }

    private func record(_ send: EventSink) {
        while true {
            let seen = news.generation
            guard let lines = reader.take(limit: 1 << 16) else {
                news.wait(while: seen)
                continue
            }
            if lines.isEmpty { return isComplete.store(true, ordering: .sequentiallyConsistent) }
            if !send(lines) { return }
            sent.add(1, ordering: .relaxed)
        }
    }

    func awaitEnd() {
        let seen = end.generation
        var before = -1
        while isRunning.load(ordering: .sequentiallyConsistent), sent.load(ordering: .relaxed) != before {
            before = sent.load(ordering: .relaxed)
            if end.wait(while: seen, milliseconds: Self.patience) { return }
        }
    }
}
