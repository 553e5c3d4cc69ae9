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

    /// One read(2); empty at the end.
    public func readSome(_ limit: Int) throws(Errno) -> [UInt8] {
        var chunk = [UInt8](repeating: 0, count: limit)
        let count = try chunk.withUnsafeMutableBytes { buffer in
            Result { () throws(Errno) in try System.read(raw, buffer) }
        }.get()
        return Array(chunk[..<count])
    }

    /// One write(2): one command to a control file.
    public func writeOnce(_ text: String) throws(Errno) -> Int { try writeOnce(Array(text.utf8)) }

    public func writeOnce(_ bytes: [UInt8]) throws(Errno) -> Int {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(Errno) in try System.write(raw, bytes) }
        }.get()
    }

    /// Names of a directory's entries but `.` and `..`, from where this descriptor stands.
    public func names() throws(Errno) -> [RawText] {
        var names: [RawText] = []
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
    private static func names(in records: ArraySlice<UInt8>) -> [RawText] {
        var names: [RawText] = []
        var start = records.startIndex
        while start + 19 < records.endIndex {
            let length = Int(records[start + 16]) | Int(records[start + 17]) << 8
            let name = records[(start + 19)..<(start + length)].prefix { $0 != 0 }
            if !name.elementsEqual(".".utf8) && !name.elementsEqual("..".utf8) {
                names.append(name.map { CChar(bitPattern: $0) } + [0])
            }
            start += length
        }
        return names
    }
}
