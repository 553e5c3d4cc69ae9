import Glibc
import PurgeSystem
import PurgeTree

// An ordinary user's daemon is subject to the permissions in the store, although the owner may change them. A folder without
// write permission, or a file without read permission, must not prevent a purge or a mount. So the daemon temporarily gives
// itself access to its user's entries. It never does so when it opened the store only for reading, because that would change
// the store.
extension StoreAccess {
    /// Runs `body`. If `body` fails with EACCES and the daemon does not run as root, runs `body` again. If the daemon's user
    /// owns `entry`, the second run has all of the owner's permissions on it.
    func asOwner<Value>(
        of entry: FileDescriptor, _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        try asOwner(of: entry.raw, body)
    }

    func asOwner<Value>(of entry: Int32, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        do throws(Errno) { return try body() } catch {
            guard error == .accessDenied, geteuid() != 0 else { throw error }
        }
        var result: Result<Value, Errno> = .failure(.accessDenied)
        core.permissions.withLock { _ in
            do throws(Errno) { result = .success(try opened(entry, body)) } catch { result = .failure(error) }
        }
        return try result.get()
    }

    /// Runs `body` with all of the owner's permissions from the beginning, for a caller that is alone with the store.
    func asOwner<Value>(
        throughout entry: FileDescriptor, _ body: () throws(Errno) -> Value
    ) throws(Errno) -> Value {
        geteuid() == 0 ? try body() : try opened(entry.raw, body)
    }

    private func opened<Value>(_ entry: Int32, _ body: () throws(Errno) -> Value) throws(Errno) -> Value {
        let status = try System.status(entry)
        let missing = (status.isDirectoryFile ? S_IRWXU : S_IRUSR | S_IWUSR) & ~status.st_mode
        guard status.st_uid == geteuid(), missing != 0, !store.isForReading else { return try body() }
        let mode = status.st_mode & 0o7777
        try System.changeMode(entry, mode | missing)
        // The owner may change the mode, as the call above has shown.
        defer { do throws(Errno) { try System.changeMode(entry, mode) } catch {} }
        return try body()
    }

    /// Opens a directory in `parent` with O_PATH, only to reach its entries.
    func openDirectory(_ name: Name, in parent: FileDescriptor) throws(Errno) -> FileDescriptor {
        try asOwner(of: parent) { () throws(Errno) in
            try name.withCName { (name) throws(Errno) in
                try parent.open(name, System.openPath | O_DIRECTORY)
            }
        }
    }
}
