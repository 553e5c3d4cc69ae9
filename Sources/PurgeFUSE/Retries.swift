import Glibc
import PurgeSystem
import PurgeVolume
import Synchronization

/// Calls that the kernel tries a second time.
///
/// A file can go between the look-up of its name and the call that needed it. Such a call is answered
/// ESTALE, upon which the kernel looks the name up anew; but it does so once only, and a second
/// ESTALE would reach the app, which no local file system does to it. So what a second look-up finds
/// is kept open until the call has come: nothing purges it, and unlinked it can still be used.
final class Retries: Sendable {
    private struct Retry {
        var began: Int64
        var kept: Handle?
    }
    private let volume: Volume
    /// By the calling thread.
    private let retries = Mutex<[pid_t: Retry]>([:])
    private let areAny = Atomic<Bool>(false)
    /// 50 ms: the kernel tries again at once. A thread that was killed meanwhile never does.
    private static let patience: Int64 = 50_000_000

    init(volume: Volume) { self.volume = volume }

    /// A thread of which the kernel tells no number (of another PID namespace) is not followed.
    func begin(_ thread: pid_t) {
        guard thread != 0 else { return }
        let old = retries.withLock { retries in
            let old = retries.updateValue(Retry(began: System.now()), forKey: thread)
            areAny.store(true, ordering: .releasing)
            return old
        }
        if let kept = old?.kept { volume.close(kept) }
    }

    /// The entry that `find` looks up, kept if the thread is trying again.
    func lookup(_ thread: pid_t, _ find: () throws(Errno) -> Entry) throws(Errno) -> Entry {
        guard areAny.load(ordering: .acquiring), retries.withLock({ $0[thread] != nil }) else { return try find() }
        while true {
            let entry = try find()
            do throws(Errno) {
                if let handle = try volume.keep(entry.node) { keep(handle, for: thread) }
                return entry
            } catch .stale {
                volume.forget(entry.node, count: 1)
            } catch {
                // It may still work without.
                return entry
            }
        }
    }

    private func keep(_ handle: Handle, for thread: pid_t) {
        let old = retries.withLock { retries -> Handle? in
            let old = retries[thread]?.kept
            if retries[thread] == nil { return handle }
            retries[thread]?.kept = handle
            return old
        }
        if let old { volume.close(old) }
    }

    /// A request of that thread has been served.
    /// - Parameter isWayThere: It belongs to the way to the file, so the call itself is still to come.
    func settle(_ thread: pid_t, isWayThere: Bool) {
        guard areAny.load(ordering: .acquiring) else { return }
        let now = System.now()
        let over = retries.withLock { retries in
            let over = retries.filter {
                $0.value.kept != nil && $0.key == thread && !isWayThere || now - $0.value.began > Self.patience
            }
            for thread in over.keys { retries[thread] = nil }
            areAny.store(!retries.isEmpty, ordering: .releasing)
            return over.values.compactMap(\.kept)
        }
        for handle in over { volume.close(handle) }
    }

    /// Nobody asks any more.
    func end() {
        let kept = retries.withLock { retries in
            defer { retries = [:] }
            return retries.values.compactMap(\.kept)
        }
        for handle in kept { volume.close(handle) }
    }
}
