import CFuseShims
import Glibc
import PurgeStore
import PurgeSystem

/// How requests come from the kernel: `-o transport=`.
public enum TransportChoice: String, CaseIterable, Sendable {
    /// By /dev/fuse, until io_uring has been tried for longer.
    case auto
    /// By io_uring, or the mount fails.
    case ring
    /// By /dev/fuse.
    case device = "dev"
}

extension RingWorkers {
    /// Starts the threads for requests by io_uring. Returns nil if requests come by /dev/fuse. Called before the mount exists.
    static func start(
        _ choice: TransportChoice, _ service: Service, at mountpoint: String
    ) throws(StoreError) -> RingWorkers? {
        guard choice == .ring else { return nil }
        do throws(Errno) { return try RingWorkers(service) } catch {
            throw StoreError("-o transport=ring: \(reason(for: error))", path: mountpoint, advice: advice(for: error))
        }
    }

    private static func reason(for error: Errno) -> String {
        switch error {
        case Errno(ENOSYS): "this kernel has no io_uring for FUSE; Linux 6.14 and newer have it"
        case .invalid: "the daemon may not use every CPU that the machine can have"
        case .notSupported: "io_uring for FUSE is switched off"
        default: "no ring can be made: \(error)"
        }
    }

    private static func advice(for error: Errno) -> String {
        switch error {
        case .notSupported: "As root: echo Y > /sys/module/fuse/parameters/enable_uring. Or use -o transport=dev."
        case .notPermitted: "See sysctl kernel.io_uring_disabled; Docker forbids io_uring. Or use -o transport=dev."
        default: "Use -o transport=dev."
        }
    }
}
