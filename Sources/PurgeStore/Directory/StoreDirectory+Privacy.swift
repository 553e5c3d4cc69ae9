import Glibc
import PurgeSystem

extension StoreDirectory {
    static let extentsName = "extents"

    /// Restricts the modes: 0700 for the directory and `extents`, and 0600 for files whose names begin with `device.json` or
    /// `journal.sqlite`. Entries whose mode this process may not change keep it, for example in another user's store.
    func makePrivate() throws(StoreError) {
        do throws(Errno) {
            try tighten(".", to: 0o700)
            for name in try descriptor.open(".", O_RDONLY | O_DIRECTORY).entryNames() {
                if name == Self.extentsName { try tighten(name, to: 0o700) }
                if name.hasPrefix(DeviceFile.name) || name.hasPrefix("journal.sqlite") {
                    try tighten(name, to: 0o600)
                }
            }
        } catch { throw .failed("the store cannot be made private to its owner", path: path, error) }
    }

    /// Removes the permissions beyond `mode`. Skips missing entries, entries that are neither files nor folders, and entries
    /// whose mode may not be changed.
    private func tighten(_ name: String, to mode: mode_t) throws(Errno) {
        do throws(Errno) {
            let status = try System.status(at: descriptor.raw, name)
            let kind = status.st_mode & S_IFMT
            guard kind == S_IFDIR || kind == S_IFREG, status.st_mode & 0o7777 & ~mode != 0 else { return }
            try System.changeMode(at: descriptor.raw, name, status.st_mode & mode)
        } catch  where [.noEntry, .notPermitted, .readOnly].contains(error) {}
    }
}
