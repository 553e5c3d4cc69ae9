import Glibc

/// A mount, as /proc/self/mountinfo describes it.
package struct MountEntry: Hashable, Sendable {
    package var mountpoint: String
    package var type: String
    /// The source; for a container, the absolute path of its store.
    package var source: String
    /// The device of the file system, such as `0:45`.
    package var device: String
    /// The directory of the file system that the mount shows.
    package var root: String
    /// The user who may unmount a FUSE mount.
    package var owner: uid_t?
    /// The connection number of a FUSE mount.
    package var connection: Int?

    /// Whether the mount shows all of its file system. A bind mount of a folder has no control directory.
    package var isWhole: Bool { root == "/" }
    package var isContainer: Bool { type == "fuse.purgefs" && isWhole }

    /// Returns all mounts, the newest last, or none if /proc is not mounted.
    package static func all() -> [MountEntry] { all(of: "self") }

    /// Returns the mounts in the mount namespace of a process.
    package static func all(of process: String) -> [MountEntry] {
        do throws(Errno) {
            let table = try FileDescriptor.open("/proc/\(process)/mountinfo", O_RDONLY).readToEnd()
            return parse(table)
        } catch { return [] }
    }

    package static func containers() -> [MountEntry] { all().filter(\.isContainer) }

    /// Returns the container mounted at a path, unless a newer mount hides it.
    package static func container(at mountpoint: String) -> MountEntry? {
        guard System.mayBeMountpoint(mountpoint) else { return nil }
        return all().last { $0.mountpoint.isPath(mountpoint) }.flatMap { $0.isContainer ? $0 : nil }
    }

    /// Returns the container whose mount has the path in it, or whose store is at the path. Compares the path as written,
    /// without asking the container's daemon, which may have ended.
    package static func holding(_ path: String) -> MountEntry? {
        let path = path.utf8.first == UInt8(ascii: "/") ? path : (Places.resolved(".") ?? "") + "/" + path
        return containers().last {
            path.isPath($0.mountpoint) || path.isPath(below: $0.mountpoint) || path.isPath($0.source)
        }
    }

    /// Parses lines of proc(5): `36 35 98:0 / /mnt rw,noatime master:1 - fuse.purgefs source options`.
    package static func parse(_ table: [UInt8]) -> [MountEntry] {
        table.split(separator: UInt8(ascii: "\n")).compactMap { line in
            let words = line.split(separator: UInt8(ascii: " "))
            guard words.count > 4, let separator = words.firstIndex(of: [UInt8(ascii: "-")]),
                separator + 3 < words.count
            else { return nil }
            // As text, a path that is not UTF-8 would become another path. purgefs makes no such mounts.
            guard let mountpoint = unescaped(words[4]), let source = unescaped(words[separator + 2]),
                let root = unescaped(words[3])
            else { return nil }
            let (device, type) = (text(words[2]), text(words[separator + 1]))
            return MountEntry(
                mountpoint: mountpoint, type: type, source: source, device: device, root: root,
                owner: type.hasPrefix("fuse") ? owner(text(words[separator + 3])) : nil,
                connection: device.hasPrefix("0:") ? Int(device.dropFirst(2)) : nil)
        }
    }

    private static func text(_ word: ArraySlice<UInt8>) -> String { String(decoding: word, as: UTF8.self) }

    private static func owner(_ options: String) -> uid_t? {
        let option = options.split(separator: ",").first { $0.hasPrefix("user_id=") }
        return option.flatMap { uid_t($0.dropFirst("user_id=".count)) }
    }

    /// Decodes escapes of a backslash and three octal digits, such as `\040` for a space; nil if the result is not UTF-8.
    private static func unescaped(_ text: ArraySlice<UInt8>) -> String? {
        guard text.contains(UInt8(ascii: "\\")) else { return String(path: Array(text)) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(path: bytes)
    }
}
