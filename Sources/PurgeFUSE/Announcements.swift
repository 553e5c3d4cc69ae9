import Glibc
import PurgeSystem
import PurgeVolume
import Synchronization

/// Announcements on their way to the kernel, and the answers that wait for them: given by a thread of
/// its own, in order, once the kernel has been told, or when that takes too long.
///
/// The kernel takes a directory's lock to be told of one of its names. rename(2), unlink(2) and link(2)
/// take that lock too, and then the lock of the file they are about, which the kernel holds for whoever
/// writes that file or cuts it. So where the answer to a write waits for a name in a directory that
/// such a call holds, each would wait for the other for ever. An answer therefore does not wait
/// for a notifier that cannot get on: the kernel is made to ask anew for all that it remembers of the
/// names, which needs no such lock, the answer is given, and the directory's watchers are told when it is free.
final class Announcements: Sendable {
    private final class Pending: @unchecked Sendable {
        // @unchecked: `answer` and `isForgotten` are the answering thread's alone.
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
        /// In the order in which the notifier tells of them.
        var pending: [Pending] = []
        /// Of the first of them, which have been told of: those removals of each that could not be.
        var told: [[Int]] = []
    }
    private let state = Mutex(State())
    private let thread = WakefulThread()
    /// Names told of.
    private let progress = Atomic<UInt64>(0)

    /// Nanoseconds that an answer waits for a notifier which waits for a lock.
    private static let patience: Int64 = 25_000_000
    /// The same where it waits for anything else, the processor for one.
    private static let longPatience: Int64 = 2_000_000_000
    /// Milliseconds between two looks at a notifier that has work.
    private static let interval: Int64 = 5

    /// - Parameters:
    ///   - notifier: the thread that tells the kernel.
    ///   - forget: makes the kernel ask anew for all that it remembers of these names, and takes none of its locks.
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

    /// Where a removal of the announcement of which the notifier is telling has gone with its directory.
    func whereabouts(of removal: Int) -> PurgedName? {
        let announcement = state.withLock { $0.pending[$0.told.count].announcement }
        return announcement.whereabouts(announcement.removals[removal])
    }

    /// The notifier has told of one more name.
    func advance() { progress.add(1, ordering: .relaxed) }

    /// The notifier has told of the first announcement of which it had not, but for those of its removals.
    func finishNext(unreached: [Int]) {
        state.withLock { $0.told.append(unreached) }
        progress.add(1, ordering: .relaxed)
        thread.wake()
    }

    /// Returns when all answers have been given; nothing may be added any more.
    func end() { thread.end() }

    /// The last sign that the notifier gets on.
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

    /// The moment before which an announcement must have come to have waited long enough; nil while
    /// the notifier gets on.
    private func limit(of notifier: pid_t, since lastProgress: Int64) -> Int64? {
        let now = System.uptime()
        if now - lastProgress > Self.longPatience { return now - Self.longPatience }
        guard now - lastProgress > Self.patience, System.isBlocked(thread: notifier) else { return nil }
        return now - Self.patience
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
