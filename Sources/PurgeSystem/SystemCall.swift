import CSystemShims
import Glibc

/// The one way to the kernel. Every wrapper passes through `run`: this is where EINTR is retried.
public enum SystemCall {
    /// A shim's answer (>= 0, or -errno) as a result or an error.
    @inline(__always)
    static func run<Value: FixedWidthInteger & SignedInteger>(_ call: () -> Value) throws(Errno) -> Value {
        while true {
            let fault = shim_fault()
            let result = fault == 0 ? call() : Value(-fault)
            if result >= 0 { return result }
            let code = Int32(truncatingIfNeeded: 0 &- result)
            if code != EINTR { throw Errno(code) }
        }
    }

    /// One that waits so many milliseconds at most, or without an end if that is less than none. After
    /// an interruption it waits for what is left.
    static func wait(milliseconds: Int32, _ call: (Int32) -> Int32) throws(Errno) -> Int32 {
        let end = System.uptime() + Int64(milliseconds) * 1_000_000
        return try run {
            guard milliseconds > 0 else { return call(milliseconds) }
            return call(Int32(max(0, (end - System.uptime() + 999_999) / 1_000_000)))
        }
    }

    @inline(__always)
    static func done<Value: FixedWidthInteger & SignedInteger>(_ call: () -> Value) throws(Errno) {
        _ = try run(call)
    }
}

/// For tests: system calls of the calling thread that fail without reaching the kernel.
public struct SystemCallFaults: Sendable {
    /// Calls that still work.
    public var after: Int64
    public var code: Int32
    /// How many fail from there on.
    public var count: Int64

    public init(after: Int64, code: Int32, count: Int64 = 1) {
        self.after = after
        self.code = code
        self.count = count
    }

    /// Runs `body` with these faults; answers what it did and how many of them came up.
    public func during<Value>(_ body: () throws -> Value) -> (result: Result<Value, any Error>, hits: Int64) {
        shim_begin_faults(after, code, count)
        let result = Result { try body() }
        return (result, shim_end_faults())
    }
}
