import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Copies a tree into the container of a new store: kinds, owners, modes, times, attributes, hard links and holes. On file
/// systems such as Btrfs and XFS, copy_file_range(2) lets the copies share the blocks of the originals. Access times of
/// original files and folders do not change if this process may use O_NOATIME.
struct TreeCopy {
    let source: CopySource
    let store: Store
    let progress: BackupProgress
    var finder: FolderFinder
    /// The new store itself, which a bind mount may show inside the tree.
    private let own: FileIdentity?
    /// Whether files keep set-user-ID, set-group-ID and security.capability. Root does not copy the privileges of other users
    /// into a store that belongs to somebody else (docs/BACKUP.md).
    let keepsPrivileges: Bool
    /// Hard-linked files, with the path to which the first name was copied.
    var linked: [FileIdentity: [UInt8]] = [:]
    /// The times of last use of the copied files, for the journal of the new store.
    var uses: [Journal.LastUse] = []

    /// A copied folder. It gets its owner, attributes, mode and times when its contents are complete.
    private struct Folder {
        let path: [UInt8]
        let status: FileStatus
        let attributes: [CopySource.Attribute]
        let birth: Instant
    }
    private var folders: [Folder] = []

    init(_ source: CopySource, to store: Store, _ progress: BackupProgress) {
        (self.source, self.store, self.progress) = (source, store, progress)
        finder = FolderFinder(store.container)
        own = Self.identity(of: store.directory)
        keepsPrivileges = geteuid() != 0 || Self.isRoots(store.directory)
    }

    private static func isRoots(_ directory: FileDescriptor) -> Bool {
        do throws(Errno) { return try System.status(directory.raw).st_uid == 0 } catch { return false }
    }

    private static func identity(of directory: FileDescriptor) -> FileIdentity? {
        do throws(Errno) { return FileIdentity(try System.status(directory.raw)) } catch { return nil }
    }

    mutating func run() throws(StoreError) {
        var copy = self
        try copy.removeFolders()
        try ContainerWalk(source: source.files, flags: .none).run { (entry) throws(StoreError) in
            try copy.progress.noteEntry()
            try copy.copy(entry)
            return true
        }
        try copy.finishFolders()
        self = copy
    }

    /// Removes the folders of a new container, because the tree may have files with their names. A mount recreates missing
    /// folders.
    private mutating func removeFolders() throws(StoreError) {
        for folder in Store.folders.reversed() {
            let path = Array(folder.utf8)
            do throws(Errno) {
                let (parent, name) = try finder.place(of: path)
                try System.removeDirectory(at: parent.raw, name)
            } catch { throw unwritable(path, error) }
        }
        finder = FolderFinder(store.container)
    }

    private mutating func copy(_ entry: WalkedEntry) throws(StoreError) {
        guard let name = entry.name else { return try note(folder: entry) }
        if entry.path == Array(ControlFile.directory.utf8) {
            throw StoreError(
                "a container cannot have this name at its top level: it is reserved for the control files",
                path: source.files.pathOf(entry.path), advice: "Rename it, or move it away.")
        }
        switch entry.kind {
        case S_IFDIR:
            guard FileIdentity(entry.status) != self.own else { throw CopyOrigin.refusal(store.absolutePath) }
            try making(entry) { (folder, name) throws(Errno) in
                try System.makeDirectory(at: folder.raw, name, mode: 0o700)
            }
            try note(folder: entry)
        case S_IFREG: try copyFile(entry, name)
        default: try copySpecial(entry, name)
        }
    }

