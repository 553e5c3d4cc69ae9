import Glibc

extension FileDescriptor {
    /// Reads the whole content of a file that cannot be read at an offset, or has no size (/proc).
    public func readToEnd() throws(Errno) -> [UInt8] {
        var content: [UInt8] = []
        while true {
            let chunk = try readSome(65536)
            if chunk.isEmpty { return content }
            content += chunk
        }
    }

    /// Makes one read(2), or pread(2) if there is an offset. The result is empty at the end of the file.
    public func readSome(_ limit: Int, at offset: Int64? = nil) throws(Errno) -> [UInt8] {
        try System.read(raw, limit, at: offset)
    }

    /// Makes one write(2): one command to a control file.
    public func writeOnce(_ text: String) throws(Errno) -> Int { try writeOnce(Array(text.utf8)) }

    public func writeOnce(_ bytes: [UInt8]) throws(Errno) -> Int { try System.write(raw, bytes) }

    /// Returns the names of a directory's entries after the current position, without `.` and `..`.
    public func names() throws(Errno) -> [RawText] { try names { _ in true } }

    public func names(where isWanted: (CName) -> Bool) throws(Errno) -> [RawText] {
        var names: [RawText] = []
        try DirectoryBlock.forEach(of: raw) { _, name in
            if !DirectoryBlock.isDot(name), isWanted(name) { names.append(System.rawText(name)) }
        }
        return names
    }
}
