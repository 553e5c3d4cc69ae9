import Glibc
import PurgeSystem

extension FileDescriptor {
    /// Whether something is there, a symbolic link without a target included.
    static func exists(_ path: String) -> Bool { kind(of: path) != nil }

    private static func kind(of path: String) -> mode_t? {
        do { return try System.status(at: AT_FDCWD, path).st_mode & S_IFMT } catch { return nil }
    }

    /// S_IFDIR, S_IFREG, ... of an entry; nil where there is none.
    func kind(of name: String) throws(Errno) -> mode_t? {
        do { return try System.status(at: raw, name).st_mode & S_IFMT } catch .noEntry { return nil }
    }

    /// Names of all entries but `.` and `..`, from where this descriptor stands.
    func entryNames() throws(Errno) -> [String] {
        var names: [String] = []
        var buffer = [UInt8](repeating: 0, count: 32768)
        while true {
            let count = try buffer.withUnsafeMutableBytes { bytes in
                Result { () throws(Errno) in try System.directoryEntries(raw, into: bytes) }
            }.get()
            if count == 0 { return names }
            names += Self.names(in: buffer[..<count])
        }
    }

    /// struct linux_dirent64: inode (8), offset (8), record length (2), type (1), name, zero.
    private static func names(in records: ArraySlice<UInt8>) -> [String] {
        var names: [String] = []
        var start = records.startIndex
        while start + 19 < records.endIndex {
            let length = Int(records[start + 16]) | Int(records[start + 17]) << 8
            let name = records[(start + 19)..<(start + length)].prefix { $0 != 0 }
            let text = String(decoding: name, as: UTF8.self)
            if text != "." && text != ".." { names.append(text) }
            start += length
        }
        return names
    }

    /// The whole content of a file that cannot be read at an offset, or has no size (/proc).
    func readSequentially() throws(Errno) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = try chunk.withUnsafeMutableBytes { buffer in
                Result { () throws(Errno) in try System.read(raw, buffer) }
            }.get()
            if count == 0 { return content }
            content += chunk[..<count]
        }
    }
}
