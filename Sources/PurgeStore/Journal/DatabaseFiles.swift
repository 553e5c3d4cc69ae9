import CSQLite
import Glibc
import PurgeSystem
import Synchronization

/// How SQLite reaches files: a VFS of our own on top of SQLite's. An attacker may have created the store, so nothing in the
/// store may lead out of it.
enum DatabaseFiles {
    /// The name of the VFS for sqlite3_open_v2.
    static let name = "purgefs"
    /// SQLITE_OK once the VFS is registered.
    static let registration: Int32 = register()

    /// The errno of the last file in this step that could not be opened for lack of room, or 0. SQLite then tries to open the
    /// file without creating it, and reports only the second error.
    static let lackOfRoom = Atomic<Int32>(0)

    private static func register() -> Int32 {
        guard let original = sqlite3_vfs_find(nil) else { return SQLITE_ERROR }
        for (name, call) in calls { _ = original.pointee.xSetSystemCall?(original, name, call) }
        let copy = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        copy.initialize(to: original.pointee)
        copy.pointee.pNext = nil
        copy.pointee.zName = UnsafePointer(strdup(name))
        copy.pointee.xOpen = { _, name, file, flags, outFlags in
            // A rollback journal can name any file of the host as its super-journal, and SQLite would read and remove that file.
            guard flags & SQLITE_OPEN_SUPER_JOURNAL == 0, let original = sqlite3_vfs_find(nil),
                let open = original.pointee.xOpen
            else { return SQLITE_CANTOPEN }
            return open(original, name, file, flags, outFlags)
        }
        // SQLite's own function would look for symbolic links in a path that only `DatabasePlace` understands.
        copy.pointee.xFullPathname = { _, name, room, full in
            guard let name, let full, strlen(name) < room else { return SQLITE_CANTOPEN }
            strcpy(full, name)
            return SQLITE_OK
        }
        return sqlite3_vfs_register(copy, 0)
    }

    /// Replacements for the functions that SQLite calls with paths.
    private static var calls: [(String, sqlite3_syscall_ptr)] {
        [
            ("open", unsafeBitCast(open, to: sqlite3_syscall_ptr.self)),
            ("stat", unsafeBitCast(status, to: sqlite3_syscall_ptr.self)),
            ("access", unsafeBitCast(access, to: sqlite3_syscall_ptr.self)),
            ("unlink", unsafeBitCast(unlink, to: sqlite3_syscall_ptr.self)),
        ]
    }

    private static let status: @convention(c) (CName?, UnsafeMutablePointer<stat>?) -> Int32 = { path, status in
        guard let path, let status else { return -1 }
        guard let (directory, name) = DatabasePlace.parts(of: path) else { return stat(path, status) }
        return fstatat(directory, name ?? CName(path), status, AT_SYMLINK_NOFOLLOW)
    }

    private static let access: @convention(c) (CName?, Int32) -> Int32 = { path, mode in
        guard let path else { return -1 }
        guard let (directory, name) = DatabasePlace.parts(of: path) else { return Glibc.access(path, mode) }
        return faccessat(directory, name ?? CName(path), mode, AT_SYMLINK_NOFOLLOW)
    }

    private static let unlink: @convention(c) (CName?) -> Int32 = { path in
        guard let path else { return -1 }
        guard let (directory, name) = DatabasePlace.parts(of: path) else { return Glibc.unlink(path) }
        return unlinkat(directory, name ?? CName(path), 0)
    }

    /// open(2) for SQLite: opens only plain files in a `DatabasePlace`, and the directory itself, which SQLite syncs. Creates
    /// files that only their owner can read. Never waits for the other end of a FIFO.
    private static let open: @convention(c) (CName?, Int32, Int32) -> Int32 = { path, flags, _ in
        guard let path, let (directory, name) = DatabasePlace.parts(of: path) else {
            errno = ENOENT
            return -1
        }
        let file = opened(directory, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOSPC || errno == EDQUOT { lackOfRoom.store(errno, ordering: .relaxed) }
            return -1
        }
        var status = stat()
        if fstat(file, &status) == 0, status.st_mode & S_IFMT == (name == nil ? S_IFDIR : S_IFREG) { return file }
        close(file)
        errno = ELOOP
        return -1
    }

    /// Opens a file, and gives one that it creates to the store's owner. (SQLite itself gives the rollback journal the
    /// database's owner.)
    private static func opened(_ directory: Int32, _ name: CName?, _ flags: Int32) -> Int32 {
        guard let name else { return openat(directory, ".", flags) }
        guard flags & O_CREAT != 0, flags & O_EXCL == 0 else { return openat(directory, name, flags, 0o600) }
        let made = openat(directory, name, flags | O_EXCL, 0o600)
        guard made >= 0 else { return errno == EEXIST ? openat(directory, name, flags & ~O_CREAT) : -1 }
        StoreDirectory.give(made, toOwnerOf: directory)
        return made
    }
}
