import Glibc

/// Lets threads wait for an announcement by another thread.
///
/// The announcer changes the state under the state's own lock, and then calls `advance`. The waiter reads `generation` before
/// it looks at the state, so it misses no announcement.
public final class Gate: @unchecked Sendable {
    // @unchecked: `count` and `waiting` are only touched under `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var count: UInt64 = 0
    private var waiting = 0

    public init() {
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    public var generation: UInt64 {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return count
    }

    /// The number of waiting threads, for tests.
    public var waiters: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return waiting
    }

    /// Returns the generation to pass to `wait(while:)`, or nil if `isOver` returns true. It is for a loop that waits until
    /// something is over: if the end is announced after this check, the wait ends at once.
    public func generation(unless isOver: () -> Bool) -> UInt64? {
        let seen = generation
        return isOver() ? nil : seen
    }

    public func advance() {
        pthread_mutex_lock(mutex)
        count &+= 1
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until the generation is no longer `seen`.
    public func wait(while seen: UInt64) {
        pthread_mutex_lock(mutex)
        waiting += 1
        while count == seen { pthread_cond_wait(condition, mutex) }
        waiting -= 1
        pthread_mutex_unlock(mutex)
    }

    /// Waits like `wait(while:)` for at most `milliseconds`; returns false if the time ran out.
    @discardableResult
    public func wait(while seen: UInt64, milliseconds: Int64) -> Bool {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = Int64(deadline.tv_nsec) + milliseconds % 1000 * 1_000_000
        deadline.tv_sec += Int(milliseconds / 1000 + nanoseconds / 1_000_000_000)
        deadline.tv_nsec = Int(nanoseconds % 1_000_000_000)
        pthread_mutex_lock(mutex)
        waiting += 1
        defer {
            waiting -= 1
            pthread_mutex_unlock(mutex)
        }
        while count == seen {
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return count != seen }
        }
        return true
    }
}
