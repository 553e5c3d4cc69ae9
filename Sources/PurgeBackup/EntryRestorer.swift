import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Creates the entries of a backup in the container of a new store, and compares each with the manifest.
struct EntryRestorer {
    private let manifest: ManifestReader
    private let archive: ArchiveReader
    private let progress: BackupProgress
    private var finder: FolderFinder
    /// Folders get their default ACLs, modes and times when their contents are complete.
    private var folders: [RestoredFolder] = []
    private(set) var entries: Int64 = 0
    private(set) var bytes: Int64 = 0
    private let keepsPrivileges: Bool
    private(set) var dropped: [DroppedPrivileges] = []

    /// `owner` is the owner of the new store.
    init(_ input: BackupInput, into container: FileDescriptor, for owner: uid_t, _ progress: BackupProgress) {
        // Files restored by an ordinary user belong to that user, so their privileges give no other user's rights.
        keepsPrivileges = geteuid() != 0 || owner == 0
        (manifest, archive, self.progress) = (input.manifest, input.archive, progress)
        finder = FolderFinder(container)
    }

    /// Restores all entries of the archive. Throws if they do not match the manifest.
    mutating func run() throws(StoreError) {
        while let name = try archive.next() {
            try progress.noteEntry()
            let (record, expected) = try checked(name)
            try make(record, expected)
            entries += 1
        }
        guard entries > 0 else { throw archive.damaged("it has no container") }
        if let missing = try manifest.nextEntry() {
            throw archive.damaged("\(PathForm.text(missing.bytes ?? [])) is missing from its archive")
        }
        try archive.finish()
        try checkWhole()
    }

    /// Checks the totals and, if the manifest has it, the checksum of the whole archive, which includes the bytes between its
    /// entries.
    private func checkWhole() throws(StoreError) {
        let totals = manifest.totals
        guard totals.entries == entries, totals.bytes == bytes else {
            throw archive.damaged("the entries of its manifest do not match the totals at its end")
        }
        if let whole = totals.archive, whole.crc32 != archive.seen.text || whole.bytes != archive.seen.count {
            throw archive.damaged(
                "the checksum of its archive is wrong, although the checksums of all entries are "
                    + "right")
        }
    }

    private struct RestoredFolder {
        let path: [UInt8]
        let mode: mode_t
        let accessed: timespec
        let modified: timespec
        /// Set last, because entries made in the folder would inherit it.
        let defaultACL: [VisibleAttributes.Attribute]
    }

    /// Sets the default ACLs, times and modes of the folders, the inner ones first. Nothing may be created in them after this.
    mutating func finish() throws(StoreError) {
        for folder in folders.reversed() {
            do throws(Errno) {
                let found = try finder.folder(at: folder.path)
                for attribute in folder.defaultACL { try Self.set(attribute, of: found) }
                try VisibleAttributes.setTimes(
                    of: found.raw, nil, access: folder.accessed, modification: folder.modified)
                try System.changeMode(found.raw, folder.mode)
            } catch { throw Self.failure(EntryRecord(path: folder.path, kind: .directory), error) }
        }
    }

    private static func failure(_ record: EntryRecord, _ error: Errno) -> StoreError {
        let what = "it cannot be restored"
        var failure =
            error == Ownership.unmapped
            ? Ownership.failure(what, path: record.place) : StoreError.ofBackup(what, path: record.place, error)
        failure.advice += " Nothing was restored."
        return failure
    }
}

// Comparing with the manifest.
extension EntryRestorer {
    private func checked(_ name: [UInt8]) throws(StoreError) -> (EntryRecord, ManifestEntry) {
        let archived = name.last == UInt8(ascii: "/") ? Array(name.dropLast()) : name
        guard let expected = try manifest.nextEntry() else {
            throw archive.damaged("\(PathForm.text(archived)) is not in its manifest")
        }
        guard let path = expected.bytes, RestorablePath.isAllowed(path), entries > 0 || path.isEmpty else {
            throw archive.damaged("\(PathForm.text(expected.bytes ?? [])) is not a path that a backup can have")
        }
        var record = try archive.record(path: path)
        guard PathForm.raw(archived) == PathForm.archived(path) else {
            throw archive.damaged("\(record.place): its archive has \(PathForm.text(archived)) in its place")
        }
        if record.kind == .hardLink {
            guard let first = RestorablePath.inContainer(record.link) else {
                throw archive.damaged("\(record.place) is a hard link to something outside of the container")
            }
            record.link = first
        }
        guard record.kind == expected.type, record.metadata.text == expected.metadata else {
            throw archive.damaged(
                "\(record.place): its type, mode, owner, link or extended attributes differ from the manifest")
        }
        guard let modified = Timestamp.reading(expected.modified) else {
            throw archive.damaged("\(record.place): its time of modification is invalid")
        }
        record.modified = modified
        return (record, expected)
    }
}

