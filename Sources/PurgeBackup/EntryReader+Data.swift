import Glibc
import PurgeStore
import PurgeSystem

/// Two buffers, each large enough for a small file.
final class FileBuffers {
    /// The size of the largest small file. A larger file is copied in pieces, and a change to it ends the backup. The log of a
    /// SQLite database, which each transaction changes, is usually smaller: 4 MiB.
    static let size = 8 << 20
    static let chunk = 1 << 20

    let first = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
    let second = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)

    deinit {
        first.deallocate()
        second.deallocate()
    }
}

// The data of files.
extension EntryReader {
    /// Reads a small file. Returns nil if the file changed meanwhile; `sink` then got none of it. In a mount, a program may
    /// change the file through a mapping, which the modification time shows only once the kernel has written the pages back. So
    /// a file in a mount is read twice. If both copies are equal, the file had this content at the moment in between.
    func readSmall(_ file: OpenFile, into sink: some EntrySink) throws(StoreError) -> Checksum? {
        let size = Int(file.record.size)
        let whole = UnsafeMutableRawBufferPointer(rebasing: buffers.first[..<size])
        let again = UnsafeMutableRawBufferPointer(rebasing: buffers.second[..<size])
        let isStable = try source.reading(file.record.path) { () throws(Errno) in
            guard try Self.fill(whole, file.descriptor) else { return false }
            if !source.isInStore {
                guard try Self.fill(again, file.descriptor), Self.areEqual(whole, again) else { return false }
            }
            return try System.status(file.descriptor.raw).hasSameData(as: file.status)
        }
        guard isStable, Self.holes(of: file.record).allSatisfy({ Self.isZero(whole[$0]) }) else { return nil }
        try begin(file.record, sink)
        return try give(UnsafeRawBufferPointer(whole), file.record, to: sink)
    }

    private func give(
        _ whole: UnsafeRawBufferPointer, _ record: EntryRecord, to sink: some EntrySink
    ) throws(StoreError) -> Checksum {
        var end = 0
        for run in record.runs {
            try sink.hole(run.lowerBound - Int64(end))
            end = Int(run.upperBound)
            try sink.data(UnsafeRawBufferPointer(rebasing: whole[Int(run.lowerBound)..<end]))
        }
        try sink.hole(record.size - Int64(end))
        try progress.note(bytes: record.size)
        var checksum = Checksum()
        checksum.add(whole)
        return checksum
    }

    /// Returns false if the file has become shorter.
    private static func fill(_ buffer: UnsafeMutableRawBufferPointer, _ file: FileDescriptor) throws(Errno) -> Bool {
        var end = 0
        while end < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
            let count = try System.pread(file.raw, rest, offset: Int64(end))
            guard count > 0 else { return false }
            end += count
        }
        return true
    }

    private static func areEqual(_ left: UnsafeMutableRawBufferPointer, _ right: UnsafeMutableRawBufferPointer) -> Bool
    {
        guard let one = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(one, other, left.count) == 0
    }

    private static func holes(of record: EntryRecord) -> [Range<Int>] {
        var holes: [Range<Int>] = []
        var end = 0
        for run in record.runs {
            holes.append(end..<Int(run.lowerBound))
            end = Int(run.upperBound)
        }
        return holes + [end..<Int(record.size)]
    }

    private static func isZero(_ bytes: Slice<UnsafeMutableRawBufferPointer>) -> Bool {
        guard let first = bytes.first, let start = UnsafeRawBufferPointer(rebasing: bytes).baseAddress else {
            return true
        }
        // The first byte is zero, and each further byte is compared with the byte before it.
        return first == 0 && memcmp(start, start + 1, bytes.count - 1) == 0
    }

    /// Reads a large file in pieces. Throws if the file changed meanwhile, which ends the backup, because a part of the file is
    /// already in the archive.
    func readLarge(_ file: OpenFile, into sink: some EntrySink) throws(StoreError) -> Checksum? {
        try begin(file.record, sink)
        let checksum = try copy(file, into: sink)
        let now = try source.reading(file.record.path) { () throws(Errno) in
            try source.settle(file.descriptor)
            return try System.status(file.descriptor.raw)
        }
        guard now.isUnchanged(since: file.status) else { throw changed(file.record.path) }
        return checksum
    }

    private func copy(_ file: OpenFile, into sink: some EntrySink) throws(StoreError) -> Checksum {
        let record = file.record
        var checksum = Checksum()
        for run in record.runs {
            try sink.hole(run.lowerBound - checksum.count)
            checksum.addZeros(run.lowerBound - checksum.count)
            while checksum.count < run.upperBound {
                try copyChunk(file, upTo: run.upperBound, &checksum, into: sink)
                try progress.note(bytes: checksum.count)
            }
        }
        try sink.hole(record.size - checksum.count)
        checksum.addZeros(record.size - checksum.count)
        return checksum
    }

    private func copyChunk(
        _ file: OpenFile, upTo end: Int64, _ checksum: inout Checksum, into sink: some EntrySink
    ) throws(StoreError) {
        let wanted = Int(min(Int64(FileBuffers.chunk), end - checksum.count))
        let chunk = UnsafeMutableRawBufferPointer(rebasing: buffers.first[..<wanted])
        let offset = checksum.count
        let count = try source.reading(file.record.path) { () throws(Errno) in
            try System.pread(file.descriptor.raw, chunk, offset: offset)
        }
        guard count > 0 else { throw changed(file.record.path) }
        let read = UnsafeRawBufferPointer(rebasing: chunk[..<count])
        try sink.data(read)
        checksum.add(read)
    }
}
