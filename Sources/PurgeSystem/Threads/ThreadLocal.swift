import Glibc

/// A pointer of which each thread has its own, nil until it is set.
public struct ThreadLocal: Sendable {
    private let key: pthread_key_t

    /// - Parameter end: called with the pointer of a thread that ends, if it is not nil.
    public init(end: (@convention(c) (UnsafeMutableRawPointer?) -> Void)? = nil) {
        var key = pthread_key_t()
        pthread_key_create(&key, end)
        self.key = key
    }

    public var pointer: UnsafeMutableRawPointer? {
        get { pthread_getspecific(key) }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}
