import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension VolumeState {
    /// Admits one more descriptor for the app; ENFILE if none is left. Cached directory descriptors are closed to make room.
    mutating func admit(within budget: DescriptorBudget) throws(Errno) {
        let files =
            openFiles + DirectoryHandle.alive.load(ordering: .relaxed) + RemovedEntry.alive.load(ordering: .relaxed)
        guard files < budget.files else { throw .tooManyOpenFilesInSystem }
        let room = budget.directories(beside: files + 1)
        if room != descriptors.limit { descriptors.setLimit(room, in: &tree) }
    }

    /// Drops one open count. Returns a sidecar that now belongs to no file.
    mutating func close(_ node: Node) -> String? {
        tree.close(node) ? self[node].dropStoredExtents() : nil
    }

    /// Makes a handle and counts it as an open of the node. Without `mayKeepCache` the kernel drops its pages of the file.
    mutating func handle(
        for node: Node, _ descriptor: Int32, _ flags: Int32, by opener: pid_t, offersPassthrough: Bool,
        mayKeepCache: Bool = true, readsDirectly: Bool = false
    ) -> Handle {
        let access = flags & O_ACCMODE
        let mode = mode(for: node, access, offersPassthrough: offersPassthrough, readsDirectly: readsDirectly)
        let handle = Handle(
            node: node, descriptor: descriptor, access: access, opener: opener, mode: mode,
            keepsCache: mayKeepCache && !self[node].cacheIsStale)
        link(handle)
        if access == O_RDWR {
            self[node].io.mappableOpens += 1
            if mode == .passthroughDirect { watchMappedWrites(of: handle) }
        }
        return handle
    }

    /// Chooses how the kernel does this descriptor's I/O. While one open is passed through, all are, and while one is cached,
    /// none is (docs/INTERNALS.md, Passthrough). No passthrough begins while a call that runs alone, such as truncate(2), may
    /// be about to make a hole, which a mapping could then fill unseen.
    ///
    /// A shared mapping brings pages into the cache, and a write that bypasses them can be lost when a page is written back. So
    /// descriptors that can be mapped for writing are cached. Descriptors that only write bypass the cache as long as no
    /// mappable descriptor exists; a mappable one counts until its last mapping is gone.
    private mutating func mode(
        for node: Node, _ access: Int32, offersPassthrough: Bool, readsDirectly: Bool
    ) -> InputOutputMode {
        let canWrite = access != O_RDONLY
        // Reads that the kernel does by itself cannot be refused when the device is locked.
        let isTakenByLock = device.protectionRule.effective(self[node].protection).isTakenByLock
        let begins =
            offersPassthrough && !canWrite && !self[node].isPassed && self[node].io.cachedOpens == 0
            && self[node].isDense && self[node].blocks >= OpenFiles.passthroughBlocks && self[node].io.soloists == 0
            && passedFiles < OpenFiles.passedFiles && !isTakenByLock
        if begins { passedFiles += 1 }
        if self[node].isPassed || begins {
            self[node].io.passthroughOpens += 1
            if canWrite { self[node].cacheIsStale = true }
            // The kernel passes all opens through or none, but reads can still come to us.
            return canWrite || isTakenByLock || readsDirectly ? .passthroughDirect : .passthrough
        }
        self[node].io.cachedOpens += 1
        return InputOutputMode(ofCached: self[node].io, access, readsDirectly: readsDirectly)
    }

    /// Adds a handle, and takes the kernel's reference to it, which `OpenFiles.close` drops.
    mutating func link(_ handle: Handle) {
        handles.insert(handle)
        self[handle.node].io.handles.insert(handle)
    }

    mutating func unlink(_ handle: Handle) {
        handles.remove(handle)
        self[handle.node].io.handles.remove(handle)
    }

    /// Counts a handle as closed. Returns a sidecar that now belongs to no file.
    mutating func release(_ handle: Handle) -> String? {
        guard self[handle.node].io.handles.noteRelease(of: handle) else { return nil }
        if handle.access == O_RDWR { self[handle.node].io.mappableOpens -= 1 }
        switch handle.mode {
        case .cached, .direct: self[handle.node].io.cachedOpens -= 1
        case .passthrough, .passthroughDirect: if linger(handle) { return nil }
        case .own: break
        }
        unlink(handle)
        return close(handle.node)
    }
}
