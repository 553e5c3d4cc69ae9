import CSystemShims
import Glibc

/// The service manager that started this program and waits for its state: systemd, or another that speaks the protocol of
/// sd_notify(3). A message is one datagram to a socket named in the environment.
public struct ServiceManager: Sendable {
    public enum Message: String, Sendable {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    private static let variable = "NOTIFY_SOCKET"
    private let address: RawText

    /// Returns the service manager, or nil if there is none. Removes the socket's name from the environment, so that programs
    /// started by this process do not send messages on its behalf. Must be called before any thread is started.
    public static func take() -> ServiceManager? {
        guard let address = getenv(variable).map({ System.rawText($0) }), address.count > 1 else { return nil }
        unsetenv(variable)
        return ServiceManager(address: address)
    }

    public func tell(_ message: Message) throws(Errno) {
        try SystemCall.done(.sendto) { shim_send_datagram(address, message.rawValue) }
    }
}
