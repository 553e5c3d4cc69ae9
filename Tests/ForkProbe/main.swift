import Glibc
import PurgeSystem
import Synchronization

// Tests whether a forked copy of a process that has already run code can wake one of its own threads. The thread waits for a
// Mutex (argument `mutex`), or for the initialization of a global. Exits with 0 if the thread continues within 20 s, and
// otherwise with another status.

final class Meeting: Sendable {
    let lock = Mutex(0)
    let waiter = Atomic<Int32>(0)
    let isHeld = Atomic<Bool>(false)

    /// Returns once the waiter sleeps; called by the holder.
    func awaitWaiter() {
        isHeld.store(true, ordering: .sequentiallyConsistent)
        while !isAsleep(waiter.load(ordering: .sequentiallyConsistent)) {}
    }

    /// Runs `work` on another thread once this thread holds the resource that `work` needs.
    func waiting(_ work: @escaping @Sendable () -> Void) -> WorkThread? {
        do throws(Errno) {
            return try WorkThread(name: "waiter") { [self] in
                waiter.store(System.threadID(), ordering: .sequentiallyConsistent)
                while !isHeld.load(ordering: .sequentiallyConsistent) {}
                work()
            }
        } catch { return nil }
    }

    private func isAsleep(_ thread: Int32) -> Bool {
        guard thread != 0, let file = fopen("/proc/self/task/\(thread)/stat", "r") else { return false }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 512)
        guard fgets(&line, 512, file) != nil else { return false }
        let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: ")").last?.hasPrefix(" S ") == true
    }
}

enum Globals {
    static let meeting = Meeting()
    static let made: Int = {
        meeting.awaitWaiter()
        return 1
    }()
    static let earlier: Int = Int(getpid())
}

func unlockMutex() -> Bool {
    let meeting = Meeting()
    guard let waiter = meeting.waiting({ meeting.lock.withLock { $0 += 1 } }) else { return false }
    meeting.lock.withLock { _ in meeting.awaitWaiter() }
    waiter.join()
    return meeting.lock.withLock { $0 } == 1
}

func makeGlobal() -> Bool {
    guard let waiter = Globals.meeting.waiting({ _ = Globals.made }) else { return false }
    let made = Globals.made
    waiter.join()
    return made == 1
}

// Use a Mutex and initialize a global on this thread before the copy is created.
Mutex(0).withLock { $0 += Globals.earlier }
let isMutex = CommandLine.arguments.last == "mutex"
let passed = open("/dev/null", O_RDONLY)
let body = { @Sendable in (isMutex ? unlockMutex() : makeGlobal()) ? Int32(0) : 1 }
guard let copy = try System.forkDetached(showing: ["probe"], passing: passed, body) else { exit(3) }
for _ in 0..<2000 {
    if let end = try System.wait(for: copy, blocking: false) { exit(end == .exited(0) ? 0 : 1) }
    usleep(10_000)
}
kill(copy, SIGKILL)
exit(2)
