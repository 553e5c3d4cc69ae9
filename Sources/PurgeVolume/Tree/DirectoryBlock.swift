import PurgeSystem

/// One record of getdents64(2).
struct DirectoryRecord {
    var inode: UInt64
    /// Cookie of the next record.
    var next: Int64
    /// DT_REG and so on.
    var type: UInt8
}

/// Reads what getdents64(2) fills.
enum DirectoryBlock {
    static let size = 32768

    static func isDot(_ name: CName) -> Bool {
        name[0] == 0x2e && (name[1] == 0 || (name[1] == 0x2e && name[2] == 0))
    }

    /// Every record of the directory from its current position to its end.
    static func forEach(of directory: Int32, _ body: (DirectoryRecord, CName) -> Void) throws(Errno) {
        try withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            Result { () throws(Errno) in
                while true {
                    let count = try System.directoryEntries(directory, into: buffer)
                    if count == 0 { return }
                    walk(UnsafeRawBufferPointer(rebasing: buffer[..<count])) { record, name in
                        body(record, name)
                        return true
                    }
                }
            }
        }.get()
    }

    /// The records of one block, until `body` answers false; answers how many bytes were taken.
    @discardableResult
    static func walk(_ block: UnsafeRawBufferPointer, _ body: (DirectoryRecord, CName) -> Bool) -> Int {
        var offset = 0
        let nameOffset = 19  // after ino, next, length and type
        while offset < block.count, let base = block.baseAddress {
            let record = base + offset
            let length = Int(record.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
            let entry = DirectoryRecord(
                inode: record.loadUnaligned(as: UInt64.self),
                next: record.loadUnaligned(fromByteOffset: 8, as: Int64.self),
                type: record.loadUnaligned(fromByteOffset: 18, as: UInt8.self))
            guard body(entry, (record + nameOffset).assumingMemoryBound(to: CChar.self)) else { break }
            offset += length
        }
        return offset
    }
}
