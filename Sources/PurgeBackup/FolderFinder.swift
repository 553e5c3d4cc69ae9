import Glibc
import PurgeSystem

/// Finds the folders of a tree by their paths, never through a symbolic link. The last one is kept, because entries
/// that follow each other are mostly in the same folder.
struct FolderFinder {
    let root: FileDescriptor
    private var path: [UInt8] = []
    private var folder: FileDescriptor

    init(_ root: FileDescriptor) { (self.root, folder) = (root, root) }

    mutating func folder(at wanted: [UInt8]) throws(Errno) -> FileDescriptor {
        if wanted == path { return folder }
        var found = root
        for name in wanted.split(separator: UInt8(ascii: "/")) {
            found = try found.open(PathForm.raw(name), O_RDONLY | O_DIRECTORY)
        }
        (path, folder) = (wanted, found)
        return found
    }

    /// The folder of an entry, and its name there.
    mutating func place(of path: [UInt8]) throws(Errno) -> (folder: FileDescriptor, name: RawText) {
        let slash = path.lastIndex(of: UInt8(ascii: "/"))
        let parent = slash.map { Array(path[..<$0]) } ?? []
        return (try folder(at: parent), PathForm.raw(path[(slash.map { $0 + 1 } ?? 0)...]))
    }

    /// Whether something is there.
    mutating func has(_ path: [UInt8]) throws(Errno) -> Bool {
        if path.isEmpty { return true }
        do throws(Errno) {
            let (folder, name) = try place(of: path)
            _ = try System.status(at: folder.raw, name)
            return true
        } catch .noEntry, .notDirectory, Errno(ELOOP) { return false }
    }
}
