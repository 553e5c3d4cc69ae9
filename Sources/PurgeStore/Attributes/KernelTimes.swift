import Glibc
import PurgeModel

// The one conversion between times of the kernel and of the model.
extension FileTime {
    public init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }

    public var timespec: timespec { .init(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds)) }
}

extension Instant {
    public init(_ time: timespec) { self.init(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec)) }

    public var timespec: timespec {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // The fraction of a second is never negative.
        return .init(
            tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }
}
