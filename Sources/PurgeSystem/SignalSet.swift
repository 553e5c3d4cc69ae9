import CSystemShims
import Glibc

public struct SignalSet: OptionSet, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The signals that tell this process to end.
    public static var ending: SignalSet { SignalSet(SIGINT, SIGTERM, SIGHUP, SIGQUIT).withoutIgnored }

    /// The signals of the set, less any that this process was started to ignore (by `nohup`, or in the background of a
    /// script). While it is blocked, even an ignored signal becomes pending.
    public var withoutIgnored: SignalSet { SignalSet(rawValue: shim_without_ignored(rawValue)) }

    public var numbers: [Int32] { (1...64).filter { contains(SignalSet($0)) } }

    public init(_ signals: Int32...) {
        rawValue = signals.reduce(0) { $0 | 1 << UInt64($1 - 1) }
    }
}

/// A signal that has arrived.
public struct ReceivedSignal: Sendable {
    public var number: Int32
    /// Whether the kernel sent the signal. A signal from a terminal goes to its whole foreground group, including our
    /// children.
    public var isFromKernel: Bool
}

/// How a process ended.
public enum ProcessEnd: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)

    /// Decodes the status of waitpid(2); nil while the process is only stopped.
    init?(status: Int32) {
        if status & 0x7F == 0 {
            self = .exited((status >> 8) & 0xFF)
        } else if status & 0xFF != 0x7F {
            self = .killed(signal: status & 0x7F)
        } else {
            return nil
        }
    }

    /// The exit status that a shell shows: 128 + N for signal N.
    public var exitStatus: Int32 {
        switch self {
        case .exited(let status): status
        case .killed(let signal): 128 + signal
        }
    }
}
