import Glibc
import PurgeSystem
import PurgeVolume
import Synchronization

/// Announcements on their way to the kernel, and the answers that wait for them. A separate thread sends the answers in order,
/// once the names have been announced or announcing them takes too long.
///
/// To announce a name, the notifier needs the kernel's lock of the directory. rename(2), unlink(2) and link(2) take that lock
/// too, and then the lock of their file, which the kernel holds while a call writes or truncates that file. If the answer to
/// such a write waited for a name in a directory that rename(2) has locked, the two calls would deadlock. So an answer does not
/// wait for a stuck notifier. Instead, the answering thread makes the kernel revalidate everything it has cached about the
/// names, which needs no such lock, and sends the answer. The notifier wakes the directory's watchers when the lock is free.
final class Announcements: Sendable {
    private final class Pending: @unchecked Sendable {
        // @unchecked: only the answering thread uses `answer` and `isForgotten`.
        let announcement: Announcement
        let since = System.uptime()
        var answer: (@Sendable (_ isLate: Bool) -> Void)?
        var isForgotten = false

        init(_ announcement: Announcement) {
            self.announcement = announcement
            answer = announcement.answer
        }
    }
    private struct State {
        /// Announcements in the order in which the notifier makes them.
        var pending: [Pending] = []
        /// One element for each announcement that has been made, in the order of `pending`: the indices of the removals that
        /// could not be announced.
        var told: [[Int]] = []
    }
    private let state = Mutex(State())
    private let thread = WakefulThread()
    /// How many steps the notifier has made. A step is an attempt to announce a name, or a finished announcement.
    private let progress = Atomic<UInt64>(0)

    /// How many nanoseconds an answer waits for a notifier that waits for a lock.
    private static let patience: Int64 = 25_000_000
    /// How many nanoseconds an answer waits for a notifier that waits for anything else, such as the processor.
    private static let longPatience: Int64 = 2_000_000_000
    /// Milliseconds between two checks of a notifier that has work.
    private static let interval: Int64 = 5

    /// Starts the answering thread.
    ///
    /// - Parameters:
    ///   - notifier: returns the kernel's ID of the announcing thread.
    ///   - forget: makes the kernel revalidate everything it has cached about these names, without taking the locks of
    ///     directories.
    func start(
        notifier: @escaping @Sendable () -> pid_t, forget: @escaping @Sendable ([Removal]) -> Void
    ) throws(Errno) {
        try thread.start(name: "answers", memory: Progress()) { [self] progress in
            look(&progress, notifier, forget)
        }
    }

    func add(_ announcement: Announcement) {
        let pending = Pending(announcement)
        let wasIdle = state.withLock { state in
            state.pending.append(pending)
            return state.pending.count == 1
        }
        if wasIdle { thread.wake() }
    }

    /// Returns the present name of a removal in the announcement that the notifier is making; nil if the removal's directory no
    /// longer exists.
    func whereabouts(of removal: Int) -> PurgedName? {
        let announcement = state.withLock { $0.pending[$0.told.count].announcement }
        return announcement.whereabouts(announcement.removals[removal])
    }

    /// Notes that the notifier has finished with one more name, whether or not it could be announced.
    func advance() { progress.add(1, ordering: .relaxed) }

    /// Notes that the notifier has made the next announcement, except for the removals in `unreached`.
    func finishNext(unreached: [Int]) {
        state.withLock { $0.told.append(unreached) }
        progress.add(1, ordering: .relaxed)
        thread.wake()
    }

    /// Waits until all answers have been sent. Nothing may be added afterwards.
    func end() { thread.end() }

    /// The last sign of progress by the notifier.
    private struct Progress {
        var names: UInt64 = 0
        var moment = System.uptime()
    }

    private func look(
        _ last: inout Progress, _ notifier: () -> pid_t, _ forget: ([Removal]) -> Void
    ) -> WakefulThread.Turn {
        let (told, rest) = state.withLock { state in
            let told = Array(zip(state.pending, state.told))
            state.pending.removeFirst(told.count)
            state.told = []
            return (told, state.pending)
        }
        for (pending, unreached) in told { finish(pending, unreached, forget) }
        if !told.isEmpty { return .again }
        if rest.isEmpty { return .idle }
        let now = progress.load(ordering: .relaxed)
        if now != last.names { last = Progress(names: now) }
        if let limit = limit(of: notifier(), since: last.moment) { giveUp(rest, limit, forget) }
        return .later(milliseconds: Self.interval)
    }

    private func finish(_ pending: Pending, _ unreached: [Int], _ forget: ([Removal]) -> Void) {
        if !unreached.isEmpty { forget(unreached.map { pending.announcement.removals[$0] }) }
        pending.announcement.told()
        pending.answer?(false)
        pending.answer = nil
    }

    /// Returns a moment in the past. Answers to announcements added before that moment must no longer wait. Returns nil if the
    /// notifier has made progress recently enough: within `patience`, or within `longPatience` if no lock blocks it.
    private func limit(of notifier: pid_t, since lastProgress: Int64) -> Int64? {
        let now = System.uptime()
        guard now - lastProgress > Self.patience else { return nil }
        if System.isBlocked(thread: notifier) { return now - Self.patience }
        return now - lastProgress > Self.longPatience ? now - Self.longPatience : nil
    }

    private func giveUp(_ pending: [Pending], _ limit: Int64, _ forget: ([Removal]) -> Void) {
        guard let last = pending.lastIndex(where: { $0.since < limit && $0.answer != nil }) else { return }
        for one in pending[...last] where !one.isForgotten {
            forget(one.announcement.removals)
            one.isForgotten = true
        }
        for one in pending[...last] {
            one.answer?(true)
            one.answer = nil
        }
    }
}
