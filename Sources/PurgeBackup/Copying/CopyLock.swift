import Glibc
import PurgeStore
import PurgeSystem

/// Lets several processes copy one store at the same time. An ordinary user must open up what its owner has closed, and then
/// the mode of that is another one for as long as the copy takes; nobody else may take it for the mode of the original.
/// So the container has a lock of its own, shared by all that copy it, and exclusive for one that opens something up.
/// The lock of the store keeps mounts away all the time.
struct CopyLock {
    private static let pause: UInt32 = 5000

    let source: CopySource
    let progress: BackupProgress

    /// Waits for it. It lasts as long as the store is open.
    func take() throws(StoreError) {
        guard source.files.isInStore else { return }
        try take(System.lockShared)
        // flock(2) changes the lock by releasing it first, so two that do this do not wait for each other.
        if try hasClosed() { try take(System.lockExclusively) }
    }

    private func take(_ lock: (Int32) throws(Errno) -> Void) throws(StoreError) {
        let container = source.files.root.raw
        while true {
            do throws(Errno) { return try lock(container) } catch .tryAgain { usleep(Self.pause) } catch {
                throw source.files.failure("it cannot be locked", [], error)
            }
            try progress.step()
        }
    }

    private func hasClosed() throws(StoreError) -> Bool {
        if geteuid() == 0 { return false }
        var found = false
        try ContainerWalk(source: source.files, flags: .none).run { (entry) throws(StoreError) in
            try progress.step()
            found = found || source.files.isClosed(entry.status) && entry.name != nil
            return !found
        }
        return found
    }
}
