import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// Files that may still be mapped when their last descriptor is closed: see OpenFiles+Mappings.swift.
extension VolumeState {
    /// Releases the file if its last mapping is gone. Returns the handle to be closed, and a sidecar that now belongs to no
    /// file.
    mutating func settleMapping(of node: Node) -> (Handle?, String?) {
        // Any other descriptor of ours would look like a mapping.
        guard let handle = self[node].io.lingering, self[node].io.passthroughOpens == 0, self[node].io.closing == 0,
            self[node].opens == 1, System.isOpenNowhereElse(handle.descriptor)
        else { return (nil, nil) }
        return (handle, endLingering(node, handle))
    }

    mutating func endLingering(_ node: Node, _ handle: Handle) -> String? {
        noteMappedWrites(of: node, areUse: true)
        self[node].io.modified = nil
        self[node].io.lingering = nil
        lingering[ObjectIdentifier(node)] = nil
        passedFiles -= 1
        unlink(handle)
        return close(node)
    }

    /// Notes that a passed-through descriptor has been released. Returns whether it is the last one and is kept for now.
    mutating func linger(_ handle: Handle) -> Bool {
        let node = handle.node
        self[node].io.passthroughOpens -= 1
        self[node].io.closing += 1
        guard self[node].io.passthroughOpens == 0, self[node].io.lingering == nil else { return false }
        self[node].io.lingering = handle
        lingering[ObjectIdentifier(node)] = node
        return true
    }

    /// Remembers the modification time before a descriptor that can be mapped for writing is passed through.
    mutating func watchMappedWrites(of handle: Handle) {
        guard self[handle.node].io.modified == nil else { return }
        self[handle.node].io.modified = handle.modificationTime
    }

    mutating func noteMappedWrites(of node: Node, areUse: Bool) {
        guard let before = self[node].io.modified, let handle = self[node].io.handles.newest,
            let now = handle.modificationTime, now != before
        else { return }
        self[node].io.modified = now
        let use = device.fileClock.time(of: now)
        if areUse, use > self[node].lastUse { tree.noteUse(node, at: use) }
    }
}

extension Handle {
    /// The modification time of an open file. Reading it does no I/O, so the lock may be held.
    fileprivate var modificationTime: FileTime? {
        do throws(Errno) { return FileTime(try System.status(descriptor).st_mtim) } catch { return nil }
    }
}
