import Glibc

extension FileDescriptor {
    /// The whole content of a file that cannot be read at an offset, or has no size (/proc).
    public func readToEnd() throws(Errno) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let chunk = try readSome(65536)
            if chunk.isEmpty { return content }
            content += chunk
        }
    }

    /// One read(2), or pread(2) at an offset; empty at the end.
    public func readSome(_ limit: Int, at offset: Int64? = nil) throws(Errno) -> [UInt8] {
        try System.read(raw, limit, at: offset)
    }

    /// One write(2): one command to a control file.
    public func writeOnce(_ text: String) throws(Errno) -> Int { try writeOnce(Array(text.utf8)) }

    public func writeOnce(_ bytes: [UInt8]) throws(Errno) -> Int { try System.write(raw, bytes) }

    /// Names of a directory's entries except `.` and `..`, from this descriptor's position on.
    public func names() throws(Errno) -> [RawText] { try names { _ in true } }

    /// Those of them that are wanted.
    public func names(where isWanted: (CName) -> Bool) throws(Errno) -> [RawText] {
        var names: [RawText] = []
        try DirectoryBlock.forEach(of: raw) { _, name in
            if !DirectoryBlock.isDot(name), isWanted(name) { names.append(System.rawText(name)) }
        }
        return names
    }
}
