import Glibc

/// A counting semaphore, for handing one item to one of several waiting threads.
public final class Semaphore: @unchecked Sendable {
    // @unchecked: sem_t is made for sharing.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    public init() { sem_init(semaphore, 0, 0) }
    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    public func signal() { sem_post(semaphore) }
    public func wait() { while sem_wait(semaphore) != 0 {} }
}
