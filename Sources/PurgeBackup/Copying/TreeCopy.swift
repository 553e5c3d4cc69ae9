import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// Copies a tree into the container of a new store: kinds, owners, modes, times, attributes, hard links and holes. Where the
/// file system can (Btrfs, XFS), copy_file_range(2) lets the copies share the blocks of the originals. Access times of the
/// originals stay as they are.
struct TreeCopy {
    private let source: CopySource
    private let store: Store
    private let progress: BackupProgress
    private var finder: FolderFinder
    /// The new store itself, which a bind mount may have in the tree.
    private let own: FileIdentity?
    /// Files with several names, and where the first of them was copied to.
    private var linked: [FileIdentity: [UInt8]] = [:]
    /// Folders get their attributes, modes and times when everything is in them.
    private var folders: [(path: [UInt8], status: FileStatus)] = []
    /// When the copied files were last used, as far as that is known.
    private(set) var uses: [Journal.LastUse] = []

    init(_ source: CopySource, to store: Store, _ progress: BackupProgress) {
        (self.source, self.store, self.progress) = (source, store, progress)
        finder = FolderFinder(store.container)
        own = Self.identity(of: store.directory)
    }

    private static func identity(of directory: FileDescriptor) -> FileIdentity? {
        do throws(Errno) { return FileIdentity(try System.status(directory.raw)) } catch { return nil }
    }

    mutating func run() throws(StoreError) {
        var copy = self
        try copy.removeFolders()
        try ContainerWalk(source: source.files).run { (entry) throws(StoreError) in
            try copy.progress.noteEntry()
            try copy.copy(entry)
            return true
        }
        try copy.finishFolders()
        self = copy
    }

    /// Removes the folders of a new container, whose names may be those of files in the tree. A mount makes what is missing.
    private mutating func removeFolders() throws(StoreError) {
        for folder in Store.folders.reversed() {
            let path = Array(folder.utf8)
            do throws(Errno) {
                let (parent, name) = try finder.place(of: path)
                try System.removeDirectory(at: parent.raw, name)
            } catch { throw failure(path, error) }
        }
        finder = FolderFinder(store.container)
    }

    private mutating func copy(_ entry: WalkedEntry) throws(StoreError) {
        guard let name = entry.name else { return folders.append((entry.path, entry.status)) }
        if entry.path == Array(ControlFile.directory.utf8) {
            throw StoreError(
                "a container cannot have this name at its top: it is that of the control files",
                path: source.files.pathOf(entry.path), advice: "Rename it, or move it away.")
        }
        switch entry.kind {
        case S_IFDIR:
            guard FileIdentity(entry.status) != self.own else { throw CopyOrigin.refusal(store.absolutePath) }
            try making(entry) { (folder, name) throws(Errno) in
                try System.makeDirectory(at: folder.raw, name, mode: 0o700)
            }
            folders.append((entry.path, entry.status))
        case S_IFREG: try copyFile(entry, name)
        default: try copySpecial(entry, name)
        }
    }

    /// A symbolic link, FIFO, socket or device.
    private mutating func copySpecial(_ entry: WalkedEntry, _ name: RawText) throws(StoreError) {
        let (source, status) = (source, entry.status)
        try making(entry) { (made, newName) throws(Errno) in
            let folder = made.raw
            if entry.kind == S_IFLNK {
                let target = try System.readLink(at: entry.folder.raw, name)
                try System.makeSymbolicLink(to: target + [0], at: folder, newName)
            } else {
                try System.makeNode(at: folder, newName, mode: status.st_mode, device: status.st_rdev)
            }
            if geteuid() == 0 { try System.changeOwner(at: folder, newName, status.st_uid, status.st_gid) }
            if entry.kind != S_IFLNK { try System.changeMode(at: folder, newName, status.st_mode & 0o7777) }
            try source.copyAttributes(of: entry.folder.raw, name, to: folder, newName)
            try source.setTimes(of: status, on: folder, newName)
        }
    }

    private mutating func finishFolders() throws(StoreError) {
        var originals = FolderFinder(source.files.root)
        for (path, status) in folders.reversed() {
            do throws(Errno) {
                let (original, made) = (try originals.folder(at: path), try finder.folder(at: path))
                if geteuid() == 0 { try System.changeOwner(made.raw, status.st_uid, status.st_gid) }
                try source.copyAttributes(of: original.raw, nil, to: made.raw, nil)
                try System.changeMode(made.raw, status.st_mode & 0o7777)
                try source.setTimes(of: status, on: made.raw, nil)
            } catch { throw failure(path, error) }
        }
    }

    private mutating func making<Result>(
        _ entry: WalkedEntry, _ body: (FileDescriptor, RawText) throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) {
            let (folder, name) = try finder.place(of: entry.path)
            return try body(folder, name)
        } catch { throw failure(entry.path, error) }
    }

    private func failure(_ path: [UInt8], _ error: Errno) -> StoreError {
        var failure = StoreError.ofBackup("it cannot be copied", path: source.files.pathOf(path), error)
        if error == .invalid {
            failure.advice = "It has an extended attribute that no app can set like that: getfattr -d -m user.purgefs"
        }
        return failure
    }
}

