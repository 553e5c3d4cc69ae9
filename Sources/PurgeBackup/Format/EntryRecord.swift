import Glibc
import PurgeStore
import PurgeSystem

/// An entry of a container as a backup keeps it, without its data.
struct EntryRecord {
    enum Kind: String, Codable {
        case directory, file, symbolicLink, hardLink
    }

    /// The path relative to the container; empty for the container itself.
    var path: [UInt8]
    var kind: Kind
    /// The permissions, including set-user-ID, set-group-ID and the sticky bit.
    var mode: mode_t = 0
    var owner: uid_t = 0
    var group: gid_t = 0
    var accessed = timespec()
    var modified = timespec()
    /// The size of a file.
    var size: Int64 = 0
    /// The target of a symbolic link, or for a hard link the path of the first name, in the form of `path`.
    var link: [UInt8] = []
    var attributes: [VisibleAttributes.Attribute] = []
    /// The parts of a file with data; the rest is holes.
    var runs: [Range<Int64>] = []

    var hasHoles: Bool { size > 0 && runs != [0..<size] }

    /// Whether the archive can record the file's holes. libarchive 3.6 truncates a long name that is not UTF-8 if the file has
    /// holes. The holes are then zeros in the archive, and the manifest says where they are.
    var canKeepHoles: Bool {
        if path.count < 80 || path.allSatisfy({ $0 < 0x80 }) { return true }
        return String(validating: path, as: UTF8.self) != nil && UTF8Names.isAvailable
    }

    /// The checksum of kind, mode, owner, group, link and attributes. It finds damage where the archive has no checksum.
    var metadata: Checksum {
        var checksum = Checksum()
        func field(_ bytes: [UInt8]) { checksum.add(Array("\(bytes.count) ".utf8) + bytes) }
        checksum.add("\(kind.rawValue) \(mode) \(owner) \(group) ".utf8)
        field(link)
        for attribute in attributes {
            field(attribute.name)
            field(attribute.value)
        }
        return checksum
    }

    /// The path for messages.
    var place: String { PathForm.text(path) }
}

/// The forms of a path in a container.
enum PathForm {
    /// Returns the path as text. Bytes that are not UTF-8 become U+FFFD.
    static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }

    static func joined(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
    }

    /// Returns the path in the archive.
    static func archived(_ path: [UInt8]) -> [CChar] {
        raw(path.isEmpty ? Array(ArchiveWriter.folder.utf8) : joined(Array(ArchiveWriter.folder.utf8), path))
    }

    /// Returns the path with a terminating zero, for system calls.
    static func raw(_ bytes: some Sequence<UInt8>) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
