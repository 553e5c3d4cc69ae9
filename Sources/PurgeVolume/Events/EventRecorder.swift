import PurgeSystem
import Synchronization

/// Takes events as JSON lines, whole or in pieces; false when it takes no more.
public typealias EventSink = @Sendable ([UInt8]) -> Bool

/// Hands every event of a mount, from the first to the last, to whoever started the daemon. A thread of its own does
/// it: a slow sink makes it miss events (a `dropped` record tells of them), and holds nobody up.
public final class EventRecorder: Sendable {
    /// Milliseconds that the end of a mount waits for a sink that does not take what is left.
    private static let patience: Int64 = 5000

    let reader: EventReader
    private let news = Gate()
    private let end = Gate()
    private let isRunning = Atomic<Bool>(false)

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
            if lines.isEmpty || !send(lines) { return }
        }
    }

    func awaitEnd() {
        let seen = end.generation
        if isRunning.load(ordering: .sequentiallyConsistent) { end.wait(while: seen, milliseconds: Self.patience) }
    }
}
