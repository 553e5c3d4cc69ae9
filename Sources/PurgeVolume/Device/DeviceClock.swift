import PurgeModel
import PurgeSystem
import Synchronization

/// The time of the simulated device, which is used for last uses and the times of events. It runs with real time and may be
/// ahead of it. Waiting times are measured by `System.uptime` instead.
public final class DeviceClock: Sendable {
    private let ahead: Atomic<Int64>

    /// Makes a clock that is as far ahead of real time as the device's own.
    public convenience init(of device: Device) { self.init(secondsAhead: device.clock) }

    public init(secondsAhead: Int64 = 0) { ahead = Atomic(Self.nanoseconds(secondsAhead)) }

    public var now: Instant {
        Instant(nanoseconds: System.now() &+ ahead.load(ordering: .relaxed))
    }

    /// Sets how far the clock is ahead of real time.
    func set(secondsAhead: Int64) { ahead.store(Self.nanoseconds(secondsAhead), ordering: .relaxed) }

    private static func nanoseconds(_ seconds: Int64) -> Int64 { Instant(seconds: seconds, nanoseconds: 0).nanoseconds }
}
