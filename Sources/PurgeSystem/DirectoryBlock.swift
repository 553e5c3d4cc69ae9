/// One record of getdents64(2).
@frozen public struct DirectoryRecord: Sendable {
    public var inode: UInt64
    /// The cookie of the next record.
    public var next: Int64
    /// DT_REG and so on.
    public var type: UInt8

    /// The offset of the name in `struct linux_dirent64`: inode (8), cookie (8), length (2), type (1), name.
    @usableFromInline static let nameOffset = 19

    @inlinable init(at place: UnsafeRawPointer) {
        inode = place.loadUnaligned(as: UInt64.self)
        next = place.loadUnaligned(fromByteOffset: 8, as: Int64.self)
        type = place.loadUnaligned(fromByteOffset: 18, as: UInt8.self)
    }
}

/// Parses the blocks that getdents64(2) fills.
public enum DirectoryBlock {
    public static let size = 32768

    @inlinable public static func isDot(_ name: CName) -> Bool {
        name[0] == 0x2e && (name[1] == 0 || (name[1] == 0x2e && name[2] == 0))
    }

    /// Visits every record of the directory from its current position to its end.
    public static func forEach(of directory: Int32, _ body: (DirectoryRecord, CName) -> Void) throws(Errno) {
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

    /// Visits the records of one block until `body` returns false. Returns the length in bytes of the records for which `body`
    /// has returned true.
    @discardableResult
    @inlinable public static func walk(
        _ block: UnsafeRawBufferPointer, _ body: (DirectoryRecord, CName) -> Bool
    ) -> Int {
        var offset = 0
        while offset < block.count, let base = block.baseAddress {
            let place = base + offset
            let name = (place + DirectoryRecord.nameOffset).assumingMemoryBound(to: CChar.self)
            guard body(DirectoryRecord(at: place), name) else { break }
            offset += Int(place.loadUnaligned(fromByteOffset: 16, as: UInt16.self))
        }
        return offset
    }
}
