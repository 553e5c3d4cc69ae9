import PurgeSystem
import Synchronization

/// Shows others that a mount is over while its daemon still has the store: a file in the daemon's memory.
public final class EndingMark: Sendable {
    static let name = "purgefs-ending"

    private let file = Mutex<FileDescriptor?>(nil)

    public init() {}

    /// Lasts as long as this object. Without a descriptor for it another mount waits for less time.
    public func set() {
        do throws(Errno) {
            let made = try System.makeMemoryFile(Self.name)
            file.withLock { $0 = made }
        } catch {}
    }
}
