import Glibc
import PurgeSystem

/// The state of a store when it was opened, so that a failed mount can restore it.
public struct StoreBefore: Sendable {
    private let path: String
    private let isMade: Bool
    private let mode: mode_t
    /// The names of all entries in the store's directory.
    let names: Set<String>
    /// Folders of the layout that did not exist, parents first.
    private let missing: [String]

    /// Whether there was no store yet.
    var isEmpty: Bool { !names.contains("container") && !names.contains(DeviceFile.name) }

    /// Whether device.json existed. If it did, files in the store may depend on the default protection class in it.
    public var hasSettings: Bool { names.contains(DeviceFile.name) }

    /// Records the state. With `isPrepared`, the store's start has already created the folders of the layout, so none counts as
    /// missing.
    init(_ place: StoreDirectory, isPrepared: Bool = false) throws(StoreError) {
        path = place.absolutePath
        isMade = place.isMade
        names = try place.names()
        do throws(Errno) {
            mode = try System.status(place.descriptor.raw).st_mode & 0o7777
            var missing: [String] = []
            let folders = isPrepared ? [] : ["container"] + ContainerLayout.folders.map { "container/" + $0 }
            for folder in folders where try Self.isMissing(folder, in: place.descriptor) {
                missing.append(folder)
            }
            self.missing = missing
        } catch { throw .failed("the store cannot be examined", path: place.path, error) }
    }

    /// Restores the store for a start that has released the store and left its mark. Does nothing if another process holds the
    /// lock, or has opened the store to change it since. Waits for the lock like any opening of the store. A child that was
    /// just forked may hold the lock for a moment, and the start's own daemon holds it until the daemon ends.
    public func restore(after start: String) {
        let store: StoreDirectory
        do throws(StoreError) {
            store = try StoreDirectory.open(path)
            try store.lock()
        } catch { return }
        do throws(Errno) {
            if try StartMark.take(start, from: store.descriptor) { restore(store.descriptor) }
        } catch {}
    }

    /// Removes the mark of a start that has succeeded, and nothing else.
    public func keep(after start: String) {
        do throws(Errno) {
            _ = try StartMark.take(start, from: try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY))
        } catch {}  // the mark means nothing to other starts, and the next opening of the store removes it
    }

    /// Best effort: removes the entries that purgefs has created in the store since this state was recorded. Also removes the
    /// store's directory if the opening created it, and otherwise restores the directory's mode. If anything else has been put
    /// into the store meanwhile, changes nothing. The caller holds the lock.
    func restore(_ store: FileDescriptor) {
        do throws(Errno) {
            guard try hasOnlyWhatGoes(store) else { return }
            for folder in missing.reversed() { try Self.remove(folder, in: store) }
            for name in try store.open(".", O_RDONLY | O_DIRECTORY).entryNames()
            where !names.contains(name) && goesWithTheStore(name) {
                if name == StoreDirectory.extentsName {
                    try System.removeDirectory(at: store.raw, name)
                } else {
                    try System.unlink(at: store.raw, name)
                }
            }
            if isMade {
                StoreDirectory.removeEmpty(path)
            } else if try System.status(store.raw).st_mode & 0o7777 != mode {
                try System.changeMode(store.raw, mode)
            }
        } catch {}
    }

    /// Whether the folders that were missing contain nothing but each other, a new `extents` is empty, and all other new names
    /// are names that purgefs uses.
    private func hasOnlyWhatGoes(_ store: FileDescriptor) throws(Errno) -> Bool {
        for folder in missing {
            guard let names = try Self.names(in: folder, of: store) else { continue }
            guard names.allSatisfy({ missing.contains("\(folder)/\($0)") }) else { return false }
        }
        if !names.contains(StoreDirectory.extentsName),
            try Self.names(in: StoreDirectory.extentsName, of: store)?.isEmpty == false
        {
            return false
        }
        return try store.open(".", O_RDONLY | O_DIRECTORY).entryNames().allSatisfy { name in
            names.contains(name) || StoreDirectory.isOurs(name)
        }
    }

    /// Returns the names in a folder, or nil if there is no such folder.
    private static func names(in folder: String, of store: FileDescriptor) throws(Errno) -> [String]? {
        do throws(Errno) {
            let (parent, name) = try place(of: folder, in: store)
            return try parent.open(name, O_RDONLY | O_DIRECTORY).entryNames()
        } catch .noEntry { return nil }
    }

    /// Whether a restore removes a new entry. A daemon's last message and files that were kept aside stay, and so do SQLite's
    /// files beside a journal that existed before.
    private func goesWithTheStore(_ name: String) -> Bool {
        if StoreDirectory.journalNames.contains(name) { return !names.contains(JournalSchema.fileName) }
        return [StoreDirectory.extentsName, DeviceFile.name, DeviceFile.newName, RemovalNote.name].contains(name)
    }

    /// Whether a folder is missing. It counts as present if a parent may not be searched or is not a directory.
    private static func isMissing(_ folder: String, in store: FileDescriptor) throws(Errno) -> Bool {
        do throws(Errno) {
            let (parent, name) = try place(of: folder, in: store)
            return try parent.kind(of: name) == nil
        } catch .noEntry {
            return true
        } catch .accessDenied, .notDirectory, Errno(ELOOP) {
            return false
        }
    }

    private static func remove(_ folder: String, in store: FileDescriptor) throws(Errno) {
        do throws(Errno) {
            let (parent, name) = try place(of: folder, in: store)
            try System.removeDirectory(at: parent.raw, name)
        } catch .noEntry {}
    }

    /// Returns a folder's parent directory, reached without symbolic links, and the folder's name in it.
    private static func place(of folder: String, in store: FileDescriptor) throws(Errno) -> (FileDescriptor, String) {
        var names = folder.pathNames
        let name = names.removeLast()
        var directory = store
        for parent in names { directory = try directory.open(parent, O_RDONLY | O_DIRECTORY) }
        return (directory, name)
    }
}
