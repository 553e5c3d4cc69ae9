import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// An entry of a container, as a walk finds it.
struct WalkedEntry {
    /// The path relative to the container; empty for the container itself.
    let path: [UInt8]
    let folder: FileDescriptor
    /// The name in `folder`; nil for `folder` itself.
    let name: RawText?
    let status: FileStatus
    let placement: BackupPlacement

    var kind: mode_t { status.kind }
}

/// Visits everything in a container: each folder before its contents, and entries in the byte order of their names. Entries
/// that are removed before their turn are not visited.
struct ContainerWalk {
    let source: BackupSource
    /// The entries whose own flags are read.
    enum Flags {
        /// None: every entry is placed as if it had no flag.
        case none
        /// Files and folders that no folder above them excludes already.
        case deciding
        case all
    }
    var flags = Flags.deciding

    /// Visits an entry. Returns whether the contents of a folder are to be visited.
    typealias Visit = (WalkedEntry) throws(StoreError) -> Bool

    private struct Folder {
        let opened: OpenedEntry
        let path: [UInt8]
        let placement: BackupPlacement

        var descriptor: FileDescriptor { opened.descriptor }
    }

    private struct Level {
        let folder: Folder
        /// The remaining names, the next one last.
        var names: [RawText]
    }

    func run(_ visit: Visit) throws(StoreError) {
        var levels = [try begin(visit)]
        while let last = levels.indices.last {
            // Changes the level in place: a copy of it would share the names, and removing one name would copy them all.
            guard let name = levels[last].names.popLast() else {
                levels.removeLast()
                continue
            }
            guard let entry = try find(name, in: levels[last].folder), try visit(entry), entry.kind == S_IFDIR,
                let inner = try descend(entry)
            else { continue }
            levels.append(inner)
        }
    }

    private func begin(_ visit: Visit) throws(StoreError) -> Level {
        let root = source.root
        let (status, isFlagged, names) = try source.reading([]) { () throws(Errno) in
            (
                try System.status(root.raw),
                flags == .none ? false : try VisibleAttributes.isExcludedFromBackup(root.raw, nil),
                try Self.names(of: root)
            )
        }
        let placement = BackupPlacement.root(isFlagged: isFlagged)
        let entry = WalkedEntry(path: [], folder: root, name: nil, status: status, placement: placement)
        let folder = Folder(opened: OpenedEntry(root), path: [], placement: placement)
        return Level(folder: folder, names: try visit(entry) ? names : [])
    }

    /// Finds an entry; returns nil if it is gone.
    private func find(_ name: RawText, in folder: Folder) throws(StoreError) -> WalkedEntry? {
        let bytes = name.dropLast().map { UInt8(bitPattern: $0) }
        let path = PathForm.joined(folder.path, bytes)
        do throws(Errno) {
            let status = try System.status(at: folder.descriptor.raw, name)
            let kind = status.kind
            let canBeFlagged = kind == S_IFREG || kind == S_IFDIR
            let isFlagged =
                canBeFlagged && (flags == .all || flags == .deciding && folder.placement.exclusion == nil)
                ? try source.withAccess(to: name, in: folder.descriptor, status) { () throws(Errno) in
                    try VisibleAttributes.isExcludedFromBackup(folder.descriptor.raw, name)
                } : false
            return WalkedEntry(
                path: path, folder: folder.descriptor, name: name, status: status,
                placement: folder.placement.entry(
                    named: bytes, isFlagged: isFlagged, isSpecial: !canBeFlagged && kind != S_IFLNK))
        } catch .noEntry { return nil } catch { throw source.failure("it cannot be read", path, error) }
    }

    /// Opens a folder; returns nil if it is gone or no longer a folder.
    private func descend(_ entry: WalkedEntry) throws(StoreError) -> Level? {
        guard let name = entry.name else { return nil }
        do throws(Errno) {
            let folder = try source.openUp(name, in: entry.folder, entry.status)
            return Level(
                folder: Folder(opened: folder, path: entry.path, placement: entry.placement),
                names: try Self.names(of: folder.descriptor))
        } catch .noEntry, .notDirectory, Errno(ELOOP) { return nil } catch {
            throw source.failure("it cannot be read", entry.path, error)
        }
    }

    /// Returns the names in reverse order.
    private static func names(of folder: FileDescriptor) throws(Errno) -> [RawText] {
        // Reading through a second descriptor leaves the position of the first unchanged.
        try BackupSource.openFolder(".", in: folder).names().sorted { left, right in strcmp(left, right) > 0 }
    }
}
