import Glibc
import PurgeSystem

/// A path from the journal. U+FFFD in a name may stand for bytes that are not UTF-8; only a directory listing shows which
/// bytes.
struct JournaledName {
    private static let replacement: Unicode.Scalar = "\u{FFFD}"
    private static let slash = UInt8(ascii: "/")
    private static let most = 64

    private let path: String

    init(_ path: String) { self.path = path }

    /// Returns the candidate locations in the file system, which need not exist. For a name with U+FFFD, at most `most` are
    /// tried.
    func places(in root: String) -> [[UInt8]] {
        let start = Array(root.utf8)
        guard path.unicodeScalars.contains(Self.replacement) else { return [start + [Self.slash] + path.utf8] }
        return path.pathNames.reduce([start]) { folders, name in
            let found = folders.flatMap { folder in
                Self.names(like: name, in: folder).map { folder + [Self.slash] + $0 }
            }
            return Array(found.prefix(Self.most))
        }
    }

    /// Returns the names that the journal would spell as `name`. Looks in the folder only if `name` contains U+FFFD;
    /// otherwise the name need not exist.
    private static func names(like name: String, in folder: [UInt8]) -> [[UInt8]] {
        guard name.unicodeScalars.contains(replacement) else { return [Array(name.utf8)] }
        do throws(Errno) {
            let path = folder.map(CChar.init(bitPattern:)) + [0]
            let opened = FileDescriptor(
                adopting: try System.open(at: AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
            return try opened.names().map { $0.dropLast().map(UInt8.init(bitPattern:)) }
                .filter { String(decoding: $0, as: UTF8.self).isPath(name) }
        } catch { return [] }
    }
}
