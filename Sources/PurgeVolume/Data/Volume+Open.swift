import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension Volume {
    /// Reads of at least this much of a file are worth handing to the kernel.
    static let passthroughBlocks: Int64 = 32

    /// Opens a file. From here until `noteRelease` it is open for the ledger: a purge passes it over.
    public func open(
        _ node: Node, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> Handle {
        try reserveOpen(node)
        do throws(Errno) {
            let descriptor = try openOwn(node, flags & ~O_TRUNC)
            if flags & O_TRUNC != 0 {
                do throws(Errno) { try empty(node, descriptor, flags) } catch {
                    System.close(descriptor)
                    throw error
                }
            }
            // The kernel would read the backing file with the flags of the app's own open(2).
            let mayPass = offersPassthrough && !untouched.contains(.files)
            return register(node, descriptor, flags, offersPassthrough: mayPass)
        } catch {
            forgetOpen(node)
            throw error
        }
    }

    /// A descriptor that keeps a file there, or reachable, and is no use of it; nil for what is no file.
    public func keep(_ node: Node) throws(Errno) -> Handle? {
        guard node.isRegular else { return nil }
        try reserveOpen(node, isUse: false)
        do throws(Errno) {
            let descriptor = try openOwn(node, O_RDONLY)
            return change { state in
                let handle = Handle(node: node, descriptor: descriptor, access: O_RDONLY, mode: .own)
                link(handle, &state)
                return handle
            }
        } catch {
            forgetOpen(node)
            throw error
        }
    }

    /// Whether the last name of the file is gone.
    public func isNameless(_ handle: Handle) -> Bool {
        read { _ in handle.node.flags.contains(.unlinked) }
    }

    /// Opening and choosing victims are in one order (docs/RULES.md, Order of purging): a file that a purge has
    /// chosen is gone for who comes after, and ESTALE makes the kernel look its name up anew.
    private func reserveOpen(_ node: Node, isUse: Bool = true) throws(Errno) {
        let now = clock.now
        var mayLinger = !isUse
        while true {
            let isReserved = try admitting { (state) throws(Errno) in
                if !mayLinger, node.io?.lingering != nil { return false }
                if node.flags.contains(.purging) || (node.flags.contains(.unlinked) && node.opens == 0) { throw .stale }
                try lockedAdmit(&state)
                state.tree.open(node)
                if isUse { state.tree.noteUse(node, at: now) }
                return true
            }
            if isReserved { return }
            settleMapping(of: node)
            mayLinger = true
        }
    }

    /// Whether the app may have one descriptor more: ENFILE if not, and others go on. Directories
    /// that are kept open make room.
    func admit() throws(Errno) { try admitting { (state) throws(Errno) in try lockedAdmit(&state) } }

    /// Runs `body`, which admits one descriptor, under the lock; once more without the files that are kept for
    /// mappings which are gone, where there was no room.
    private func admitting<Value>(_ body: (inout VolumeState) throws(Errno) -> Value) throws(Errno) -> Value {
        do throws(Errno) { return try change(body) } catch {
            guard error == .tooManyFiles else { throw error }
            settleMappings()
            return try change(body)
        }
    }

    private func lockedAdmit(_ state: inout VolumeState) throws(Errno) {
        let files =
            state.openFiles + DirectoryHandle.alive.load(ordering: .relaxed)
            + RemovedEntry.alive.load(ordering: .relaxed)
        guard files < budget.files else { throw .tooManyFiles }
        let room = budget.directories(beside: files + 1)
        if room != state.descriptors.limit { state.descriptors.setLimit(room) }
    }

    func forgetOpen(_ node: Node) {
        let sidecar = change { state in lockedClose(node, &state) }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// One descriptor less; answers a sidecar that is now nobody's.
    func lockedClose(_ node: Node, _ state: inout VolumeState) -> String? {
        state.tree.close(node) ? node.dropStoredExtents() : nil
    }

    /// Flags that only make sense in the kernel above us, or would change what a write does.
    static let strippedFlags = O_APPEND | O_CREAT | O_EXCL | O_NOCTTY | System.openDirect

    /// A descriptor of the node's own file, and not of one that has got its name meanwhile.
    private func openOwn(_ node: Node, _ flags: Int32) throws(Errno) -> Int32 {
        var opened: Int32?
        do throws(Errno) {
            return try reading(node) { (location) throws(Errno) in
                if let opened { System.close(opened) }
                opened = nil
                let descriptor = try openBacking(location, flags)
                opened = descriptor
                let status = try System.status(descriptor)
                guard isOwn(status, of: node), status.isRegular else { throw .stale }
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

    /// An entry that is to be a file of ours.
    private static func openEntry(_ directory: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do throws(Errno) {
            return try System.openWithoutWaiting(at: directory, name, flags)
        } catch .notPermitted {
            return try System.openWithoutWaiting(at: directory, name, flags & ~System.openNoAccessTime)
        } catch .invalid {
            throw .stale  // something else has been put in the file's place
        }
    }

    /// O_NOATIME is for owners alone; where the daemon is not, it does without.
    static func openPatiently(_ directory: Int32, _ name: CName, _ flags: Int32) throws(Errno) -> Int32 {
        do { return try System.open(at: directory, name, flags) } catch .notPermitted {
            return try System.open(at: directory, name, flags & ~System.openNoAccessTime)
        }
    }

    private func register(
        _ node: Node, _ descriptor: Int32, _ flags: Int32, offersPassthrough: Bool
    ) -> Handle {
        change { state in
            let handle = lockedHandle(node, descriptor, flags, offersPassthrough: offersPassthrough, &state)
            handle.keepsCache = !node.cacheIsStale
            if handle.mode == .cached { node.cacheIsStale = false }
            return handle
        }
    }

    /// A handle that counts among the node's; under the lock.
    func lockedHandle(
        _ node: Node, _ descriptor: Int32, _ flags: Int32, offersPassthrough: Bool, _ state: inout VolumeState
    ) -> Handle {
        let access = flags & O_ACCMODE
        let mode = lockedMode(node, access, offersPassthrough: offersPassthrough && core.tellsMappings, &state)
        let handle = Handle(node: node, descriptor: descriptor, access: access, mode: mode)
        link(handle, &state)
        if access == O_RDWR {
            node.ensuredIO.mappableOpens += 1
            if mode == .passthroughDirect { lockedWatchMappedWrites(of: handle) }
        }
        return handle
    }

    /// How the kernel is to do this descriptor's I/O: while one open is passed through, all are;
    /// while one is cached, none is (docs/INTERNALS.md, Passthrough). None begins while a truncate(2)
    /// may be about to make a hole, which a mapping could then fill unseen.
    ///
    /// A shared mapping brings pages into the cache, and a write that goes past them can be lost under
    /// one that comes back. So what can be mapped for writing is cached, and whoever only writes goes
    /// past the cache as long as there is none such: it lasts until the last mapping is gone.
    private func lockedMode(
        _ node: Node, _ access: Int32, offersPassthrough: Bool, _ state: inout VolumeState
    ) -> InputOutputMode {
        let canWrite = access != O_RDONLY
        let begins =
            offersPassthrough && !canWrite && !node.isPassed && (node.io?.cachedOpens ?? 0) == 0 && node.isDense
            && node.blocks >= Self.passthroughBlocks && (node.io?.soloists ?? 0) == 0
            && state.passedFiles < Self.passedFiles
        if begins { state.passedFiles += 1 }
        if node.isPassed || begins {
            node.ensuredIO.passthroughOpens += 1
            if canWrite { node.cacheIsStale = true }
            return canWrite ? .passthroughDirect : .passthrough
        }
        node.ensuredIO.cachedOpens += 1
        return Self.modeOfCached(node, access)
    }

    private static func modeOfCached(_ node: Node, _ access: Int32) -> InputOutputMode {
        access == O_WRONLY && node.io?.mappableOpens == 0 ? .direct : .cached
    }

    /// The kernel would not have it: this first passthrough open becomes a cached one.
    public func withdrawPassthrough(_ handle: Handle) {
        change { state in
            guard handle.mode.isPassed, let io = handle.node.io else { return }
            io.passthroughOpens -= 1
            if !handle.node.isPassed { state.passedFiles -= 1 }
            io.cachedOpens += 1
            handle.mode = Self.modeOfCached(handle.node, handle.access)
        }
    }

    /// The kernel's reference to the handle is taken here and dropped in `close`.
    private func link(_ handle: Handle, _ state: inout VolumeState) {
        let io = handle.node.ensuredIO
        state.openFiles += 1
        handle.next = io.firstHandle
        io.firstHandle = Unmanaged.passRetained(handle)
        handle.next?._withUnsafeGuaranteedRef { $0.previous = io.firstHandle }
    }

    func unlink(_ handle: Handle, _ state: inout VolumeState) {
        state.openFiles -= 1
        if let previous = handle.previous {
            previous._withUnsafeGuaranteedRef { $0.next = handle.next }
        } else {
            handle.node.io?.firstHandle = handle.next
        }
        handle.next?._withUnsafeGuaranteedRef { $0.previous = handle.previous }
        handle.next = nil
        handle.previous = nil
    }

    /// A RELEASE has been read: from now on the file counts as closed. Whoever reads requests
    /// calls this before it reads the next (docs/INTERNALS.md, The order of RELEASE).
    public func noteRelease(_ handle: Handle) {
        let sidecar = change { state in lockedRelease(handle, &state) }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    private func lockedRelease(_ handle: Handle, _ state: inout VolumeState) -> String? {
        guard !handle.isNoted else { return nil }
        handle.isNoted = true
        if handle.access == O_RDWR { handle.node.io?.mappableOpens -= 1 }
        switch handle.mode {
        case .cached, .direct: handle.node.io?.cachedOpens -= 1
        case .passthrough, .passthroughDirect: if lockedLinger(handle, &state) { return nil }
        case .own: break
        }
        unlink(handle, &state)
        return lockedClose(handle.node, &state)
    }

    /// Closes the backing file, once nothing uses it.
    public func close(_ handle: Handle) {
        let node = handle.node
        let (isUnsettled, sidecar) = change { state -> (Bool, String?) in
            if node.io?.unsettled != nil { return (true, nil) }
            return (false, lockedRelease(handle, &state))
        }
        if let sidecar { store.removeSidecar(sidecar) }
        if isUnsettled {
            // Errors stay here: there is nobody left to tell.
            do throws(Errno) {
                try alone(with: node) { () throws(Errno) in settleAgain(node, handle.descriptor) }
            } catch {}
            noteRelease(handle)
        }
        let passed = handle.mode.isPassed ? handle.node : nil
        Unmanaged.passUnretained(handle).release()
        if let passed { endClosing(of: passed) }
    }

    /// Makes and opens a file; opens it when it is there and the flags allow.
    public func create(
        _ name: CName, in parent: Node, mode: mode_t, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> (Entry, Handle) {
        try refuseReserved(name, in: parent, with: .exists)
        let key = Name(name)
        try makeWay(for: key, in: parent)
        while true {
            if let place = try placeOfNew(key, in: parent) {
                actAs(caller)
                return try make(name, key, in: parent, place, mode: mode, flags: flags)
            }
            if try settledEntry(key, in: parent) != nil {
                if flags & O_EXCL != 0 { throw .exists }
                return try openExisting(
                    name, in: parent, flags: flags, caller: caller, offersPassthrough: offersPassthrough)
            }
        }
    }

    /// Where a new file goes.
    private struct NewPlace {
        let directory: FileDescriptor
        let inheritsProtection: Bool
    }

    /// Admits a descriptor for a new file; nil where there is an entry of that name.
    private func placeOfNew(_ name: Name, in parent: Node) throws(Errno) -> NewPlace? {
        let found = try admitting { (state) throws(Errno) -> (directory: FileDescriptor?, inheritsProtection: Bool)? in
            if parent.entry(named: name) != nil { return nil }
            try lockedAdmit(&state)
            return (state.descriptor(of: parent), parent.flags.contains(.ownProtection))
        }
        guard let found else { return nil }
        let directory = if let known = found.directory { known } else { try directoryDescriptor(parent) }
        return NewPlace(directory: directory, inheritsProtection: found.inheritsProtection)
    }

    private func openExisting(
        _ name: CName, in parent: Node, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> (Entry, Handle) {
        let entry = try lookup(name, in: parent, caller: caller)
        do throws(Errno) {
            // The answer to CREATE passes nothing through; looked up anew, the file comes with OPEN.
            settleMapping(of: entry.node)
            if read({ _ in entry.node.isPassed }) { throw .stale }
            return (entry, try open(entry.node, flags: flags, caller: caller, offersPassthrough: offersPassthrough))
        } catch {
            forget(entry.node, count: 1)
            throw error
        }
    }

    private func make(
        _ name: CName, _ key: Name, in parent: Node, _ place: NewPlace, mode: mode_t, flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        let kept =
            flags & ~(Self.strippedFlags | O_TRUNC) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | untouched.fileFlags
        let descriptor: Int32
        do { descriptor = try System.open(at: place.directory.raw, name, kept, mode: mode) } catch {
            throw hostError(error, parent)
        }
        do throws(Errno) { return try adopt(descriptor, key, in: parent, place, flags) } catch {
            System.close(descriptor)
            withdrawEntry(key, in: parent, at: place.directory.raw)
            throw hostError(error, parent)
        }
    }

    private func adopt(
        _ descriptor: Int32, _ name: Name, in parent: Node, _ place: NewPlace, _ flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        let status = try System.status(descriptor)
        let node = newNode(status, named: name)
        let now = clock.now
        var facts = EntryFacts(opens: 1)
        if place.inheritsProtection {
            facts.isProtected = try name.withCName { (name) throws(Errno) in
                try inheritProtection(node, from: parent, at: place.directory.raw, name)
            }
        }
        let known = facts
        return change { state in
            let handle = lockedHandle(node, descriptor, flags, offersPassthrough: false, &state)
            state.tree.insert(node, in: parent, known)
            state.tree.noteUse(node, at: now)
            lockedGrant(node, &state)
            return (Entry(node: node, attributes: lockedAttributes(of: node, status)), handle)
        }
    }
}
