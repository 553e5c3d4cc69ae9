import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

extension TreeCopy {
    mutating func copyFile(_ entry: WalkedEntry, _ name: RawText) throws(StoreError) {
        let opened: OpenedEntry
        do throws(Errno) {
            opened = try source.files.openUp(name, in: entry.folder, entry.status)
        } catch .noEntry { return } catch Errno(ELOOP), .noSuchAddressOrDevice {
            throw unreadable(entry.path, .stale)
        } catch { throw unreadable(entry.path, error) }
        // Keeps `opened` alive, because its release restores the entry's mode.
        defer { withExtendedLifetime(opened) {} }
        let original = opened.descriptor
        var status = try reading(entry) { () throws(Errno) in try System.status(original.raw) }
        guard status.isRegularFile else { throw unreadable(entry.path, .stale) }
        if source.files.isClosed(entry.status) { status.st_mode = entry.status.st_mode }
        if status.st_nlink > 1 {
            if let first = linked[FileIdentity(status)] { return try link(entry, to: first) }
            linked[FileIdentity(status)] = entry.path
        }
        try copy(original, status, entry)
    }

    private mutating func copy(
        _ original: FileDescriptor, _ status: FileStatus, _ entry: WalkedEntry
    ) throws(StoreError) {
        let made = try making(entry) { (folder, name) throws(Errno) in
            try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        }
        try copyData(of: original, status, to: made, entry.path)
        let source = source
        let (attributes, birth, use) = try reading(entry) { () throws(Errno) in
            guard try System.status(original.raw).hasSameData(as: status) else { throw .stale }
            return (
                try source.attributes(of: original.raw, nil), try source.birth(of: original.raw, nil, status),
                try source.lastUse(of: original.raw, status)
            )
        }
        do throws(Errno) {
            try Ownership.give(made.raw, nil, status.st_uid, status.st_gid)
            try source.set(keepsPrivileges ? attributes : DroppedPrivileges.without(attributes), on: made.raw)
            try StoredBirth.record(birth, of: made.raw, nil)
            try source.setTimes(of: status, on: made.raw, nil)
            try System.changeMode(made.raw, status.st_mode & (keepsPrivileges ? 0o7777 : 0o1777))
            let inode = UInt64(try System.status(made.raw).st_ino)
            let mark = Int64(BirthMark.of(try StoredBirth.own(of: made.raw, nil)))
            uses.append(Journal.LastUse(inode: inode, birth: mark, lastUse: use))
        } catch { throw unwritable(entry.path, error) }
    }

    private mutating func link(_ entry: WalkedEntry, to first: [UInt8]) throws(StoreError) {
        do throws(Errno) {
            let original = try finder.place(of: first)
            let (folder, name) = try finder.place(of: entry.path)
            try System.link(at: original.folder.raw, original.name, to: folder.raw, name)
        } catch { throw unwritable(entry.path, error) }
    }

    private func copyData(
        of original: FileDescriptor, _ status: FileStatus, to made: FileDescriptor, _ path: [UInt8]
    ) throws(StoreError) {
        let size = Int64(status.st_size)
        var record = try source.record(of: original, at: path)
        var runs = [0..<size]
        if record != nil || Int64(status.st_blocks) < ByteCount(size).blocks * 8 {
            do throws(Errno) { runs = try Self.runs(of: original.raw, size) } catch { throw unreadable(path, error) }
            // As in a mount, the record exists before the file gets its first hole.
            if record == nil, runs != [0..<size] { record = ExtentRecord(runs: ExtentSet()) }
        }
        do throws(Errno) {
            if var needed = record {
                needed.sidecar = nil
                try store.setExtentRecord(&needed, of: made.raw, nil)
            }
            try System.truncate(made.raw, size)
        } catch { throw unwritable(path, error) }
        for run in runs where !run.isEmpty { try copy(run, of: original, to: made, path) }
    }

    private static func runs(of file: Int32, _ size: Int64) throws(Errno) -> [Range<Int64>] {
        do throws(Errno) {
            // XFS shows data that is not yet on disk as a hole, and a hole whose pages are cached as data.
            try System.syncData(file)
            try System.dropCache(file, offset: 0, length: 0)
        } catch .invalid {
            // A read-only file system (squashfs) has nothing to write back.
        }
        return try FileRuns.data(of: file, size: size)
    }

    /// Data is copied in pieces, so that a signal does not wait for the end of a large file.
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
                guard count > 0 else { throw .stale }  // the file was shortened
                offset += Int64(count)
            } catch { throw uncopied(path, error) }
        }
    }

    private static func copyPiece(
        _ original: FileDescriptor, _ made: FileDescriptor, _ offset: Int64, _ length: Int
    ) throws(Errno) -> Int {
        do throws(Errno) {
            return try System.copyRange(
                from: original.raw, offset: offset, to: made.raw, offset: offset, length: length)
        } catch Errno(EXDEV), .notSupported, Errno(ENOSYS), .invalid {
            // Not supported, for example between two kinds of file systems.
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
