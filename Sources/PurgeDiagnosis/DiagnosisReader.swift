import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem

/// Reads the facts about entries of a container that a diagnosis needs. It follows no symbolic links.
struct DiagnosisReader {
    let container: DiagnosedContainer

    /// An open folder of the container.
    struct Folder {
        let descriptor: FileDescriptor
        /// The path relative to the container, byte for byte.
        let path: [UInt8]
        let standing: EntryStanding
        var text: String { String(decoding: path, as: UTF8.self) }
    }

    struct Found {
        let entry: DiagnosedEntry
        let status: FileStatus
        let path: [UInt8]
        let name: RawText?
    }

    static let slash = UInt8(ascii: "/")

    /// Returns the container itself.
    func root() throws(CommandFailure) -> (folder: Folder, found: Found) {
        do throws(Errno) {
            let status = try System.status(container.root.raw)
            let standing = EntryStanding.root(try flags(of: container.root.raw, nil))
            var entry = DiagnosedEntry(path: "", kind: .folder, standing: standing)
            entry.isClosed = Self.isClosed(status)
            entry.modified = try modified(status, container.root.raw, nil)
            return (
                Folder(descriptor: container.root, path: [], standing: standing),
                Found(entry: entry, status: status, path: [], name: nil)
            )
        } catch { throw container.failure("", error) }
    }

    /// Returns the entry at a path and its parent folder; for an empty path, the container itself as both. Throws if a
    /// component is missing.
    func find(_ inner: [UInt8]) throws(CommandFailure) -> (folder: Folder, found: Found) {
        var (folder, found) = try root()
        for name in inner.split(separator: Self.slash) {
            if !found.path.isEmpty { folder = try open(found, in: folder) }
            do throws(Errno) {
                found = try read(name.map(CChar.init(bitPattern:)) + [0], in: folder)
            } catch {
                throw container.failure(String(decoding: Self.joined(folder.path, name), as: UTF8.self), error)
            }
        }
        return (folder, found)
    }

    /// Opens a folder found in `folder`; for the container itself returns `folder`.
    func open(_ found: Found, in folder: Folder) throws(CommandFailure) -> Folder {
        guard let name = found.name else { return folder }
        do throws(Errno) {
            return Folder(
                descriptor: try folder.descriptor.open(name, O_RDONLY | O_DIRECTORY), path: found.path,
                standing: found.entry.standing)
        } catch { throw container.failure(found.entry.path, error) }
    }

    func read(_ name: RawText, in folder: Folder) throws(Errno) -> Found {
        let status = try System.status(at: folder.descriptor.raw, name)
        let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
        let path = Self.joined(folder.path, bytes)
        let text = String(decoding: path, as: UTF8.self)
        let kind = Self.kind(status)
        let flags = kind == .file || kind == .folder ? try flags(of: folder.descriptor.raw, name) : EntryFlags()
        var entry = DiagnosedEntry(
            path: text, kind: kind,
            standing: folder.standing.entry(named: bytes, in: folder.text, flags, isSpecial: kind == .special))
        (entry.inode, entry.names) = (UInt64(status.st_ino), Int(status.st_nlink))
        if kind == .file { entry.size = ByteCount(Int64(status.st_size)) }
        entry.modified = try modified(status, folder.descriptor.raw, name)
        (entry.isClosed, entry.nameProblem) = (Self.isClosed(status), NameProblem.of(bytes))
        entry.history = container.histories[text]
        if kind == .symbolicLink {
            entry.purgedTarget = purgedTarget(of: name, in: folder)
            entry.stalePath = staleTarget(of: name, in: folder)
        }
        if kind == .file { try readLife(of: name, in: folder, status, &entry) }
        return Found(entry: entry, status: status, path: path, name: name)
    }

    static func joined(_ folder: [UInt8], _ name: some Sequence<UInt8>) -> [UInt8] {
        folder.isEmpty ? Array(name) : folder + [slash] + name
    }

