import Glibc
import PurgeSystem

/// The open directory of a store, before anything is known about its content.
struct StoreDirectory: Sendable {
    let path: String
    let absolutePath: String
    let descriptor: FileDescriptor
    /// Whether the directory was created by this opening.
    let isMade: Bool
    /// Whether the store is removed when the processes that use it have ended, so that nothing in it needs a sync.
    private(set) var isTemporary = false

    /// Returns the same directory, marked as temporary if it lies in `start`, the directory of a start. The start removes
    /// `start` and everything in it when the start ends.
    func belonging(to start: String?) -> StoreDirectory {
        var directory = self
        directory.isTemporary = start.map { absolutePath.isPath(below: $0) } ?? false
        return directory
    }

    /// Returns whether purgefs uses the name in a store. Names that begin with `device.json` or `journal.sqlite` count, and so
    /// does `lost+found`, which mkfs makes at the top of a file system.
    static func isOurs(_ name: String) -> Bool {
        name == "container" || name == "extents" || name == PurgedFolders.name || name == "lost+found"
            || name == lastWordsName || name == oldLastWordsName || name.hasPrefix("device.json")
            || name.hasPrefix("journal.sqlite")
    }

    /// The journal, and the files that SQLite creates beside it.
    static let journalNames = ([""] + journalParts).map { JournalSchema.fileName + $0 }
    /// Suffixes of the files that SQLite may keep beside the journal.
    static let journalParts = ["-journal", "-wal", "-shm"]

    /// Opens the directory without taking its lock, which is enough to read content that a daemon may be changing. With
    /// `creating`, creates a directory that does not exist. With `expected`, refuses any other directory without changing it.
    static func open(
        _ path: String, creating: Bool = false, expected: ExpectedStore? = nil
    ) throws(StoreError) -> StoreDirectory {
        guard !path.isEmpty else {
            throw StoreError("the name of the store is empty", path: "''", advice: "Name a directory.")
        }
        let absolutePath = try absolute(path)
        do throws(Errno) {
            let descriptor = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
            if let expected, try expected != .directory(FileIdentity(of: descriptor)) { throw .stale }
            return StoreDirectory(path: path, absolutePath: absolutePath, descriptor: descriptor, isMade: false)
        } catch {
            if let failure = expected?.failure(error, path) { throw failure }
            guard creating, error == .noEntry else { throw refusal(path, error) }
        }
        return StoreDirectory(
            path: path, absolutePath: absolutePath, descriptor: try make(path), isMade: true)
    }

    /// Takes the lock, which lasts as long as `descriptor`. Waits a little, because a child of the last holder may have the lock
    /// for a moment between fork and exec. Waits longer for a daemon whose mount is gone, which keeps the lock until it has
    /// released everything the mount held. With `forCopying`, the lock is shared with other processes that only copy the store.
    func lock(forCopying: Bool = false) throws(StoreError) {
        let began = System.uptime()
        var deadline = began + Self.shortTime
        while true {
            do {
                return try forCopying ? System.lockShared(descriptor.raw) : System.lockExclusively(descriptor.raw)
            } catch .tryAgain {
                let holder = StoreHolder.process(of: descriptor)
                let isEnding = holder.map { StoreHolder.isEndingDaemon($0.pid, of: absolutePath) } ?? false
                let now = System.uptime()
                if isEnding { deadline = min(now + Self.graceTime, began + Self.endingTime) }
                // /proc may show no holder because the holder is dead and its child has not called exec yet, which may take a
                // while on a busy machine.
                if holder == nil { deadline = max(deadline, began + Self.graceTime) }
                guard now < deadline else { throw Self.busy(path, holder: holder, isEnding: isEnding) }
                guard System.endSignal() == nil else { throw .interrupted(path) }
                usleep(5000)
            } catch { throw .failed("the store cannot be locked", path: path, error) }
        }
    }
    /// Waiting times in nanoseconds.
    private static let shortTime: Int64 = 250_000_000
    private static let endingTime: Int64 = 10_000_000_000
    private static let graceTime: Int64 = 2_000_000_000

