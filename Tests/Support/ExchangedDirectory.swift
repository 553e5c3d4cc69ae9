import Glibc
import PurgeSystem

/// A directory owned by root in another user's folder. The user exchanges it for a different one.
public struct ExchangedDirectory: Sendable {
    public static let text = "root's"
    private let path: String
    private let hasFile: Bool
    /// An open descriptor, so that the inode number is not reused after a removal.
    private let opened: FileDescriptor
    private let inode: UInt64

    /// Creates the directory. Without a file, it looks like a directory that was just created.
    public init(_ path: String, hasFile: Bool) throws {
        (self.path, self.hasFile) = (path, hasFile)
        try Files.makeDirectory(path, mode: 0o700)
        if hasFile { try Files.write(Self.text, to: path + "/journal.sqlite") }
        opened = try FileDescriptor.open(path, System.openPath)
        inode = UInt64(try Files.status(path).st_ino)
    }

    /// Exchanges the entries at `path` and `other` with RENAME_EXCHANGE of <linux/fs.h>. Ignores failures, for example if
    /// `other` does not exist.
    public func exchange(with other: String) {
        do { try Files.rename(path, other, flags: 2) } catch {}
    }

    /// Finds the directory below `folder` and describes the harm done to it; returns nil for no harm. A missing directory is
    /// harm only if it had a file, because the folder's owner may remove an empty one. With `isFilled`, root's own folders in
    /// it are no harm.
    public func harm(below folder: String, isFilled: Bool = false) throws -> String? {
        for name in try Files.tree(folder) {
            let found = "\(folder)/\(name)"
            let status = try Files.status(found)
            guard UInt64(status.st_ino) == inode else { continue }
            if status.st_uid != 0 { return "given to \(status.st_uid)" }
            if status.st_mode & 0o7777 != 0o700 { return "its mode was changed" }
            let names = try Files.names(in: found)
            guard hasFile else { return names.isEmpty || isFilled ? nil : "it has \(names)" }
            if names != ["journal.sqlite"] { return "it has \(names)" }
            return Files.text(found + "/journal.sqlite") == Self.text ? nil : "its file was changed"
        }
        return hasFile ? "it is gone" : nil
    }
}
