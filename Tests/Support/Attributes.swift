import Glibc
import PurgeSystem

/// Extended attributes of a path. A symbolic link in the last component is not followed.
public enum Attributes {
    private static func split(_ path: String) throws(Errno) -> (FileDescriptor, String) {
        guard let slash = path.lastIndex(of: "/") else { throw .invalid }
        let parent = path[..<slash]
        let directory = try FileDescriptor.open(parent.isEmpty ? "/" : String(parent), System.openPath | O_DIRECTORY)
        return (directory, String(path[path.index(after: slash)...]))
    }

    public static func set(_ path: String, _ key: String, _ value: [UInt8], flags: Int32 = 0) throws(Errno) {
        let (parent, name) = try split(path)
        try System.setAttribute(at: parent.raw, name, key, value, flags: flags)
    }
    public static func set(_ path: String, _ key: String, _ value: String, flags: Int32 = 0) throws(Errno) {
        try set(path, key, Array(value.utf8), flags: flags)
    }
    /// Sets `user.purgefs.KEY`.
    public static func mark(_ path: String, _ key: String, _ value: String) throws(Errno) {
        try set(path, "user.purgefs.\(key)", value)
    }

    public static func get(_ path: String, _ key: String) throws(Errno) -> [UInt8] {
        let (parent, name) = try split(path)
        return try System.attribute(at: parent.raw, name, key, limit: 65536)
    }
    public static func text(_ path: String, _ key: String) throws(Errno) -> String {
        String(decoding: try get(path, key), as: UTF8.self)
    }

    public static func remove(_ path: String, _ key: String) throws(Errno) {
        let (parent, name) = try split(path)
        try System.removeAttribute(at: parent.raw, name, key)
    }

    /// Returns the names from listxattr(2), sorted.
    public static func names(_ path: String) throws(Errno) -> [String] {
        let (parent, name) = try split(path)
        var list = [CChar](repeating: 0, count: 65536)
        let length = try Result<Int, any Error> {
            try list.withUnsafeMutableBufferPointer {
                try System.attributeNames(at: parent.raw, name, into: $0)
            }
        }.mapErrno()
        let bytes = list[..<length].map { UInt8(bitPattern: $0) }
        return bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }.sorted()
    }
}
