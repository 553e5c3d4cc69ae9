import CSystemShims
import Glibc

/// The one way to the kernel. Every wrapper passes through `run`: this is where EINTR is retried.
public enum SystemCall {
    /// A shim's answer (>= 0, or -errno) as a result or an error.
    @inline(__always)
    static func run<Value: FixedWidthInteger & SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = Int32(truncatingIfNeeded: -result)
            if code != EINTR { throw Errno(code) }
        }
    }

    @inline(__always)
    static func done<Value: FixedWidthInteger & SignedInteger>(_ call: () -> Value) throws(Errno) {
        _ = try run(call)
    }
}
