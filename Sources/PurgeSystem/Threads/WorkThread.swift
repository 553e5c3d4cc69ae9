import CSystemShims
import Glibc

/// A plain POSIX thread, for work that a FUSE daemon must not hand to Dispatch.
public final class WorkThread: @unchecked Sendable {
    // @unchecked: `handle` is written once in init and read by join.
    private var handle = pthread_t()
    private final class Body {
        let run: @Sendable () -> Void
        let name: String
        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts the thread at once. top and gdb show the first 15 bytes of `name`.
    public init(name: String, _ run: @escaping @Sendable () -> Void) throws(Errno) {
        // Unmanaged: the new thread owns the reference; without a thread it is released here.
        let body = Unmanaged.passRetained(Body(name: name, run: run))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 1 << 20)
        let code = pthread_create(
            &handle, &attributes,
            { argument in
                guard let argument else { return nil }
                // Unmanaged: this thread owns the reference that it was given.
                let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                shim_set_thread_name(body.name)
                let stack = shim_begin_thread()
                body.run()
                shim_end_thread(stack)
                return nil
            }, body.toOpaque())
        pthread_attr_destroy(&attributes)
        guard code == 0 else {
            body.release()
            throw Errno(code)
        }
    }

    public func join() { pthread_join(handle, nil) }
}
