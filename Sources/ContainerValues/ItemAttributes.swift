#if os(Linux)
internal import CContainerCalls
import Foundation
import Glibc

/// The attributes by which a mount of purgefs gives and takes what the platform has no call for, of one file or
/// folder. A symbolic link is not followed, as by the resource values of a URL.
struct ItemAttributes {
    private let path: String
    private let status: stat

    /// nil if there is nothing at that path, or it cannot be looked at.
    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        self.status = status
    }

    /// Whether this lies on a mount of purgefs.
    var isInContainer: Bool { volume != nil }

    /// A flag of this file or folder: nil if it has none of its own. Symbolic links and special files have no flags.
    func flag(_ name: String) -> String? {
        hasFlags ? Self.read(name, of: path, container_attribute).text : nil
    }

    /// A flag that is either set or not. It is kept as `0` or, if it is set, as `1` or an urgency. Whether a file that this process may not
    /// read has it cannot be told.
    func mark(_ name: String) -> Bool? {
        guard hasFlags else { return nil }
        let (text, errno) = Self.read(name, of: path, container_attribute)
        return text.map { $0 != "0" } ?? (errno == ENODATA ? false : nil)
    }

    /// Whether there can be a flag: Linux keeps no `user.` attributes of links and special files.
    var hasFlags: Bool { isFile || isFolder }

    /// A number that the mount computes for all that lies on it, in bytes.
    func capacity(_ name: String) -> Int64? {
        volume.flatMap { Self.read(name, of: $0, container_volume_attribute).text }.flatMap { Int64($0) }
    }

    /// The bytes that a file takes from the volume, nil of what is no regular file. Blocks of stat(2) have 512 bytes on every file
    /// system.
    var allocatedSize: Int? {
        isFile ? Int(status.st_blocks) * 512 : nil
    }

    /// Sets a flag.
    /// - Throws: `CocoaError`, with the errno of setxattr(2) below it.
    func setFlag(_ name: String, to value: String) throws {
        let bytes = Array(value.utf8)
        if container_set_attribute(path, "user.purgefs." + name, bytes, bytes.count) != 0 {
            throw ItemFailure.writing(errno, path)
        }
    }

    private var isFile: Bool { status.st_mode & S_IFMT == S_IFREG }
    private var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
    private var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// Where the volume is asked, if that is a mount of purgefs: at a folder, because a file may be one whose attributes cannot be read.
    /// A link has the volume it lies on; from elsewhere it leads into a container, as Foundation follows it for capacities.
    private var volume: String? {
        let folder = isFolder ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
        if Self.isMount(folder) { return folder }
        return isLink && Self.isMount(path) ? path : nil
    }

    /// The kind of file system alone does not say it, and neither do the flags of a file, which copies on other file systems may have
    /// kept; a capacity is computed and never stored.
    private static func isMount(_ path: String) -> Bool {
        container_is_fuse(path) != 0 && read("volumeTotalCapacity", of: path, container_volume_attribute).text != nil
    }

    private static func read(
        _ name: String, of path: String,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int
    ) -> (text: String?, errno: Int32) {
        // The longest value is the name of a class, 52 bytes.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = call(path, "user.purgefs." + name, &bytes, bytes.count)
        guard count >= 0 else { return (nil, errno) }
        return (String(decoding: bytes.prefix(count), as: UTF8.self), 0)
    }
}
#endif
