import Glibc
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The largest files of a container. The walk that finds them keeps a bounded number of candidates.
struct LargestFiles {
    private struct Found {
        var path: [RawText]
        var charged: ByteCount
        var names: UInt64
    }
    private struct Level {
        let folder: any CleanableFolder
        /// The folders still to visit, in reverse order.
        var folders: [RawText]
    }

    private let most: Int
    private var found: [Found] = []
    /// The number of unreadable folders.
    private(set) var unread = 0
    /// The inodes of hard-linked files already seen; only the first name counts.
    private var linked: Set<UInt64> = []

    init(_ most: Int) { self.most = most }

    mutating func walk(_ root: any CleanableFolder) throws(Errno) {
        var path: [RawText] = []
        var levels = [try level(root, path)]
        while let last = levels.indices.last {
            guard let name = levels[last].folders.popLast() else {
                levels.removeLast()
                if !path.isEmpty { path.removeLast() }
                continue
            }
            path.append(name)
            do throws(Errno) {
                levels.append(try level(try levels[last].folder.folder(name), path))
            } catch {
                // A folder that was removed meanwhile is not missing from the report.
                if error != .noEntry { unread += 1 }
                path.removeLast()
            }
        }
        keepLargest()
    }

    private mutating func level(_ folder: any CleanableFolder, _ path: [RawText]) throws(Errno) -> Level {
        var folders: [RawText] = []
        for entry in try folder.entries() {
            if entry.kind == .folder {
                folders.append(entry.name)
            } else if entry.kind == .other, entry.bytes > .zero, entry.names < 2 || linked.insert(entry.inode).inserted
            {
                found.append(Found(path: path + [entry.name], charged: entry.bytes, names: entry.names))
                if found.count > 50 * most { keepLargest() }
            }
        }
        return Level(folder: folder, folders: folders.reversed())
    }

    private mutating func keepLargest() {
        found.sort { left, right in
            left.charged == right.charged
                ? Self.bytes(left.path).lexicographicallyPrecedes(Self.bytes(right.path)) : left.charged > right.charged
        }
        found.removeLast(max(0, found.count - most))
    }

    private static func bytes(_ path: [RawText]) -> [UInt8] {
        Array(path.map { $0.dropLast().map { UInt8(bitPattern: $0) } }.joined(separator: [UInt8(ascii: "/")]))
    }

    /// Returns the files with their attributes, largest first. `root` is the container's folder in a mount or a store.
    func files(in root: FileDescriptor) -> [ReportContent.File] {
        found.map { file in
            let flags = PathFlags(of: file.path, in: root, hasSeveralNames: file.names > 1)
            return ReportContent.File(
                path: String(decoding: Self.bytes(file.path), as: UTF8.self), charged: file.charged,
                tier: flags.placement.place.tier, mark: flags.mark, exclusion: flags.placement.exclusion)
        }
    }
}

/// The effect of the attributes of a file, and of the folders above it.
struct PathFlags {
    /// The nearest value of isPurgeable; a hard-linked file does not inherit one.
    private(set) var mark: PurgeMark?
    private(set) var placement: BackupPlacement

    /// Reads the attributes along a path; an unreadable attribute counts as unset.
    init(of path: [RawText], in root: FileDescriptor, hasSeveralNames: Bool) {
        var folder = root
        placement = .root(isFlagged: Self.isFlagged(root, nil))
        mark = Self.mark(root, nil)
        for (index, name) in path.enumerated() {
            placement = placement.entry(
                named: name.dropLast().map { UInt8(bitPattern: $0) }, isFlagged: Self.isFlagged(folder, name))
            mark = Self.mark(folder, name) ?? (index + 1 == path.count && hasSeveralNames ? nil : mark)
            guard index + 1 < path.count else { return }
            do throws(Errno) { folder = try folder.open(name, O_RDONLY | O_DIRECTORY) } catch { return }
        }
    }

    private static func isFlagged(_ folder: FileDescriptor, _ name: RawText?) -> Bool {
        do throws(Errno) { return try VisibleAttributes.isExcludedFromBackup(folder.raw, name) } catch { return false }
    }

    private static func mark(_ folder: FileDescriptor, _ name: RawText?) -> PurgeMark? {
        do throws(Errno) {
            let text = try System.attribute(at: folder.raw, name, StorageAttribute.isPurgeable.storeKey, limit: 16)
            return PurgeMark(text: String(decoding: text, as: UTF8.self))
        } catch { return nil }
    }
}
