import Glibc
import PurgeSystem

/// A directory of root's in a folder of somebody else, who exchanges it for another one.
public struct ExchangedDirectory: Sendable {
    public static let text = "root's"
    private let path: String
    private let hasFile: Bool
    /// Open, so that no other gets its inode number when it is removed.
    private let opened: FileDescriptor
    private let inode: UInt64

    /// An empty one looks like one that was just made.
    public init(_ path: String, hasFile: Bool) throws {
        (self.path, self.hasFile) = (path, hasFile)
        try Files.makeDirectory(path, mode: 0o700)
        if hasFile { try Files.write(Self.text, to: path + "/journal.sqlite") }
        opened = try FileDescriptor.open(path, System.openPath)
        inode = UInt64(try Files.status(path).st_ino)
    }

    /// By RENAME_EXCHANGE of <linux/fs.h>. Does nothing if there is nothing at `other`.
    public func exchange(with other: String) {
        do { try Files.rename(path, other, flags: 2) } catch {}
    }

    /// What has been done to it, wherever below `folder` it is now; nil if nothing has. The owner of the folder can remove
    /// an empty one too. In the owner's own store root makes folders in it, which are root's (`isFilled`).
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
