import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Synchronization

/// An open directory: a stream of the backing directory's records, read ahead by a block.
public final class DirectoryHandle: Sendable {
    /// In all volumes of this process; for the census.
    static let alive = Atomic<Int>(0)

    let node: Node
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

    public var address: UInt64 { UInt64(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque())) }

    func status(of name: CName) throws(Errno) -> FileStatus {
        guard let descriptor else { throw .noEntry }
        return try System.status(at: descriptor.raw, name)
    }

    /// Visits up to `count` of the records that have been read ahead.
    func warmUp(_ count: Int, beforehand: () -> Void) {
        let block = stream.withLock { Array($0.block[$0.rest]) }
        guard let descriptor, !block.isEmpty else { return }
        beforehand()
        var left = count
        block.withUnsafeBytes { block in
            _ = DirectoryBlock.walk(block) { _, name in
                do throws(Errno) { _ = try System.status(at: descriptor.raw, name) } catch {}  // it is gone
                left -= 1
                return left > 0
            }
        }
    }

    /// Passes records from cookie `offset` on to `body`, until that returns false or the end.
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

/// One entry for a reader of a directory.
public struct DirectoryEntry {
    public let name: CName
    public let inode: UInt64
    /// The cookie of the next entry.
    public let next: Int64
    /// DT_REG and so on.
    public let type: UInt8
    /// With attributes if they were requested; the kernel then holds a reference.
    public let entry: Entry?
}

extension Volume {
    public func openDirectory(_ node: Node) throws(Errno) -> DirectoryHandle {
        if node.isControl { return DirectoryHandle(node: node, descriptor: nil) }
        try openFiles.admit()
        return DirectoryHandle(node: node, descriptor: try readableDirectory(node))
    }

    /// fsync(2) of a directory.
    public func syncDirectory(_ node: Node) throws(Errno) {
        hooks.beforeSlowWork()
        let descriptor = try readableDirectory(node)
        do throws(Errno) { try System.sync(descriptor.raw) } catch { throw access.hostError(error, node) }
    }

    /// A directory opened for reading, beside the cached descriptor that only names it.
    func readableDirectory(_ node: Node) throws(Errno) -> FileDescriptor {
        let directory = node === root ? store.container : try access.directoryDescriptor(node)
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | untouched.directoryFlags
        return FileDescriptor(adopting: try OpenFiles.openPatiently(directory.raw, ".", flags))
    }

    /// Passes entries from cookie `offset` on to `body`, until that returns false or the end. An entry with attributes
    /// that `body` has not taken is forgotten again.
    public func readDirectory(
        _ handle: DirectoryHandle, offset: Int64, withAttributes: Bool, _ body: (DirectoryEntry) -> Bool
    ) throws(Errno) {
        if handle.node.isControl { return control.read(handle.node, offset: offset, body) }
        try handle.forEach(from: offset) { record, name in
            give(record, name, of: handle, withAttributes, body)
        }
    }

    /// Brings what will be requested next into the caches of the file system below, while the reader is busy with the
    /// `count` entries that it has got.
    public func warmUp(_ handle: DirectoryHandle, after count: Int) {
        handle.warmUp(count) { hooks.beforeSlowWork() }
    }

    private func give(
        _ record: DirectoryRecord, _ name: CName, of handle: DirectoryHandle, _ withAttributes: Bool,
        _ body: (DirectoryEntry) -> Bool
    ) -> Bool {
        let directory = handle.node
        // The name is that of the control directory, which is not listed.
        if directory === root && ControlTree.isReserved(name) { return true }
        var entry: Entry?
        if withAttributes && !DirectoryBlock.isDot(name) {
            do throws(Errno) { entry = try lookup(name, listedBy: handle) } catch {
                // It was removed after the directory was read; the listing shows that moment.
                if error == .noEntry { return true }
            }
        }
        var inode = record.inode
        if name[0] == 0x2e, name[1] == 0x2e, name[2] == 0 {
            inode = read { _ in directory.parent?.inode ?? directory.inode }
        }
        let taken = body(
            DirectoryEntry(name: name, inode: inode, next: record.next, type: record.type, entry: entry))
        if !taken, let entry { forget(entry.node, count: 1) }
        return taken
    }
}

extension Volume {
    /// With one look at the tree if nothing moves meanwhile; otherwise the inode number could be another file's.
    private func lookup(_ name: CName, listedBy handle: DirectoryHandle) throws(Errno) -> Entry {
        let began = core.moves.load(ordering: .acquiring)
        let isQuiet = core.movesEnded.load(ordering: .acquiring) == began
        let status = try handle.status(of: name)
        let isReserved = handle.node === root && ControlTree.isReserved(name)
        if isQuiet, !isReserved, let entry = lookup(Name(name), status, in: handle.node) {
            if core.moves.load(ordering: .acquiring) == began { return entry }
            forget(entry.node, count: 1)
        }
        return try lookup(name, in: handle.node, caller: .nobody)
    }
}

extension Caller {
    /// For uses in which the caller does not matter.
    static let nobody = Caller(owner: 0, group: 0, pid: 0, umask: 0)
}
