import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension VolumeState {
    /// Admits one more descriptor for the app: ENFILE if there is none. Directories that are kept open make room.
    mutating func admit(within budget: DescriptorBudget) throws(Errno) {
        let files =
            openFiles + DirectoryHandle.alive.load(ordering: .relaxed) + RemovedEntry.alive.load(ordering: .relaxed)
        guard files < budget.files else { throw .tooManyOpenFilesInSystem }
        let room = budget.directories(beside: files + 1)
        if room != descriptors.limit { descriptors.setLimit(room) }
    }

    /// One descriptor less. Returns a sidecar that now belongs to no file.
    mutating func close(_ node: Node) -> String? {
        tree.close(node) ? node.dropStoredExtents() : nil
    }

    /// A new handle, counted among those of the node.
    mutating func handle(
        for node: Node, _ descriptor: Int32, _ flags: Int32, by opener: pid_t, offersPassthrough: Bool
    ) -> Handle {
        let access = flags & O_ACCMODE
        let mode = mode(for: node, access, offersPassthrough: offersPassthrough)
        let handle = Handle(node: node, descriptor: descriptor, access: access, opener: opener, mode: mode)
        link(handle)
        if access == O_RDWR {
            node.ensuredIO.mappableOpens += 1
            if mode == .passthroughDirect { watchMappedWrites(of: handle) }
        }
        return handle
    }

    /// How the kernel does this descriptor's I/O: while one open is passed through, all are, and while one is cached,
    /// none is (docs/INTERNALS.md, Passthrough). No passthrough begins while a truncate(2) may be about to make a hole,
    /// which a mapping could then fill unseen.
    ///
    /// A shared mapping brings pages into the cache, and a write that bypasses them can be lost when a page is written
    /// back. So descriptors that can be mapped for writing are cached, and descriptors that only write bypass the cache
    /// as long as there is none of the former, which count until their last mapping is gone.
    private mutating func mode(
        for node: Node, _ access: Int32, offersPassthrough: Bool
    ) -> InputOutputMode {
        let canWrite = access != O_RDONLY
        // What the kernel reads by itself cannot be refused when the device is locked.
        let isTakenByLock = device.protectionRule.effective(node.protection).isTakenByLock
        let begins =
            offersPassthrough && !canWrite && !node.isPassed && (node.io?.cachedOpens ?? 0) == 0 && node.isDense
            && node.blocks >= OpenFiles.passthroughBlocks && (node.io?.soloists ?? 0) == 0
            && passedFiles < OpenFiles.passedFiles && !isTakenByLock
        if begins { passedFiles += 1 }
        if node.isPassed || begins {
            node.ensuredIO.passthroughOpens += 1
            if canWrite { node.cacheIsStale = true }
            // The kernel passes all opens through or none, but reads can still come to us.
            return canWrite || isTakenByLock ? .passthroughDirect : .passthrough
        }
        node.ensuredIO.cachedOpens += 1
        return InputOutputMode(ofCached: node, access)
    }

    /// The kernel's reference to the handle is taken here and dropped in `close`.
    mutating func link(_ handle: Handle) {
        let io = handle.node.ensuredIO
        handles.insert(handle)
        handle.next = io.firstHandle
        // Unmanaged: the kernel's reference, released by `OpenFiles.close`.
        io.firstHandle = Unmanaged.passRetained(handle)
        handle.next?._withUnsafeGuaranteedRef { $0.previous = io.firstHandle }
    }

    mutating func unlink(_ handle: Handle) {
        handles.remove(handle)
        if let previous = handle.previous {
            previous._withUnsafeGuaranteedRef { $0.next = handle.next }
        } else {
            handle.node.io?.firstHandle = handle.next
        }
        handle.next?._withUnsafeGuaranteedRef { $0.previous = handle.previous }
        handle.next = nil
        handle.previous = nil
    }

    /// The file counts as closed. Returns a sidecar that now belongs to no file.
    mutating func release(_ handle: Handle) -> String? {
        guard !handle.isNoted else { return nil }
        handle.isNoted = true
        if handle.access == O_RDWR { handle.node.io?.mappableOpens -= 1 }
        switch handle.mode {
        case .cached, .direct: handle.node.io?.cachedOpens -= 1
        case .passthrough, .passthroughDirect: if linger(handle) { return nil }
        case .own: break
        }
        unlink(handle)
        return close(handle.node)
    }
}
