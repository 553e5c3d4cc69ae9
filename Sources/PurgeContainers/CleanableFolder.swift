import Glibc
import PurgeModel
import PurgeSystem
import PurgeVolume

/// A folder of a container from which entries are removed, in a mount or in a store. Nothing outside of it is opened or
/// removed, even if names in it change meanwhile.
package protocol CleanableFolder {
    /// Returns the entries, sorted by the bytes of their names.
    func entries() throws(Errno) -> [CleanableEntry]
    func entry(_ name: RawText) throws(Errno) -> CleanableEntry
    /// Opens a folder. Throws ELOOP or ENOTDIR if it is no folder, and EXDEV if another file system is mounted there.
    func folder(_ name: RawText) throws(Errno) -> any CleanableFolder
    /// Removes an entry. A folder must be empty. For a symbolic link, this removes the link, not its target.
    func remove(_ name: RawText, isFolder: Bool) throws(Errno)
}

package struct CleanableEntry {
    package enum Kind { case folder, link, other }

    /// The name with its terminating zero.
    package var name: RawText
    package var kind: Kind
    /// Charged bytes; zero for anything but a file.
    package var bytes: ByteCount
    package var inode: UInt64
    /// The number of hard links.
    package var names: UInt64

    package var bytesOfName: [UInt8] { name.dropLast().map { UInt8(bitPattern: $0) } }
}

extension [CleanableEntry] {
    var inOrder: [CleanableEntry] { sorted { $0.bytesOfName.lexicographicallyPrecedes($1.bytesOfName) } }
}

/// A folder reached by its descriptor through a mount. Removals count as the app's own.
struct MountedFolder: CleanableFolder {
    private let descriptor: FileDescriptor
    private let device: dev_t

    /// Opens the container mounted at `path`. Throws ENOENT if no container is mounted there, for example because it has just
    /// been unmounted.
    init(mount path: String) throws(Errno) {
        descriptor = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        device = try System.status(descriptor.raw).st_dev
        let control = Array("\(ControlFile.directory)/\(ControlFile.status.rawValue)".utf8CString)
        guard try System.status(at: descriptor.raw, control).st_dev == device else { throw .noEntry }
    }

    private init(_ name: RawText, in parent: MountedFolder) throws(Errno) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        descriptor = FileDescriptor(adopting: try System.openInMount(parent.descriptor.raw, name, flags))
        device = parent.device
        // If the kernel or a sandbox does not allow openat2(2), the call above can enter other mounts.
        guard try System.status(descriptor.raw).st_dev == device else { throw Errno(EXDEV) }
    }

    func entries() throws(Errno) -> [CleanableEntry] {
        var entries: [CleanableEntry] = []
        _ = try System.seek(descriptor.raw, 0, SEEK_SET)
        for name in try descriptor.names() {
            do throws(Errno) { entries.append(try entry(name)) } catch .noEntry {}  // it was just removed
        }
        return entries.inOrder
    }

    func entry(_ name: RawText) throws(Errno) -> CleanableEntry {
        let status = try System.status(at: descriptor.raw, name)
        let kind: CleanableEntry.Kind =
            switch status.kind {
            case S_IFDIR: .folder
            case S_IFLNK: .link
            default: .other
            }
        let isFile = status.isRegularFile
        return CleanableEntry(
            name: name, kind: kind, bytes: isFile ? ByteCount(Int64(status.st_blocks) * 512) : .zero,
            inode: UInt64(status.st_ino), names: UInt64(status.st_nlink))
    }

    func folder(_ name: RawText) throws(Errno) -> any CleanableFolder { try MountedFolder(name, in: self) }

    func remove(_ name: RawText, isFolder: Bool) throws(Errno) {
        if isFolder {
            try System.removeDirectory(at: descriptor.raw, name)
        } else {
            try System.unlink(at: descriptor.raw, name)
        }
    }
}

/// A folder in a store that no daemon holds.
struct StoredFolder: CleanableFolder {
    private let folder: OfflineFolder

    init(_ folder: OfflineFolder) { self.folder = folder }

    func entries() -> [CleanableEntry] { folder.entries.map { CleanableEntry($0) }.inOrder }
    func entry(_ name: RawText) throws(Errno) -> CleanableEntry { CleanableEntry(try folder.entry(name)) }
    func folder(_ name: RawText) throws(Errno) -> any CleanableFolder { StoredFolder(try folder.folder(name)) }
    func remove(_ name: RawText, isFolder: Bool) throws(Errno) { try folder.remove(name, isFolder: isFolder) }
}

extension CleanableEntry {
    fileprivate init(_ entry: OfflineFolder.Entry) {
        self.init(
            name: entry.name, kind: entry.isFolder ? .folder : entry.isLink ? .link : .other, bytes: entry.charged,
            inode: entry.inode, names: UInt64(entry.names))
    }
}