    /// Copies a symbolic link, FIFO, socket or device.
    private mutating func copySpecial(_ entry: WalkedEntry, _ name: RawText) throws(StoreError) {
        let (source, status) = (source, entry.status)
        let (target, attributes) = try reading(entry) { () throws(Errno) in
            (
                entry.kind == S_IFLNK ? try System.readLink(at: entry.folder.raw, name) : [],
                try source.attributes(of: entry.folder.raw, name, isSpecial: true)
            )
        }
        try making(entry) { (made, newName) throws(Errno) in
            let folder = made.raw
            if entry.kind == S_IFLNK {
                try System.makeSymbolicLink(to: target + [0], at: folder, newName)
            } else {
                try System.makeNode(at: folder, newName, mode: status.st_mode, device: status.st_rdev)
            }
            try Ownership.give(folder, newName, status.st_uid, status.st_gid)
            if entry.kind != S_IFLNK { try System.changeMode(at: folder, newName, status.st_mode & 0o7777) }
            try source.set(attributes, on: folder, newName)
            try source.setTimes(of: status, on: folder, newName)
        }
    }

    private mutating func note(folder entry: WalkedEntry) throws(StoreError) {
        let (directory, source) = (entry.folder.raw, source)
        let (attributes, birth) = try reading(entry) { () throws(Errno) in
            guard let name = entry.name else {
                return (
                    try source.attributes(of: directory, nil), try source.birth(of: directory, nil, entry.status)
                )
            }
            return try source.files.withAccess(to: name, in: entry.folder, entry.status) { () throws(Errno) in
                (try source.attributes(of: directory, name), try source.birth(of: directory, name, entry.status))
            }
        }
        folders.append(Folder(path: entry.path, status: entry.status, attributes: attributes, birth: birth))
    }

    private mutating func finishFolders() throws(StoreError) {
        for folder in folders.reversed() {
            let status = folder.status
            do throws(Errno) {
                let made = try finder.folder(at: folder.path)
                try Ownership.give(made.raw, nil, status.st_uid, status.st_gid)
                try source.set(folder.attributes, on: made.raw)
                try StoredBirth.record(folder.birth, of: made.raw, nil)
                try System.changeMode(made.raw, status.st_mode & 0o7777)
                try source.setTimes(of: status, on: made.raw, nil)
            } catch { throw unwritable(folder.path, error) }
        }
    }
}

// Failures.
extension TreeCopy {
    func reading<Result>(
        _ entry: WalkedEntry, _ body: () throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) { return try body() } catch { throw unreadable(entry.path, error) }
    }

    mutating func making<Result>(
        _ entry: WalkedEntry, _ body: (FileDescriptor, RawText) throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) {
            let (folder, name) = try finder.place(of: entry.path)
            return try body(folder, name)
        } catch { throw unwritable(entry.path, error, kind: entry.kind) }
    }

    /// Returns the error for an original that cannot be read.
    func unreadable(_ path: [UInt8], _ error: Errno) -> StoreError {
        if error == .stale {
            return StoreError(
                "it changed while it was being copied", path: source.files.pathOf(path),
                advice: "Try again when no program writes to it.")
        }
        var failure = source.files.failure("it cannot be read", path, error)
        if error == .notPermitted {
            failure.advice =
                "If it is on a locked device, unlock the device (`purgefs device unlock`); otherwise leave it out."
        }
        return failure
    }

    /// Returns the error for a copy that cannot be written.
    func unwritable(_ path: [UInt8], _ error: Errno, kind: mode_t = S_IFREG) -> StoreError {
        let what = "it cannot be copied to \(store.absolutePath)"
        if error == Ownership.unmapped { return Ownership.failure(what, path: source.files.pathOf(path)) }
        var failure = StoreError.ofBackup(what, path: source.files.pathOf(path), error)
        failure.reach = .fileSystem
        if error == .invalid {
            failure.advice = "It has an invalid attribute of purgefs: getfattr -d -m user.purgefs"
            failure.reach = .everywhere
        } else if error == .notPermitted, kind == S_IFCHR || kind == S_IFBLK {
            failure.advice = "Only root can make devices: leave it out, or run this as root."
            failure.reach = .everywhere
        }
        return failure
    }

    /// Returns the error for a failed call that reads the original and writes the copy.
    func uncopied(_ path: [UInt8], _ error: Errno) -> StoreError {
        switch error {
        case .noSpace, Errno(EDQUOT), Errno(EFBIG), .readOnly: unwritable(path, error)
        default: unreadable(path, error)
        }
    }
}