// Files.
extension TreeCopy {
    private mutating func copyFile(_ entry: WalkedEntry, _ name: RawText) throws(StoreError) {
        let original: FileDescriptor
        let status: FileStatus
        do throws(Errno) {
            original = try source.files.withAccess(to: name, in: entry.folder, entry.status) { () throws(Errno) in
                try source.files.open(name, in: entry.folder, entry.status)
            }
            status = try System.status(original.raw)
            guard status.st_mode & S_IFMT == S_IFREG else { throw .stale }
        } catch { throw failure(entry.path, error) }
        if status.st_nlink > 1 {
            if let first = linked[FileIdentity(status)] { return try link(entry, to: first) }
            linked[FileIdentity(status)] = entry.path
        }
        let made = try making(entry) { (folder, name) throws(Errno) in
            try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        }
        try copyData(of: original, status, to: made, entry.path)
        do throws(Errno) {
            if geteuid() == 0 { try System.changeOwner(made.raw, status.st_uid, status.st_gid) }
            try source.copyAttributes(of: original.raw, nil, to: made.raw, nil)
            try source.setTimes(of: status, on: made.raw, nil)
            try System.changeMode(made.raw, status.st_mode & 0o7777)
        } catch { throw failure(entry.path, error) }
        try noteUse(of: status, entry)
    }

    private mutating func link(_ entry: WalkedEntry, to first: [UInt8]) throws(StoreError) {
        do throws(Errno) {
            let original = try finder.place(of: first)
            let (folder, name) = try finder.place(of: entry.path)
            try System.link(at: original.folder.raw, original.name, to: folder.raw, name)
        } catch { throw failure(entry.path, error) }
    }

    private mutating func noteUse(of status: FileStatus, _ entry: WalkedEntry) throws(StoreError) {
        guard let use = source.lastUse(of: status) else { return }
        let (inode, birth) = try making(entry) { (folder, name) throws(Errno) in
            (try System.status(at: folder.raw, name).st_ino, try Self.birthMark(of: name, in: folder))
        }
        uses.append(Journal.LastUse(inode: UInt64(inode), birth: birth, lastUse: use))
    }

    private static func birthMark(of name: RawText, in folder: FileDescriptor) throws(Errno) -> Int64 {
        do throws(Errno) {
            return Int64(BirthMark.of(try System.birthTime(at: folder.raw, name)))
        } catch .noData { return Int64(BirthMark.of(nil)) }
    }

    private func copyData(
        of original: FileDescriptor, _ status: FileStatus, to made: FileDescriptor, _ path: [UInt8]
    ) throws(StoreError) {
        let size = Int64(status.st_size)
        var record = try source.record(of: original, at: path)
        var runs = [0..<size]
        do throws(Errno) {
            if record != nil || Int64(status.st_blocks) < ByteCount(size).blocks * 8 {
                // XFS shows what is not on disk as a hole, and a hole that is in the page cache as data.
                try System.syncData(original.raw)
                try System.dropCache(original.raw, offset: 0, length: 0)
                runs = try FileRuns.data(of: original.raw, size: size)
                // Before the file has its first hole, as a mount does.
                if record == nil, runs != [0..<size] { record = ExtentRecord(runs: ExtentSet()) }
                if var needed = record {
                    needed.sidecar = nil
                    try store.setExtentRecord(&needed, of: made.raw, nil)
                }
            }
            try System.truncate(made.raw, size)
        } catch { throw failure(path, error) }
        for run in runs where !run.isEmpty { try copy(run, of: original, to: made, path) }
    }

    /// In pieces, so that a signal does not wait for the end of a large file.
    private static let piece = 64 << 20

    private func copy(
        _ run: Range<Int64>, of original: FileDescriptor, to made: FileDescriptor, _ path: [UInt8]
    ) throws(StoreError) {
        var offset = run.lowerBound
        while offset < run.upperBound {
            try progress.step()
            let length = Int(min(Int64(Self.piece), run.upperBound - offset))
            do throws(Errno) {
                let count = try Self.copyPiece(original, made, offset, length)
                guard count > 0 else { throw .stale }  // it has become shorter
                offset += Int64(count)
            } catch { throw failure(path, error) }
        }
    }

    private static func copyPiece(
        _ original: FileDescriptor, _ made: FileDescriptor, _ offset: Int64, _ length: Int
    ) throws(Errno) -> Int {
        do throws(Errno) {
            return try System.copyRange(
                from: original.raw, offset: offset, to: made.raw, offset: offset, length: length)
        } catch Errno(EXDEV), .notSupported, Errno(ENOSYS), .invalid {
            // The file systems are of different kinds.
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: min(length, 1 << 20), alignment: 4096)
        defer { buffer.deallocate() }
        let count = try System.pread(original.raw, buffer, offset: offset)
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        while !rest.isEmpty {
            let written = try System.pwrite(made.raw, rest, offset: offset + Int64(count - rest.count))
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
        }
        return count
    }
}
