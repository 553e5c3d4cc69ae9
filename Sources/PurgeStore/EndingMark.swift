import PurgeSystem
import Synchronization

/// A named file in memory with which a daemon shows other processes that its mount is over, although the daemon still holds the
/// store.
public final class EndingMark: Sendable {
    static let name = "purgefs-ending"

    private let file = Mutex<FileDescriptor?>(nil)

    public init() {}

    /// Sets the mark for the lifetime of this object. Without a free descriptor there is no mark, and another mount merely
    /// waits for less time.
    public func set() {
        do throws(Errno) {
            let made = try System.makeMemoryFile(Self.name)
            file.withLock { $0 = made }
        } catch {}
    }
}