    /// Returns the names of all entries in the directory except `.` and `..`.
    func names() throws(StoreError) -> Set<String> {
        do {
            return Set(try descriptor.open(".", O_RDONLY | O_DIRECTORY).entryNames())
        } catch { throw .failed("the store cannot be listed", path: path, error) }
    }

    func makeFresh(_ name: String) throws(Errno) -> FileDescriptor {
        try remove(name)
        let file = try descriptor.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        giveToOwner(file.raw)
        return file
    }

    func remove(_ name: String) throws(Errno) {
        do { try System.unlink(at: descriptor.raw, name) } catch .noEntry {}
    }

    func pathOf(_ name: String) -> String { path.hasSuffix("/") ? path + name : path + "/" + name }
    func databasePlace(of name: String) -> DatabasePlace { DatabasePlace(directory: descriptor, name: name) }

    private static func make(_ path: String) throws(StoreError) -> FileDescriptor {
        do throws(Errno) {
            let parent = try FileDescriptor.open(path.parentPath, System.openPath | O_DIRECTORY)
            return try NewDirectory.make(path.pathNames.last ?? path, in: parent)
        } catch .stale {
            throw StoreError(
                "another process replaced the store while it was being made", path: path,
                advice: "The other directory was not changed. Name a store in a directory that only you can change.")
        } catch NewDirectory.unproven {
            throw .unproven("the store", path: path)
        } catch .noEntry {
            throw StoreError(
                "the store cannot be made: the directory above it does not exist", path: path,
                advice: "Check the path, or make that directory first (mkdir -p).")
        } catch .exists {
            throw StoreError(
                "is a symbolic link to something that does not exist", path: path,
                advice: "Remove the link, or make the directory that it points to.")
        } catch { throw .failed("the store cannot be made", path: path, error) }
    }

    /// Removes a directory that was just created, if it is empty. `path` is absolute and without links.
    static func removeEmpty(_ path: String) {
        do throws(Errno) {
            let parent = try FileDescriptor.openWithoutLinks(path.parentPath.utf8)
            try System.removeDirectory(at: parent.raw, path.pathNames.last ?? path)
        } catch {}
    }

    static func refusal(_ path: String, _ error: Errno) -> StoreError {
        switch error {
        case .noEntry:
            return StoreError(
                "there is no store here", path: path,
                advice: "Check the path; `purgefs mount` makes a store that does not exist.")
        case .notDirectory where FileDescriptor.exists(path):
            return StoreError(
                "is a file; a store is a directory", path: path,
                advice: "Name a directory, or a new name for `purgefs mount` to make one.")
        default:
            return .failed("the store cannot be opened", path: path, error)
        }
    }

    private static func busy(_ path: String, holder: StoreHolder.Process?, isEnding: Bool) -> StoreError {
        let who = holder.map { "process \($0.pid)" } ?? "another process"
        if holder?.isCopying == true {
            return StoreError("the store is being copied by \(who)", path: path, advice: "Wait until that has ended.")
        }
        if isEnding {
            return StoreError(
                "the store is in use by \(who), whose mount is gone; it ends when the last open file is closed",
                path: path, advice: "Close the files that are open there, or end that process.")
        }
        return StoreError(
            "the store is in use by \(who); one mount at a time can hold it", path: path,
            advice: "Unmount it first (`purgefs unmount MOUNTPOINT`), or use another store.")
    }

    private static func absolute(_ path: String) throws(StoreError) -> String {
        do throws(Errno) {
            return try System.resolvedOrParent(path)
        } catch .illegalByteSequence {
            throw .failed("the store cannot be opened", path: path, .illegalByteSequence)
        } catch { return path }  // opening it will show why
    }
}
