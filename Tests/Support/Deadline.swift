import Glibc

/// Returns the seconds since a fixed moment; never decreases.
public func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
}

/// The moment at which a wait has failed.
public struct Deadline: Sendable {
    private let end: Double
    public init(seconds: Double) { end = monotonicSeconds() + seconds }
    public var hasPassed: Bool { remaining <= 0 }
    public var remaining: Double { end - monotonicSeconds() }
}

/// Waits until `condition` holds; throws an error that mentions `what` after `seconds`.
public func eventually(within seconds: Double = Scale.patience, _ what: String, _ condition: () throws -> Bool) throws {
    let deadline = Deadline(seconds: seconds)
    var pause: UInt32 = 100
    while try !condition() {
        if deadline.hasPassed { throw TestFailure("not within \(seconds) s: \(what)") }
        usleep(pause)
        pause = min(pause * 2, 5000)
    }
}