    private static func kind(_ status: FileStatus) -> DiagnosedEntry.Kind {
        switch status.kind {
        case S_IFREG: .file
        case S_IFDIR: .folder
        case S_IFLNK: .symbolicLink
        default: .special
        }
    }

    private static func isClosed(_ status: FileStatus) -> Bool {
        switch kind(status) {
        case .file: status.st_mode & 0o400 == 0
        case .folder: status.st_mode & 0o500 != 0o500
        case .symbolicLink, .special: false
        }
    }
}

// Attributes and times.
extension DiagnosisReader {
    /// Reads a file's last use and, if a rule needs them, its creation time and its last status change.
    private func readLife(
        of name: RawText, in folder: Folder, _ status: FileStatus, _ entry: inout DiagnosedEntry
    ) throws(Errno) {
        entry.lastUse = container.lastUses[entry.inode]
        let clock = TimeSpan(seconds: container.status.device.clock)
        if entry.history.lastRefusal != nil,
            let arrived = try created(folder.descriptor.raw, name)?.advanced(by: clock), entry.modified < arrived
        {
            entry.settled = shown(FileTime(status.st_ctim)).advanced(by: clock)
        }
        guard entry.standing.tier != .persistent,
            entry.lastUse != nil || entry.modified.advanced(by: PurgeRule.temporaryAge) <= container.now
        else { return }
        let created = try created(folder.descriptor.raw, name)
        if entry.lastUse != nil { entry.created = created }
        entry.arrived = created?.advanced(by: clock)
    }

    /// Converts a stored time to the time that an app sees.
    private func shown(_ stamp: FileTime) -> Instant {
        let time = container.isInStore ? container.device.fileClock.shown(stamp) : stamp
        return Instant(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    /// Reads the flags of an entry. Returns none if they may not be read or the file system does not support attributes.
    private func flags(of folder: Int32, _ name: RawText?) throws(Errno) -> EntryFlags {
        var flags = EntryFlags()
        do throws(Errno) {
            let all =
                if let name {
                    try VisibleAttributes.all(of: folder, name, inStore: container.isInStore)
                } else {
                    try VisibleAttributes.all(of: folder, nil, inStore: container.isInStore)
                }
            for attribute in all {
                flags.set(
                    String(decoding: attribute.name, as: UTF8.self),
                    to: String(decoding: attribute.value, as: UTF8.self))
            }
        } catch {
            guard error == .accessDenied || error == .notSupported || error == .notPermitted else { throw error }
        }
        return flags
    }

    /// Returns the modification time by the device's clock.
    private func modified(_ status: FileStatus, _ folder: Int32, _ name: RawText?) throws(Errno) -> Instant {
        var shown = status.st_mtim
        if container.isInStore {
            let device = container.device
            shown =
                if let name {
                    try VisibleAttributes.times(status, of: folder, name, on: device).modified
                } else {
                    try VisibleAttributes.times(status, of: folder, nil, on: device).modified
                }
        }
        return Instant(shown).advanced(by: TimeSpan(seconds: container.status.device.clock))
    }

    /// Returns the creation time as an app sees it; nil if the store does not know it.
    private func created(_ folder: Int32, _ name: RawText) throws(Errno) -> Instant? {
        do throws(Errno) {
            guard container.isInStore else { return try creationDate(folder, name) }
            return try StoredBirth.of(folder, name).map { shown(FileTime($0)) }
        } catch .noEntry { throw .noEntry } catch { return nil }
    }

    /// Reads the creation time through a mount, which exposes it only as an attribute.
    private func creationDate(_ folder: Int32, _ name: RawText) throws(Errno) -> Instant? {
        let text = try System.attribute(at: folder, name, Self.creationDateKey, limit: 64)
        return Instant(iso8601: String(decoding: text, as: UTF8.self))
    }

    private static let creationDateKey = StorageAttribute.prefix.description + ComputedAttribute.creationDate.rawValue
}
