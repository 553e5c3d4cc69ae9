import Glibc
import PurgeSystem

/// A mount, as /proc/self/mountinfo describes it.
struct MountEntry: Hashable, Sendable {
    var mountpoint: String
    var type: String
    /// For a container: the absolute path of its store.
    var source: String
    /// The device of the file system, such as `0:45`.
    var device: String
    /// The directory of its file system that it shows.
    var root: String
    /// For a FUSE mount: the user who may unmount it.
    var owner: uid_t?
    /// For a FUSE mount: the number of its connection.
    var connection: Int?

    /// Whether it shows all of its file system; a bind mount of a folder has no control directory.
    var isWhole: Bool { root == "/" }
    var isContainer: Bool { type == "fuse.purgefs" && isWhole }

    /// All mounts, the newest last; none if /proc is not mounted.
    static func all() -> [MountEntry] { all(of: "self") }

    /// The mounts in the mount namespace of a process.
    static func all(of process: String) -> [MountEntry] {
        do throws(Errno) {
            let table = try FileDescriptor.open("/proc/\(process)/mountinfo", O_RDONLY).readToEnd()
            return parse(String(decoding: table, as: UTF8.self))
        } catch { return [] }
    }

    static func containers() -> [MountEntry] { all().filter(\.isContainer) }

    /// The container that is mounted there and visible, that is, not hidden by a newer mount.
    static func container(at mountpoint: String) -> MountEntry? {
        all().last { $0.mountpoint.isPath(mountpoint) }.flatMap { $0.isContainer ? $0 : nil }
    }

    /// Lines of proc(5): `36 35 98:0 / /mnt rw,noatime master:1 - fuse.purgefs source options`.
    static func parse(_ table: String) -> [MountEntry] {
        table.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard words.count > 4, let separator = words.firstIndex(of: "-"), separator + 3 < words.count else {
                return nil
            }
            // A path that is not UTF-8 would become another path as text; purgefs makes no such mounts.
            guard let mountpoint = unescaped(words[4]), let source = unescaped(words[separator + 2]),
                let root = unescaped(words[3])
            else { return nil }
            let owner = words[separator + 3].split(separator: ",").first { $0.hasPrefix("user_id=") }
            return MountEntry(
                mountpoint: mountpoint, type: String(words[separator + 1]),
                source: source, device: String(words[2]), root: root,
                owner: owner.flatMap { uid_t($0.dropFirst("user_id=".count)) },
                connection: words[2].hasPrefix("0:") ? Int(words[2].dropFirst(2)) : nil)
        }
    }

    /// `\040` is a space: three octal digits after a backslash.
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
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
