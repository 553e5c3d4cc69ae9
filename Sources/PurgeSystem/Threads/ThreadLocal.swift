import Glibc

/// A pointer with a separate value for each thread, nil until it is set.
public struct ThreadLocal: Sendable {
    private let key: pthread_key_t

    /// - Parameter end: called when a thread ends, with its pointer, unless that is nil.
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
