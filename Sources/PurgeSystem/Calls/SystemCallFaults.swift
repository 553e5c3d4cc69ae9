import CSystemShims
import Glibc

/// System calls of the calling thread that fail without reaching the kernel, for tests.
public struct SystemCallFaults: Sendable {
    /// The error of the failing calls. The caller never sees EINTR, because `SystemCall.run` retries.
    public var code: Int32
    /// The calls that count; nil for all.
    public var name: SystemCall.Name?
    /// The number of calls that succeed before the first fault.
    public var after: Int
    /// The number of calls that fail after the first `after`; `.max` for all. EINTR with `.max` interrupts each call once, as
    /// repeated signals would, and the retry succeeds.
    public var count: Int

    public init(after: Int, of name: SystemCall.Name? = nil, code: Int32, count: Int = 1) {
        self.after = after
        self.name = name
        self.code = code
        self.count = count
    }

    /// No faults; the calls are only listed.
    public static let none = SystemCallFaults(after: 0, code: 0, count: 0)

    /// The outcome of a body that ran with faults.
    public struct Outcome<Value> {
        public let result: Result<Value, any Error>
        /// The number of faults that occurred.
        public let hits: Int
        /// Every attempt at a call, in order, including failed attempts.
        public let calls: [SystemCall.Name]
        /// The first call that failed.
        public let firstHit: SystemCall.Name?
    }

    /// Runs `body`. Right before its first call of `name` after `earlier` such calls, runs `action` once, which stands for
    /// interference by another thread. Without a name, every call counts.
    public static func running<Value>(
        _ action: @escaping () -> Void, before name: SystemCall.Name?, after earlier: Int = 0,
        in body: () throws -> Value
    ) -> Outcome<Value> {
        SystemCallFaults(after: earlier, of: name, code: 0).during(action, body)
    }

    public func during<Value>(_ body: () throws -> Value) -> Outcome<Value> { during({}, body) }

    private func during<Value>(_ action: @escaping () -> Void, _ body: () throws -> Value) -> Outcome<Value> {
        let watch = SystemCallWatch(self, action)
        let result = watch.during(body)
        return Outcome(result: result, hits: watch.hits, calls: watch.calls, firstHit: watch.firstHit)
    }
}

/// The faults and the calls of a thread that a test watches.
final class SystemCallWatch {
    private let faults: SystemCallFaults
    /// Runs before each fault, unwatched.
    private let action: () -> Void
    private(set) var calls: [SystemCall.Name] = []
    private(set) var hits = 0
    private(set) var firstHit: SystemCall.Name?
    private var counted = 0
    /// Whether the next call retries an interrupted one.
    private var isRetry = false

    init(_ faults: SystemCallFaults, _ action: @escaping () -> Void) {
        self.faults = faults
        self.action = action
    }

    /// Watches the calls of `body`. Until `body` returns, an outer watch is suspended.
    func during<Value>(_ body: () throws -> Value) -> Result<Value, any Error> {
        let outer = shim_call_watch()
        // Unmanaged: no reference is taken, since the caller holds one until the pointer has been put back.
        shim_set_call_watch(Unmanaged.passUnretained(self).toOpaque())
        defer { shim_set_call_watch(outer) }
        return withExtendedLifetime(self) { Result { try body() } }
    }

    /// Returns the errno with which this call of the watched thread must fail, or 0.
    @inline(never)
    static func fault(of name: SystemCall.Name) -> Int32 {
        guard let watch = shim_call_watch() else { return 0 }
        // Unmanaged: `during` has set it, and keeps the object until every call in it has returned.
        return Unmanaged<SystemCallWatch>.fromOpaque(watch).takeUnretainedValue().take(name)
    }

    private func take(_ name: SystemCall.Name) -> Int32 {
        calls.append(name)
        if let only = faults.name, only != name { return 0 }
        defer { counted += 1 }
        guard counted >= faults.after, hits < faults.count else { return 0 }
        if faults.code == EINTR && faults.count == .max {
            isRetry.toggle()
            guard isRetry else { return 0 }
        }
        hits += 1
        if firstHit == nil { firstHit = name }
        let watch = shim_call_watch()
        shim_set_call_watch(nil)
        action()
        shim_set_call_watch(watch)
        return faults.code
    }
}
