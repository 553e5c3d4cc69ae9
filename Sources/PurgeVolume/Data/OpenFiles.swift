import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Open files: their descriptors in the store, and how the kernel handles their I/O.
struct OpenFiles: VolumeFamily {
    let core: VolumeCore

    /// The minimum size, in blocks, of files that are worth passing through.
    static let passthroughBlocks: Int64 = 32

    func open(
        _ node: Node, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> Handle {
        if port.closesComeLate { settleCloses(of: node) }
        try reserveOpen(node, by: caller, isUse: Self.isUse(flags))
        do throws(Errno) {
            let descriptor = try openOwn(node, flags & ~O_TRUNC)
            if flags & O_TRUNC != 0 {
                do throws(Errno) { try fileSpace.empty(node, descriptor, flags) } catch {
                    System.close(descriptor)
                    throw error
                }
            }
            // The kernel would read a passed-through file with the flags of the app's own open(2), and so change its access
            // time.
            let mayPass = offersPassthrough && !untouched.contains(.files) && !core.faults.watchesReads
            return register(node, descriptor, flags, by: caller.tid, offersPassthrough: mayPass)
        } catch {
            forgetOpen(node)
            throw error
        }
    }

    /// Whether an open is a use. A program that reads with O_NOATIME, such as a backup, wants to leave no trace. Only the owner
    /// of a file and root may do that.
    private static func isUse(_ flags: Int32) -> Bool {
        flags & O_ACCMODE != O_RDONLY || flags & System.openNoAccessTime == 0
    }

    /// Opens a file to keep it alive or reachable, which is not a use; returns nil for anything but a regular file.
    func keep(_ node: Node) throws(Errno) -> Handle? {
        guard node.isRegular else { return nil }
        try reserveOpen(node, by: nil, isUse: false)
        do throws(Errno) {
            let descriptor = try openOwn(node, O_RDONLY)
            return change { state in
                let handle = Handle(node: node, descriptor: descriptor, access: O_RDONLY, mode: .own)
                state.link(handle)
                return handle
            }
        } catch {
            forgetOpen(node)
            throw error
        }
    }

    func isNameless(_ handle: Handle) -> Bool {
        read { $0[handle.node].isUnlinked }
    }

    /// Counts the file as open. Opening and choosing victims are serialized (docs/RULES.md, Order of purging): a file that a
    /// purge has chosen no longer exists for later calls, and ESTALE makes the kernel look up its name again. `caller` is nil
    /// for a descriptor of our own, which gives nobody access to the data.
    private func reserveOpen(_ node: Node, by caller: Caller?, isUse: Bool) throws(Errno) {
        enum Outcome { case reserved, lingers, isGoing }
        let now = clock.now
        var mayLinger = caller == nil
        var seen: UInt64?
        while true {
            let outcome = try admitting { (state) throws(Errno) -> Outcome in
                if !mayLinger, state[node].io.lingering != nil { return .lingers }
                if try state.isGoing(node) { return .isGoing }
                if state[node].isUnlinked && state[node].opens == 0 { throw .stale }
                if let caller {
                    if state.emptied.mustLookUp(node, by: caller.tid) { throw .stale }
                    try DataProtection.admit(.open, to: node, by: caller.tid, &state)
                }
                try state.admit(within: budget)
                state.tree.open(node, usedAt: isUse ? now : nil)
                return .reserved
            }
            switch outcome {
            case .reserved: return
            case .isGoing: access.awaitGone(&seen)
            case .lingers:
                settleMapping(of: node)
                mayLinger = true
            }
        }
    }

    /// Admits one more descriptor for the app; ENFILE if none is left. Directories that are kept open are closed to make room.
    func admit() throws(Errno) { try admitting { (state) throws(Errno) in try state.admit(within: budget) } }

    /// Runs `body`, which admits one descriptor. If `body` throws ENFILE, releases files that are kept for mappings that no
    /// longer exist, and runs `body` once more.
    func admitting<Value: Sendable>(_ body: (inout VolumeState) throws(Errno) -> Value) throws(Errno) -> Value {
        do throws(Errno) { return try change(body) } catch {
            guard error == .tooManyOpenFilesInSystem else { throw error }
            settleMappings()
            return try change(body)
        }
    }

    func forgetOpen(_ node: Node) {
        let sidecar = change { state in state.close(node) }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// Flags that matter only in the kernel above us, or would change the effect of a write.
    static let strippedFlags = O_APPEND | O_CREAT | O_EXCL | O_NOCTTY | System.openDirect

    /// Opens the node's own file, never another file that has taken over its name.
    private func openOwn(_ node: Node, _ flags: Int32) throws(Errno) -> Int32 {
        var opened: Int32?
        do throws(Errno) {
            return try access.reading(node) { (location) throws(Errno) in
                if let opened { System.close(opened) }
                opened = nil
                let descriptor = try openBacking(location, flags)
                opened = descriptor
                let status = try System.status(descriptor)
                guard access.isOwn(status, of: node), status.isRegularFile else { throw .stale }
                return descriptor
            }
        } catch {
            if let opened { System.close(opened) }
            throw error
        }
    }

    private func openBacking(_ location: Location, _ flags: Int32) throws(Errno) -> Int32 {
        let flags = flags & ~Self.strippedFlags | O_CLOEXEC | untouched.fileFlags
        switch location {
        case .entry(let directory, let name):
            return try name.withCName { (name) throws(Errno) in
                try Self.openEntry(directory.raw, name, flags)
            }
        case .itself, .known: throw .isDirectory
        case .open(let handle):
            return try Self.openPatiently(AT_FDCWD, "/proc/self/fd/\(handle.descriptor)", flags & ~O_NOFOLLOW)
        }
    }

    /// Opens an entry that should be a regular file of the tree. ESTALE if something else was put in its place.
    private static func openEntry(_ directory: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do throws(Errno) {
            return try System.openWithoutWaiting(at: directory, name, flags)
        } catch .notPermitted {
            return try System.openWithoutWaiting(at: directory, name, flags & ~System.openNoAccessTime)
        } catch .invalid {
            throw .stale  // something else was put in the file's place
        }
    }

    /// Opens a file or directory. If that fails with EPERM, drops O_NOATIME, which only the owner and root may use.
    static func openPatiently(_ directory: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do { return try System.open(at: directory, name, flags) } catch .notPermitted {
            return try System.open(at: directory, name, flags & ~System.openNoAccessTime)
        }
    }

    private func register(
        _ node: Node, _ descriptor: Int32, _ flags: Int32, by opener: pid_t, offersPassthrough: Bool
    ) -> Handle {
        change { state in
            // If the device was locked after the open was admitted, the kernel has not dropped its pages of this file.
            let isAdmitted = state.device.protectionRule.admits(.use, own: state[node].protection)
            let isFirst = state[node].io.handles.isEmpty
            let handle = state.handle(
                for: node, descriptor, flags, by: opener, offersPassthrough: offersPassthrough && core.tellsMappings,
                mayKeepCache: isAdmitted, readsDirectly: core.faults.watchesReads)
            if !isAdmitted, isFirst {
                state[node].io.pagesDropped = core.unlocks.load(ordering: .relaxed)
            }
            if handle.mode == .cached { state[node].cacheIsStale = false }
            return handle
        }
    }

    func withdrawPassthrough(_ handle: Handle) {
        change { state in
            guard handle.mode.isPassed else { return }
            state[handle.node].io.passthroughOpens -= 1
            if !state[handle.node].isPassed { state.passedFiles -= 1 }
            state[handle.node].io.cachedOpens += 1
            handle.withdrawPassthrough(state[handle.node].io)
        }
    }

    func noteRelease(_ handle: Handle) {
        let sidecar = change { state in state.release(handle) }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// Closes a descriptor, unless another thread still uses the handle. The caller gives up its reference, so that a
    /// passed-through file is closed before its mappings are looked for.
    func close(_ handle: consuming Handle) {
        let passed = handle.mode.isPassed ? handle.node : nil
        settle(handle)
        // Unmanaged: the kernel's reference, retained by `link`.
        Unmanaged.passUnretained(handle).release()
        _ = consume handle
        if let passed { endClosing(of: passed) }
    }

    /// Counts a descriptor as closed, once the charges of its file are settled.
    private func settle(_ handle: Handle) {
        let node = handle.node
        let (isUnsettled, sidecar) = change { state -> (Bool, String?) in
            if state[node].io.unsettled != nil { return (true, nil) }
            return (false, state.release(handle))
        }
        if let sidecar { store.removeSidecar(sidecar) }
        guard isUnsettled else { return }
        // Errors are dropped: there is no caller left to report them to.
        do throws(Errno) {
            try dataOrder.alone(with: node) { () throws(Errno) in charges.settleAgain(node, handle.descriptor) }
        } catch {}
        noteRelease(handle)
    }
}
