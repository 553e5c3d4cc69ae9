import Glibc
import PurgeStore
import PurgeSystem

/// Lets several processes copy one store at the same time. When an ordinary user copies a store, each entry that denies its
/// owner access gets another mode while it is copied. No other process may take that mode for the original one. So there is a
/// second lock, on the container's directory. Copying processes share this lock, but a process that changes modes holds it
/// exclusively. Throughout, the lock of the store keeps mounts away.
struct CopyLock {
    private static let pause: UInt32 = 5000

    let source: CopySource
    let progress: BackupProgress

    /// Waits for the lock of the container, which is held as long as the store is open. Does nothing for an ordinary directory.
    func take() throws(StoreError) {
        guard source.files.isInStore else { return }
        try take(System.lockShared)
        // flock(2) releases the shared lock before it takes the exclusive one, so two processes that do this do not deadlock.
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
