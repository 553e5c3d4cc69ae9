import Glibc
import PurgeSystem

extension FileDescriptor {
    /// Whether `path` exists and can be examined. A dangling symbolic link counts as existing.
    static func exists(_ path: String) -> Bool { kind(of: path) != nil }

    private static func kind(of path: String) -> mode_t? {
        do { return try System.status(at: AT_FDCWD, path).st_mode & S_IFMT } catch { return nil }
    }

    /// Returns the type of an entry (S_IFDIR, S_IFREG, ...), or nil if there is none.
    func kind(of name: String) throws(Errno) -> mode_t? {
        do { return try System.status(at: raw, name).st_mode & S_IFMT } catch .noEntry { return nil }
    }

    /// Returns the names of all entries after this descriptor's position, except `.` and `..`. Bytes that are not UTF-8 become
    /// U+FFFD.
    package func entryNames() throws(Errno) -> [String] {
        try names().map { name in
            name.dropLast().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }
}
