import CSQLite
import Glibc
import PurgeSystem
import Synchronization

/// How SQLite reaches files: a VFS of our own over SQLite's. A store may have been made by an attacker, and
/// nothing in it must lead out of it.
enum DatabaseFiles {
    /// For sqlite3_open_v2.
    static let name = "purgefs"
    /// SQLITE_OK once the VFS is known to SQLite.
    static let registration: Int32 = register()

    /// The errno with which a file could not be created for lack of room: SQLite then tries to open it without
    /// creating it, and reports only that error.
    static let lackOfRoom = Atomic<Int32>(0)

    private static func register() -> Int32 {
        guard let original = sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        _ = original.pointee.xSetSystemCall?(original, "open", unsafeBitCast(open, to: sqlite3_syscall_ptr.self))
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        copy.initialize(to: original.pointee)
        copy.pointee.pNext = nil
        copy.pointee.zName = UnsafePointer(strdup(name))
        copy.pointee.xOpen = { _, name, file, flags, outFlags in
            // A rollback journal can name any file of the host as its super-journal, and SQLite would read and remove
            // it.
            guard flags & SQLITE_OPEN_SUPER_JOURNAL == 0, let original = sqlite3_vfs_find(nil),
                let open = original.pointee.xOpen
            else { return SQLITE_CANTOPEN }
            return open(original, name, file, flags, outFlags)
        }
        return sqlite3_vfs_register(copy, 0)
    }

    /// open(2) for SQLite: only plain files, readable by their owner only, and without waiting for the other end of a
    /// FIFO. (SQLite opens a directory to sync it.)
    private static let open: @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32 = { path, flags, _ in
        guard let path else { return -1 }
        let file = opened(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOSPC || errno == EDQUOT { lackOfRoom.store(errno, ordering: .relaxed) }
            return -1
        }
        var status = stat()
        let isJournal = isOfJournal(path)
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == (isJournal ? S_IFREG : S_IFDIR) { return file }
        close(file)
        errno = ELOOP
        return -1
    }

    /// Whether the last name in the path is the journal's, or that of a file beside it. (SQLite opens its rollback journal
    /// at the beginning of each transaction.)
    private static func isOfJournal(_ path: UnsafePointer<CChar>) -> Bool {
        let name = strrchr(path, 0x2F).map { UnsafePointer($0 + 1) } ?? path
        return strncmp(name, JournalSchema.fileName, JournalSchema.fileName.utf8.count) == 0
    }

    /// A file that is created gets the store's owner. (SQLite gives the rollback journal the database's owner.)
    private static func opened(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
        guard flags & O_CREAT != 0, flags & O_EXCL == 0 else { return Glibc.open(path, flags, 0o600) }
        let made = Glibc.open(path, flags | O_EXCL, 0o600)
        guard made >= 0 else { return errno == EEXIST ? Glibc.open(path, flags & ~O_CREAT) : -1 }
        do throws(Errno) {
            let store = try FileDescriptor.open(String(cString: path).parentPath, System.openPath | O_DIRECTORY)
            StoreDirectory.give(made, toOwnerOf: store.raw)
        } catch {}
        return made
    }
}
