import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

/// A request of the kernel while it is served: its content, and the ways to answer it.
///
/// A callback decodes, calls the volume and answers with one of the functions below. These functions also release the state
/// that is kept for a call until its answer is sent, so that a `Reply` has only to reply.
struct Request {
    let raw: fuse_req_t
    let server: Server

    /// Returns nil only without a request; libfuse always passes one.
    init?(_ request: fuse_req_t?) {
        guard let request else { return nil }
        raw = request
        server = Server.of(request)
    }

    var volume: Volume { server.volume }
    var caller: Caller {
        let context = fuse_req_ctx(raw).pointee
        return Caller(owner: context.uid, group: context.gid, tid: context.pid, umask: context.umask)
    }
    /// The calling thread: FUSE does not name the process.
    var tid: pid_t { fuse_req_ctx(raw).pointee.pid }

    func node(_ id: fuse_ino_t) -> Node { server.node(id) }
}

// Answers.
extension Request {
    /// Runs `body`. Answers with its error, or passes its value to `send` with the reply.
    func answer<Value>(_ body: () throws(Errno) -> Value, _ send: (consuming Reply, Value) -> Void) {
        do throws(Errno) {
            let value = try body()
            send(reply(), value)
        } catch {
            fail(error)
        }
    }

    /// Answers a call that may purge, as `answer(_:_:)` answers other calls. The answer, even an error, is sent when the purged
    /// names are gone for every process.
    func answer<Value: Sendable>(
        purging body: (inout AnnouncementDebt) throws(Errno) -> Value,
        _ send: @escaping @Sendable (consuming Reply, Value) -> Void
    ) {
        volume.answering(body).pay { outcome in
            answer({ () throws(Errno) in try outcome.get() }, send)
        } later: {
            let pending = later()
            return { pending.end($0, send) }
        }
    }

    func done(_ body: () throws(Errno) -> Void) { answer(body) { reply, _ in reply.done() } }

    /// Answers with an entry. If the kernel has not accepted the answer, for example because the request was interrupted, the
    /// kernel holds no reference to the entry. The reference counted for it is then dropped.
    func entry(_ body: () throws(Errno) -> Entry) {
        let volume = volume  // the answer frees the request
        answer(body) { reply, entry in
            if !reply.entry(entry) { volume.forget(entry.node, count: 1) }
        }
    }

    func fail(_ error: Errno) {
        let reply = reply()
        // After ESTALE, the kernel looks the name up again and repeats the call.
        if error == .stale { volume.retries.begin(tid) }
        reply.error(error)
    }

    /// Creates the reply. Called when the work is done, because it releases the state kept for a second attempt at the call.
    func reply() -> Reply {
        if volume.areRetries { volume.retries.finish(RawRequest.current.call) }
        return Reply(raw)
    }

    /// Creates an answer that another thread will give.
    func later() -> PendingReply {
        if volume.areRetries { volume.retries.finish(RawRequest.current.call) }
        return PendingReply(self)
    }
}

/// An answer that another thread sends. Like a `Reply`, it is sent only once, and is EIO if nobody sends it.
// @unchecked: `request` is taken once, by the thread that answers.
final class PendingReply: @unchecked Sendable {
    private var request: Request?

    init(_ request: Request) { self.request = request }

    /// Whether the kernel has asked to end the request early. Called only before `take`.
    var isInterrupted: Bool { request.map { fuse_req_interrupted($0.raw) != 0 } ?? false }

    func take() -> Reply? {
        defer { request = nil }
        return request.map { Reply($0.raw) }
    }

    func end<Value>(_ result: Result<Value, Errno>, _ send: (consuming Reply, Value) -> Void) {
        guard let request, let reply = take() else { return }
        switch result {
        case .success(let value): send(reply, value)
        case .failure(let error):
            if error == .stale { request.volume.retries.begin(request.tid) }
            reply.error(error)
        }
    }

    deinit { _ = take() }
}
