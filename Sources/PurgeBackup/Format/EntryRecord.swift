import Glibc
import PurgeStore
import PurgeSystem

/// An entry of a container as a backup keeps it, without its data.
struct EntryRecord {
    enum Kind: String, Codable {
        case directory, file, symbolicLink, hardLink
    }

    /// Relative to the container; empty for the container itself.
    var path: [UInt8]
    var kind: Kind
    /// The permissions, with set-user-ID and the like.
    var mode: mode_t = 0
    var owner: uid_t = 0
    var group: gid_t = 0
    var accessed = timespec()
    var modified = timespec()
    /// Of a file.
    var size: Int64 = 0
    /// The target of a symbolic link; the path of a hard link's first name, as in `path`.
    var link: [UInt8] = []
    var attributes: [VisibleAttributes.Attribute] = []
    /// Where a file has data; the rest is holes.
    var runs: [Range<Int64>] = []

    var hasHoles: Bool { size > 0 && runs != [0..<size] }

    /// libarchive 3.6 cuts a long name short if it has holes to write and the name is not UTF-8. Then the holes are zeros
    /// in the archive, and the manifest says where they are.
    var canKeepHoles: Bool {
        if path.count < 80 || path.allSatisfy({ $0 < 0x80 }) { return true }
        return String(validating: path, as: UTF8.self) != nil && UTF8Names.isAvailable
    }

    /// Of everything that is neither data nor a time, so that damage is found where the archive has no checksum.
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

    /// For messages.
    var place: String { PathForm.text(path) }
}

/// The forms of a path in a container.
enum PathForm {
    /// Bytes that are not UTF-8 become U+FFFD.
    static func text(_ path: [UInt8]) -> String { path.isEmpty ? "." : String(decoding: path, as: UTF8.self) }

    static func joined(_ folder: [UInt8], _ name: [UInt8]) -> [UInt8] {
        folder.isEmpty ? name : folder + [UInt8(ascii: "/")] + name
    }

    /// The path in the archive.
    static func archived(_ path: [UInt8]) -> [CChar] {
        raw(path.isEmpty ? Array(ArchiveWriter.folder.utf8) : joined(Array(ArchiveWriter.folder.utf8), path))
    }

    /// A path that ends with a zero, for system calls.
    static func raw(_ bytes: some Sequence<UInt8>) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
