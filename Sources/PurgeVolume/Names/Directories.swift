import Glibc
import PurgeSystem
import PurgeTree

/// One entry for a reader of a directory.
public struct DirectoryEntry {
    public let name: CName
    public let inode: UInt64
    /// The cookie of the next entry.
    public let next: Int64
    /// DT_REG and so on.
    public let type: UInt8
    /// The entry with attributes, if these were requested; the kernel then holds a reference.
    public let entry: Entry?
}

/// Lists and syncs directories.
public struct Directories: VolumeFamily {
    let core: VolumeCore

    public func open(_ node: Node) throws(Errno) -> DirectoryHandle {
        if node.isControl { return DirectoryHandle(node: node, descriptor: nil) }
        try openFiles.admit()
        return DirectoryHandle(node: node, descriptor: try readable(node))
    }

    /// Syncs a directory, for fsync(2). Does nothing for the control directory.
    public func sync(_ node: Node) throws(Errno) {
        if node.isControl { return }
        port.expectSlowWork()
        let descriptor = try readable(node)
        do throws(Errno) { try System.sync(descriptor.raw) } catch { throw access.hostError(error, node) }
    }

    /// Opens a directory for reading. The cached descriptor is only a path (O_PATH) and cannot be read.
    private func readable(_ node: Node) throws(Errno) -> FileDescriptor {
        let directory = node === root ? store.container : try access.directoryDescriptor(node)
        let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | untouched.directoryFlags
        return FileDescriptor(adopting: try OpenFiles.openPatiently(directory.raw, ".", flags))
    }

    /// Passes entries from cookie `offset` on to `body`, until `body` returns false or the directory ends. If `body` does not
    /// take an entry with attributes, that entry is forgotten again.
    public func read(
        _ handle: DirectoryHandle, offset: Int64, withAttributes: Bool, _ body: (DirectoryEntry) -> Bool
    ) throws(Errno) {
        if handle.node.isControl { return control.read(handle.node, offset: offset, body) }
        try handle.forEach(from: offset) { record, name in
            give(record, name, of: handle, withAttributes, body)
        }
    }

    /// Warms the caches of the backing file system for at most `count` entries of the read-ahead, while the reader is busy with
    /// the `count` entries that it has just received.
    public func warmUp(_ handle: DirectoryHandle, after count: Int) {
        handle.warmUp(count) { port.expectSlowWork() }
    }

    private func give(
        _ record: DirectoryRecord, _ name: CName, of handle: DirectoryHandle, _ withAttributes: Bool,
        _ body: (DirectoryEntry) -> Bool
    ) -> Bool {
        let directory = handle.node
        // This name belongs to the control directory, which is not listed.
        if directory === root && ControlTree.isReserved(name) { return true }
        var entry: Entry?
        if withAttributes && !DirectoryBlock.isDot(name) {
            do throws(Errno) { entry = try lookup(name, listedBy: handle) } catch {
                // The entry was removed after the directory was read, so the listing leaves it out.
                if error == .noEntry { return true }
            }
        }
        var inode = record.inode
        if name[0] == 0x2e, name[1] == 0x2e, name[2] == 0 {
            inode = core.read { $0[directory].parent?.inode ?? directory.inode }
        }
        let taken = body(
            DirectoryEntry(name: name, inode: inode, next: record.next, type: record.type, entry: entry))
        if !taken, let entry { lookups.forget(entry.node, count: 1) }
        return taken
    }

    /// Takes the entry from the tree if its inode number matches and no entry moves in the meantime. Otherwise the number could
    /// be another file's, so the name is looked up.
    private func lookup(_ name: CName, listedBy handle: DirectoryHandle) throws(Errno) -> Entry {
        let began = core.moves.load(ordering: .acquiring)
        let isQuiet = core.movesEnded.load(ordering: .acquiring) == began
        let emptied = core.filesEmptied.load(ordering: .acquiring)
        let status = try handle.status(of: name)
        let isReserved = handle.node === root && ControlTree.isReserved(name)
        if isQuiet, !isReserved, let entry = lookups.lookup(Name(name), status, in: handle.node, emptied: emptied) {
            if core.moves.load(ordering: .acquiring) == began { return entry }
            lookups.forget(entry.node, count: 1)
        }
        return try lookups.lookup(name, in: handle.node, caller: .nobody)
    }
}

extension Caller {
    /// A caller for uses in which the caller does not matter.
    static let nobody = Caller(owner: 0, group: 0, tid: 0, umask: 0)
}