// Creation of entries.
extension EntryRestorer {
    private mutating func make(_ record: EntryRecord, _ expected: ManifestEntry) throws(StoreError) {
        if record.path.isEmpty { return try makeRoot(record) }
        let (folder, name) = try Self.making(record) { () throws(Errno) in try finder.place(of: record.path) }
        switch record.kind {
        case .directory:
            let made = try Self.making(record) { () throws(Errno) in
                try System.makeDirectory(at: folder.raw, name, mode: 0o700)
                return try folder.open(name, O_RDONLY | O_DIRECTORY)
            }
            try add(record, made)
        case .file: try makeFile(record, expected, in: folder, name)
        case .symbolicLink:
            try Self.making(record) { () throws(Errno) in
                guard !record.link.isEmpty, !record.link.contains(0) else { throw .invalid }
                try System.makeSymbolicLink(to: PathForm.raw(record.link), at: folder.raw, name)
                try Ownership.give(folder.raw, name, record.owner, record.group)
                try VisibleAttributes.setTimes(
                    of: folder.raw, name, access: Self.accessed(record), modification: record.modified)
            }
        case .hardLink:
            let first = try Self.making(record) { () throws(Errno) in try finder.place(of: record.link) }
            try Self.making(record) { () throws(Errno) in
                guard try System.status(at: first.folder.raw, first.name).isRegularFile else {
                    throw .invalid
                }
                try System.link(at: first.folder.raw, first.name, to: folder.raw, name)
            }
        }
    }

    private mutating func makeRoot(_ record: EntryRecord) throws(StoreError) {
        guard record.kind == .directory else { throw archive.damaged("its container is no directory") }
        try add(record, finder.root)
    }

    private mutating func add(_ record: EntryRecord, _ folder: FileDescriptor) throws(StoreError) {
        var now = record
        let defaultACL = now.attributes.filter { $0.name == Self.defaultACL }
        now.attributes.removeAll { $0.name == Self.defaultACL }
        try setOwnerAndAttributes(now, of: folder)
        folders.append(
            RestoredFolder(
                path: record.path, mode: record.mode, accessed: Self.accessed(record), modified: record.modified,
                defaultACL: defaultACL))
    }

