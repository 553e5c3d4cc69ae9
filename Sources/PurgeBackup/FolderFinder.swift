import Glibc
import PurgeSystem

/// Finds the folders of a tree by their paths, never through a symbolic link. Keeps the last folder open, because consecutive
/// entries are mostly in the same one.
struct FolderFinder {
    let root: FileDescriptor
    private var path: [UInt8] = []
    private var folder: FileDescriptor

    init(_ root: FileDescriptor) { (self.root, folder) = (root, root) }

    mutating func folder(at wanted: [UInt8]) throws(Errno) -> FileDescriptor {
        if wanted == path { return folder }
        var (found, rest) = (root, wanted[...])
        if Self.is(wanted, below: path) {
            (found, rest) = (folder, wanted[(path.count)...])
        } else if Self.is(path, below: wanted), let above = try ascended(path[wanted.count...]) {
            (found, rest) = (above, [])
        }
        for name in rest.split(separator: UInt8(ascii: "/")) {
            found = try found.open(PathForm.raw(name), O_RDONLY | O_DIRECTORY)
        }
        (path, folder) = (wanted, found)
        return found
    }

    private static func `is`(_ path: [UInt8], below folder: [UInt8]) -> Bool {
        !folder.isEmpty && path.count > folder.count && path[folder.count] == UInt8(ascii: "/")
            && path.starts(with: folder)
    }

    /// Returns the folder above the kept one by as many levels as `inner` has names; nil if this process may not search or read
    /// a folder on the way.
    private func ascended(_ inner: ArraySlice<UInt8>) throws(Errno) -> FileDescriptor? {
        var found = folder
        do throws(Errno) {
            for _ in inner.split(separator: UInt8(ascii: "/")) { found = try found.open("..", O_RDONLY | O_DIRECTORY) }
            return found
        } catch .accessDenied { return nil }
    }

    /// Returns the folder of an entry, and its name there.
    mutating func place(of path: [UInt8]) throws(Errno) -> (folder: FileDescriptor, name: RawText) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { Array(path[..<$0]) } ?? []
        return (try folder(at: parent), PathForm.raw(path[(slash.map { $0 + 1 } ?? 0)...]))
    }

    /// Returns whether an entry exists at the path.
    mutating func has(_ path: [UInt8]) throws(Errno) -> Bool {
        if path.isEmpty { return true }
        do throws(Errno) {
            let (folder, name) = try place(of: path)
            _ = try System.status(at: folder.raw, name)
            return true
        } catch .noEntry, .notDirectory, Errno(ELOOP) { return false }
    }
}
