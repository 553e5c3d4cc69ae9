#if os(Linux)
internal import CContainerCalls
import Foundation
import Glibc

/// The extended attributes of a file or folder. Through them, a mount of purgefs offers features for which Linux has no call. A
/// symbolic link is not followed, as in a URL's resource values.
struct ItemAttributes {
    private let path: String
    private let status: stat

    /// Returns nil, with `errno` set, if nothing exists at the path, or if it cannot be examined.
    init?(at path: String) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        self.path = path
        self.status = status
    }

    /// Whether the item is on a mount of purgefs.
    var isInContainer: Bool { mount != nil }

    /// Whether the capacities of the item are those of a mount of purgefs.
    var hasCapacities: Bool { volume != nil }

    /// Returns a flag of this file or folder; nil if the item does not have it, or if it cannot be read. Symbolic links and
    /// special files have no flags.
    func flag(_ name: String) -> String? {
        hasFlags ? Self.read(name, of: path, container_attribute).text : nil
    }

    /// Returns a boolean flag, which is stored as `0`, `1` or an urgency; a missing flag is false. Returns nil if the item
    /// cannot have flags, or if this process cannot read them.
    func mark(_ name: String) -> Bool? {
        guard hasFlags else { return nil }
        let (text, errno) = Self.read(name, of: path, container_attribute)
        return text.map { $0 != "0" } ?? (errno == ENODATA ? false : nil)
    }

    /// Whether the item can have flags: Linux keeps no `user.` attributes on links and special files.
    var hasFlags: Bool { isFile || isFolder }

    /// Returns a capacity of the volume in bytes, which the mount computes for every item; nil off a mount of purgefs.
    func capacity(_ name: String) -> Int64? {
        volume.flatMap { Self.read(name, of: $0, container_volume_attribute).text }.flatMap { Int64($0) }
    }

    /// The bytes that a regular file takes from the volume; nil for any other item. `st_blocks` counts units of 512 bytes on
    /// every file system.
    var allocatedSize: Int? {
        isFile ? Int(status.st_blocks) * 512 : nil
    }

    /// Sets a flag.
    /// - Throws: `CocoaError`, with the errno of setxattr(2) as the underlying error.
    func setFlag(_ name: String, to value: String) throws {
        let bytes = Array(value.utf8)
        if container_set_attribute(path, "user.purgefs." + name, bytes, bytes.count) != 0 {
            throw ItemFailure.writing(errno, path)
        }
    }

    private var isFile: Bool { status.st_mode & S_IFMT == S_IFREG }
    private var isLink: Bool { status.st_mode & S_IFMT == S_IFLNK }
    private var isFolder: Bool { status.st_mode & S_IFMT == S_IFDIR }

    /// The path at which to query the volume's capacities; nil if they are not those of a mount of purgefs.
    private var volume: String? { mount ?? Self.container(ifRoot: path) }

    /// Returns the container of a program that `purgefs run` or a harness started, if the path is "/". A phone has one
    /// volume, so code for iOS may query the capacities at "/".
    static func container(ifRoot path: String) -> String? {
        guard path == "/", let mount = ProcessInfo.processInfo.environment["PURGEFS_MOUNT"] else { return nil }
        return isMount(mount) ? mount : nil
    }

    /// A path on the mount of purgefs that has the item; nil if there is none. For anything but a folder this is the parent
    /// folder, because a file's attributes may be unreadable, and a link belongs to the volume that it is on. But a link
    /// outside a container that leads into one is queried itself, because Foundation follows links for capacities.
    private var mount: String? {
        let folder = isFolder ? path : URL(fileURLWithPath: path).deletingLastPathComponent().path
        if Self.isMount(folder) { return folder }
        return isLink && Self.isMount(path) ? path : nil
    }

    /// Recognizes a mount of purgefs by a capacity, which is computed and never stored. The type of the file system is not
    /// enough, and neither are a file's flags: copies on other file systems may have kept them.
    private static func isMount(_ path: String) -> Bool {
        container_is_fuse(path) != 0 && read("volumeTotalCapacity", of: path, container_volume_attribute).text != nil
    }

    private static func read(
        _ name: String, of path: String,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer, Int) -> Int
    ) -> (text: String?, errno: Int32) {
        // The longest value is the name of a class, with 52 bytes.
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = call(path, "user.purgefs." + name, &bytes, bytes.count)
        guard count >= 0 else { return (nil, errno) }
        return (String(decoding: bytes.prefix(count), as: UTF8.self), 0)
    }
}
#endif