    private mutating func makeFile(
        _ record: EntryRecord, _ expected: ManifestEntry, in folder: FileDescriptor, _ name: RawText
    ) throws(StoreError) {
        let size = record.size
        guard size >= 0, size <= ByteCount.largestFile.bytes, size == expected.size else {
            throw archive.damaged("\(record.place): it has \(size) bytes instead of \(expected.size ?? 0)")
        }
        let file = try Self.making(record) { () throws(Errno) in
            try folder.open(name, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        }
        let (checksum, hasHoles) = try copy(record, expected, to: file)
        guard checksum.count == size, checksum.text == expected.crc32 else {
            throw archive.damaged("\(record.place): its data does not have the checksum in the manifest")
        }
        bytes = (ByteCount(bytes) + ByteCount(size)).bytes
        var record = record
        if !keepsPrivileges, let found = DroppedPrivileges(from: &record) { dropped.append(found) }
        // The record of holes comes first, because the other attributes may take all the room for attributes.
        if hasHoles { try Self.making(record) { () throws(Errno) in try Self.markHoles(of: file) } }
        try setOwnerAndAttributes(record, of: file)
        try Self.making(record) { () throws(Errno) in
            try VisibleAttributes.setTimes(
                of: file.raw, nil, access: Self.accessed(record), modification: record.modified)
            try System.changeMode(file.raw, record.mode)
        }
    }

    /// Copies the data. Also returns whether blocks of the file were skipped.
    private func copy(
        _ record: EntryRecord, _ expected: ManifestEntry, to file: FileDescriptor
    ) throws(StoreError) -> (Checksum, hasHoles: Bool) {
        var checksum = Checksum()
        var written = WrittenBlocks()
        var runs = try expected.runs.map { (runs) throws(StoreError) in try ranges(runs, record)[...] }
        try archive.data { (bytes, offset) throws(StoreError) in
            guard offset >= checksum.count, offset <= record.size, Int64(bytes.count) <= record.size - offset else {
                throw archive.damaged("\(record.place): its data is not in order")
            }
            checksum.addZeros(offset - checksum.count)
            for part in Self.parts(of: offset..<offset + Int64(bytes.count), &runs) {
                let first = Int(part.lowerBound - offset)
                try write(
                    UnsafeRawBufferPointer(rebasing: bytes[first..<first + part.count]), at: part.lowerBound, record,
                    file)
                written.add(part)
            }
            checksum.add(bytes)
            try progress.note(bytes: checksum.count)
        }
        checksum.addZeros(record.size - checksum.count)
        try Self.making(record) { () throws(Errno) in try System.truncate(file.raw, record.size) }
        return (checksum, !written.areAll(of: record.size))
    }

    /// Records that the file has holes, as a mount does before a file gets its first hole. A scan of the store cannot detect
    /// holes by the file's block count, which includes blocks for attributes.
    private static func markHoles(of file: FileDescriptor) throws(Errno) {
        do throws(Errno) {
            try System.setAttribute(at: file.raw, nil, ExtentRecord.key, ExtentRecord.ofHoles)
        } catch .notSupported {}  // `Store.make` reports that a store needs attributes
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ record: EntryRecord, _ file: FileDescriptor
    ) throws(StoreError) {
        try Self.making(record) { () throws(Errno) in
            var rest = bytes
            while !rest.isEmpty {
                let count = try System.pwrite(file.raw, rest, offset: offset + Int64(bytes.count - rest.count))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }

    /// Returns the parts of a block that are data and not holes; the whole block if `runs` is nil. Drops the runs that do not
    /// reach beyond the block from `runs`.
    private static func parts(of block: Range<Int64>, _ runs: inout ArraySlice<Range<Int64>>?) -> [Range<Int64>] {
        guard let found = runs else { return [block] }
        let parts = found.prefix { $0.lowerBound < block.upperBound }.map { $0.clamped(to: block) }
        runs = found.drop { $0.upperBound <= block.upperBound }
        return parts.filter { !$0.isEmpty }
    }

    /// Returns the runs as ranges. Throws if they are out of order or not within the file.
    private func ranges(_ runs: [[Int64]], _ record: EntryRecord) throws(StoreError) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for run in runs {
            guard run.count == 2, run[0] >= ranges.last?.upperBound ?? 0, run[1] > 0, run[0] <= record.size,
                run[1] <= record.size - run[0]
            else { throw archive.damaged("\(record.place): its runs of data are not in order") }
            ranges.append(run[0]..<run[0] + run[1])
        }
        return ranges
    }

    /// Sets owner and attributes as `cp -a` does: only root can give files away, and attributes of the system are set on a
    /// best-effort basis.
    private func setOwnerAndAttributes(_ record: EntryRecord, of file: FileDescriptor) throws(StoreError) {
        try Self.making(record) { () throws(Errno) in
            try Ownership.give(file.raw, nil, record.owner, record.group)
        }
        for attribute in record.attributes {
            do throws(Errno) {
                try Self.set(attribute, of: file)
            } catch .invalid, .range {
                throw archive.damaged(
                    "\(record.place) has an invalid value of the attribute \(PathForm.text(attribute.name))"
                )
            } catch .noSpace, .argListTooLong {
                throw StoreError(
                    "the attribute \(PathForm.text(attribute.name)) cannot be restored", path: record.place,
                    advice:
                        "The disk is full, or its file system cannot hold so many or so long attributes: name a store "
                        + "on another one (XFS and btrfs hold more). Nothing was restored.")
            } catch { throw Self.failure(record, error) }
        }
    }

    private static let defaultACL = Array("system.posix_acl_default".utf8)

    private static func set(_ attribute: VisibleAttributes.Attribute, of file: FileDescriptor) throws(Errno) {
        do throws(Errno) {
            try VisibleAttributes.set(attribute, on: file.raw)
        } catch {
            let isOfSystem = ["security.", "system.", "trusted."].contains { attribute.name.starts(with: $0.utf8) }
            guard isOfSystem, [.notPermitted, .notSupported, .accessDenied].contains(error) else { throw error }
        }
    }

    /// Returns the access time, with 0 for invalid nanoseconds. The manifest does not have this time, so it is unchecked.
    private static func accessed(_ record: EntryRecord) -> timespec {
        var time = record.accessed
        if !(0..<1_000_000_000).contains(time.tv_nsec) { time.tv_nsec = 0 }
        return time
    }

    private static func making<Result>(
        _ record: EntryRecord, _ body: () throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) { return try body() } catch { throw failure(record, error) }
    }
}

/// The number of blocks of a file before the first block that was skipped.
private struct WrittenBlocks {
    private var count: Int64 = 0

    /// Adds a part; parts come in the order of the file.
    mutating func add(_ part: Range<Int64>) {
        let first = part.lowerBound / ByteCount.block.bytes
        if first <= count { count = max(count, ByteCount(part.upperBound).blocks) }
    }

    func areAll(of size: Int64) -> Bool { count >= ByteCount(size).blocks }
}

/// Checks the paths of a backup's entries, which are untrusted until then.
enum RestorablePath {
    /// Whether the path is relative, stays in the container, and is not in the control directory or a place that is never
    /// backed up.
    static func isAllowed(_ path: [UInt8]) -> Bool {
        if path.isEmpty { return true }
        let names = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !path.contains(0),
            names.allSatisfy({ !$0.isEmpty && $0 != [0x2e] && $0 != [0x2e, 0x2e] && $0.count <= Int(NAME_MAX) }),
            !(names.first?.elementsEqual(ControlFile.directory.utf8) ?? false)
        else { return false }
        return Place.at(path: path).tier == .persistent
    }

    /// Returns the path in the container for a name in the archive, or nil if it is not allowed.
    static func inContainer(_ name: [UInt8]) -> [UInt8]? {
        let folder = Array(ArchiveWriter.folder.utf8) + [UInt8(ascii: "/")]
        guard name.starts(with: folder) else { return nil }
        let path = Array(name.dropFirst(folder.count))
        return !path.isEmpty && isAllowed(path) ? path : nil
    }
}
