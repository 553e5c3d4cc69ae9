import Glibc
import PurgeSystem
import Synchronization

/// Calls that the kernel tries a second time.
///
/// A file can disappear between the lookup of its name and the call that needed it. Such a call is answered with ESTALE, and
/// the kernel looks the name up again. But it does so only once, and a second ESTALE would reach the app, which never happens
/// with a local file system. So the file that a second lookup finds is kept open until the call arrives: nothing purges it, and
/// even if it is unlinked it can still be used.
public struct Retries: VolumeFamily {
    let core: VolumeCore

    struct Retry {
        let began = System.uptime()
        var keptSince: Int64?
        /// Two handles at most: link(2) looks up two names.
        var kept: [Handle] = []
    }
    /// How long, in nanoseconds, to wait for the second attempt: 250 ms. Usually the kernel repeats the call as soon as the
    /// thread gets the CPU. But no attempt comes if the thread has been killed in the meantime, or if the second lookup was
    /// all that the call needed.
    private static let patience: Int64 = 250_000_000
    /// 50 ms, once another call has found no room. A retried call usually comes sooner, and then keeps the file open itself.
    private static let shortPatience: Int64 = 50_000_000

    /// Whether any thread is expected to repeat a call; only then are files kept open. If not, this check is the only work that
    /// retries add to a request.
    @inline(__always)
    var areSome: Bool { core.areRetries.load(ordering: .acquiring) }

    /// Expects a second attempt from a thread. A thread whose ID the kernel does not report (in another PID namespace) is not
    /// tracked.
    public func begin(_ thread: pid_t) {
        guard thread != 0 else { return }
        let old = core.retries.withLock { retries in
            core.areRetries.store(true, ordering: .releasing)
            return retries.updateValue(Retry(), forKey: thread)
        }
        for handle in old?.kept ?? [] { openFiles.close(handle) }
    }

    /// Returns the entry that `find` looks up, and keeps it open if the thread is repeating a call.
    @inline(__always)
    func lookup(_ thread: pid_t, _ find: () throws(Errno) -> Entry) throws(Errno) -> Entry {
        guard areSome, core.retries.withLock({ $0[thread] != nil }) else { return try find() }
        for _ in 0..<100 {
            let entry = try find()
            do throws(Errno) {
                if let handle = try openFiles.keep(entry.node) { keep(handle, for: thread) }
                return entry
            } catch .stale {
                lookups.forget(entry.node, count: 1)
            } catch {
                // The call may still succeed although the file is not kept open.
                return entry
            }
        }
        return try find()
    }

    private func keep(_ handle: Handle, for thread: pid_t) {
        let superfluous = core.retries.withLock { retries -> Handle? in
            guard var retry = retries[thread] else { return handle }
            retry.keptSince = System.uptime()
            retry.kept.append(handle)
            let oldest = retry.kept.count > 2 ? retry.kept.removeFirst() : nil
            retries[thread] = retry
            return oldest
        }
        if let superfluous { openFiles.close(superfluous) }
    }

    /// Releases the files kept for a thread's call when a request of the thread is about to be answered. Also drops every retry
    /// that is older than `patience`. `thread` is 0 for a request that can come before the call; only old retries are then
    /// dropped.
    public func finish(_ thread: pid_t) {
        let now = System.uptime()
        finish { !$1.kept.isEmpty && $0 == thread || now - $1.began > Self.patience }
    }

    /// Releases files that have been kept too long, before a call uses the available room.
    @inline(__always)
    func finishOld(except thread: pid_t = 0) {
        guard areSome else { return }
        release(after: Self.patience, except: thread)
    }

    private func release(after limit: Int64, except thread: pid_t) {
        let now = System.uptime()
        finish { $0 != thread && now - ($1.keptSince ?? now) > limit }
    }

    /// Releases files kept for longer than `shortPatience`, before a command, which must find every file that may be purged.
    func finishForCommand(except thread: pid_t = 0) {
        guard areSome else { return }
        release(after: Self.shortPatience, except: thread)
    }

    /// Releases files that have lost their names, before a call reads how much room there is: they must not count.
    @inline(__always)
    func finishNameless() {
        guard areSome else { return }
        finishForCommand()
        finish { $1.kept.contains(where: openFiles.isNameless) }
    }

    /// Waits until no file is kept open for a call of another thread, or until `shortPatience` has passed. Used by a call that
    /// has found no room.
    func awaitOthers(than thread: pid_t) {
        let end = System.uptime() + Self.shortPatience
        func othersKeepFiles() -> Bool {
            core.retries.withLock { $0.contains { $0.key != thread && !$0.value.kept.isEmpty } }
        }
        while othersKeepFiles(), System.uptime() < end { usleep(500) }
        release(after: Self.shortPatience, except: thread)
    }

    /// Releases everything at the end of the mount.
    public func end() { finish { _, _ in true } }

    private func finish(where isOver: (pid_t, Retry) -> Bool) {
        let over = core.retries.withLock { retries in
            let over = retries.filter { isOver($0.key, $0.value) }
            for thread in over.keys { retries[thread] = nil }
            core.areRetries.store(!retries.isEmpty, ordering: .releasing)
            return over.values.flatMap(\.kept)
        }
        for handle in over { openFiles.close(handle) }
    }
}
