import CSystemShims
import Glibc

/// The program that has started this one as a service and waits to be told how it is: systemd, or another that speaks the
/// protocol of sd_notify(3). A message is one datagram to a socket that the environment names.
public struct ServiceManager: Sendable {
    public enum Message: String, Sendable {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    private static let variable = "NOTIFY_SOCKET"
    private let address: RawText

    /// Takes its name out of the environment, so that no program which this one starts speaks for it. nil if nobody waits.
    /// To be called before any thread is started.
    public static func take() -> ServiceManager? {
        guard let address = getenv(variable).map({ System.rawText($0) }), address.count > 1 else { return nil }
        unsetenv(variable)
        return ServiceManager(address: address)
    }

    public func tell(_ message: Message) throws(Errno) {
        try SystemCall.done(.sendto) { shim_send_datagram(address, message.rawValue) }
    }
}
