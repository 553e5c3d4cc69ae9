import PurgeSystem
import Synchronization

/// Shows other processes that a mount is over while its daemon still holds the store: a named file in the daemon's memory.
public final class EndingMark: Sendable {
    static let name = "purgefs-ending"

    private let file = Mutex<FileDescriptor?>(nil)

    public init() {}

    /// Sets the mark for the lifetime of this object. If no descriptor is left for it, another mount only waits for less time.
    public func set() {
        do throws(Errno) {
            let made = try System.makeMemoryFile(Self.name)
            file.withLock { $0 = made }
        } catch {}
    }
}
