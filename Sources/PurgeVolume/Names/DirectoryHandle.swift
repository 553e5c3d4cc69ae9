import Glibc
import PurgeSystem
import PurgeTree
import Synchronization

/// An open directory: a stream of the backing directory's records, read ahead by a block.
public final class DirectoryHandle: Sendable {
    /// The number of live handles in all volumes of this process, for the census.
    static let alive = Atomic<Int>(0)

    let node: Node
    /// nil for the control directory.
    private let descriptor: FileDescriptor?
    private struct Stream {
        var block = [UInt8]()
        /// The part of the block that has not been returned yet.
        var rest = 0..<0
        /// The cookie of the next record.
        var cookie: Int64 = 0
    }
    // Held while records are returned; comes before the volume's own lock.
    private let stream = Mutex(Stream())

    init(node: Node, descriptor: FileDescriptor?) {
        self.node = node
        self.descriptor = descriptor
        Self.alive.add(1, ordering: .relaxed)
    }

    deinit { Self.alive.subtract(1, ordering: .relaxed) }

    // Unmanaged: no reference is taken, only the address is read.
    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    func status(of name: CName) throws(Errno) -> FileStatus {
        guard let descriptor else { throw .noEntry }
        return try System.status(at: descriptor.raw, name)
    }

    /// Reads the status of up to `count` entries that have been read ahead. Calls `beforehand` first if there are any.
    func warmUp(_ count: Int, beforehand: () -> Void) {
        let block = stream.withLock { Array($0.block[$0.rest]) }
        guard let descriptor, !block.isEmpty else { return }
        beforehand()
        var left = count
        block.withUnsafeBytes { block in
            _ = DirectoryBlock.walk(block) { _, name in
                do throws(Errno) { _ = try System.status(at: descriptor.raw, name) } catch {}  // best effort
                left -= 1
                return left > 0
            }
        }
    }

    /// Passes records from cookie `offset` on to `body`, until `body` returns false or the directory ends.
    func forEach(from offset: Int64, _ body: (DirectoryRecord, CName) -> Bool) throws(Errno) {
        guard let descriptor else { return }
        try stream.withLock { (stream) throws(Errno) in
            if stream.cookie != offset || offset == 0 {
                _ = try System.seek(descriptor.raw, offset, SEEK_SET)
                stream.cookie = offset
                stream.rest = 0..<0
            }
            while true {
                if stream.rest.isEmpty {
                    if stream.block.isEmpty { stream.block = [UInt8](repeating: 0, count: DirectoryBlock.size) }
                    let count = try stream.block.withUnsafeMutableBytes { block in
                        Result { () throws(Errno) in try System.directoryEntries(descriptor.raw, into: block) }
                    }.get()
                    if count == 0 { return }
                    stream.rest = 0..<count
                }
                var cookie = stream.cookie
                let taken = stream.block.withUnsafeBytes { block in
                    DirectoryBlock.walk(UnsafeRawBufferPointer(rebasing: block[stream.rest])) { record, name in
                        guard body(record, name) else { return false }
                        cookie = record.next
                        return true
                    }
                }
                stream.cookie = cookie
                stream.rest = stream.rest.lowerBound + taken..<stream.rest.upperBound
                if !stream.rest.isEmpty { return }
            }
        }
    }
}
