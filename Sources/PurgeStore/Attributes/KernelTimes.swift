import Glibc
import PurgeModel

// Conversions between the kernel's times and the model's.
extension FileTime {
    public init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }

    public var timespec: timespec { .init(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) }
}

extension Instant {
    public init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }

    public var timespec: timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // tv_nsec must not be negative.
        return .init(
            tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }
}
