import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Creates, links, renames and removes entries. The kernel holds the directory's lock during each of these operations, so only
/// one operation at a time works on a name. Only a purge can interfere, and the operation waits for it.
struct NameChanges: VolumeFamily {
    let core: VolumeCore

    func makeDirectory(
        _ name: CName, in parent: Node, mode: mode_t, caller: Caller
    ) throws(Errno) -> Entry {
        try make(name, in: parent, inherits: true, caller: caller) { (directory) throws(Errno) in
            try System.makeDirectory(at: directory, name, mode: mode)
        }
    }

    func makeNode(
        _ name: CName, in parent: Node, mode: mode_t, device: dev_t, caller: Caller
    ) throws(Errno) -> Entry {
        // 0 stands for a regular file.
        let isFile = mode & S_IFMT == S_IFREG || mode & S_IFMT == 0
        return try make(name, in: parent, isFile: isFile, inherits: isFile, caller: caller) {
            (directory) throws(Errno) in
            try System.makeNode(at: directory, name, mode: mode, device: device)
        }
    }

    func makeSymbolicLink(
        to target: CName, _ name: CName, in parent: Node, caller: Caller
    ) throws(Errno) -> Entry {
        try make(name, in: parent, caller: caller) { (directory) throws(Errno) in
            try System.makeSymbolicLink(to: target, at: directory, name)
        }
    }

    private func make(
        _ name: CName, in parent: Node, isFile: Bool = false, inherits: Bool = false, caller: Caller,
        _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) -> Entry {
        try refuseReserved(name, in: parent, with: .exists)
        try refuseHidden(parent, parent, caller)
        let key = Name(name)
        guard try lookups.settledEntry(key, in: parent) == nil else { throw .exists }
        if isFile { try protection.admitNew(key, in: parent, by: caller.tid) }
        try makeWay(for: key, in: parent)
        let directory = try access.directoryDescriptor(parent)
        core.actAs(caller)
        do throws(Errno) { try body(directory.raw) } catch { throw access.hostError(error, parent) }
        do throws(Errno) {
            let inherited = inherits ? read { $0[parent].protection } : nil
            if let inherited { try extendedAttributes.store(inherited, of: directory.raw, name) }
            // Read after the attribute is set, because setting it updates the change time.
            let status = try System.status(at: directory.raw, name)
            let node = access.newNode(status, named: key)
            return insert(node, in: parent, inherited, status)
        } catch {
            withdrawEntry(key, in: parent, at: directory.raw)
            throw access.hostError(error, parent)
        }
    }

    /// Adds a new entry to the tree and the ledger, with a reference for the kernel.
    private func insert(_ node: Node, in parent: Node, _ inherited: FileProtection?, _ status: FileStatus) -> Entry {
        let now = clock.now
        return change { state in
            state.tree.insert(node, in: parent, EntryFacts(ofNew: status, on: state.device, inherited))
            if node.isRegular { state.tree.noteUse(node, at: now) }
            state.grant(node)
            return Entry(node: node, attributes: Attributes(of: node, status, mayArriveLate: true, in: state))
        }
    }

    /// Refuses names in the control directory with EPERM. At the root, refuses the control directory's own name with `error`
    /// (docs/CONTROL.md).
    func refuseReserved(_ name: CName, in parent: Node, with error: Errno) throws(Errno) {
        if parent.isControl { throw .notPermitted }
        if parent === root, ControlTree.isReserved(name) { throw error }
    }

    func link(_ node: Node, as name: CName, in parent: Node, caller: Caller) throws(Errno) -> Entry {
        try refuseReserved(name, in: parent, with: .notPermitted)
        try refuseHidden(parent, parent, caller)
        if node.isControl { throw .notPermitted }
        let key = Name(name)
        guard try lookups.settledEntry(key, in: parent) == nil else { throw .exists }
        try makeWay(for: key, in: parent)
        let directory = try access.directoryDescriptor(parent)
        // The file is held until the new name is in the tree. After that, purges skip the file if it has several names.
        try reserveForLink(node)
        let status: FileStatus
        do throws(Errno) {
            try linkBacking(node, to: directory.raw, name)
            do throws(Errno) { status = try System.status(at: directory.raw, name) } catch {
                withdrawEntry(key, in: parent, at: directory.raw)
                throw error
            }
        } catch {
            access.unhold(node)
            throw access.hostError(error, node)
        }
        return change { state in
            state.tree.link(node, as: Dentry(directory: parent, name: key))
            _ = state.endHold(of: node)
            state.grant(node)
            return Entry(node: node, attributes: Attributes(of: node, status, mayArriveLate: true, in: state))
        }
    }

    /// Holds the file, so that no purge chooses it while it is being linked. An unnamed file can be linked while it is open
    /// (O_TMPFILE). One that a purge has just removed cannot.
    private func reserveForLink(_ node: Node) throws(Errno) {
        try access.unlessGoing(node) { (state) throws(Errno) in
            if state[node].isUnlinked && state[node].io.handles.isEmpty { throw .noEntry }
            state.tree.hold(node)
        }
    }

    /// Adds the new name to the file in the store.
    private func linkBacking(_ node: Node, to directory: Int32, _ name: CName) throws(Errno) {
        switch try access.locate(node) {
        case .entry(let from, let old):
            try old.withCName { (old) throws(Errno) in try System.link(at: from.raw, old, to: directory, name) }
        case .open(let handle): try System.link(handle.descriptor, to: directory, name)
        case .itself, .known: throw .noEntry
        }
    }

    func unlink(_ name: CName, in parent: Node, caller: Caller) throws(Errno) {
        try refuseReserved(name, in: parent, with: .notPermitted)
        let key = Name(name)
        if purgedNames.isAnnouncer(caller) { return try endGhost(key, in: parent) }
        try remove(key, from: parent, by: caller) { (directory) throws(Errno) in
            try System.unlink(at: directory, name)
        }
    }

    func removeDirectory(_ name: CName, in parent: Node, caller: Caller) throws(Errno) {
        try refuseReserved(name, in: parent, with: .notPermitted)
        if purgedNames.isAnnouncer(caller) { return try endGhost(Name(name), in: parent) }
        withdrawStrays()
        try remove(Name(name), from: parent, by: caller) { (directory) throws(Errno) in
            try System.removeDirectory(at: directory, name)
        }
    }

    /// Removes a purged name for the announcing thread, which removes nothing else.
    private func endGhost(_ name: Name, in parent: Node) throws(Errno) {
        guard try lookups.settledEntry(name, in: parent) == nil else { throw .noEntry }
        try purgedNames.endGhost(name, in: parent)
    }

    private func remove(
        _ name: Name, from parent: Node, by caller: Caller, _ body: (Int32) throws(Errno) -> Void
    ) throws(Errno) {
        guard let node = try lookups.heldEntry(name, in: parent) else { throw .noEntry }
        let sidecar: String?
        do throws(Errno) {
            let directory = try access.directoryDescriptor(parent)
            let left = access.remains(of: node, name, in: directory)
            let records = events.isRecording
            sidecar = try access.moving { () throws(Errno) in
                try body(directory.raw)
            } then: { state in
                let dentry = Dentry(directory: parent, name: name)
                if records { state.outbox.append(.removed(node, dentry, by: caller.tid, state)) }
                if node.isDirectory { state.descriptors.remove(node, in: &state.tree) }
                state.tree.unlink(dentry)
                state[node].leave(left)
                return state.endHold(of: node)
            }
        } catch {
            access.unhold(node)
            throw access.hostError(error, node)
        }
        if let sidecar { store.removeSidecar(sidecar) }
    }
}

extension VolumeState {
    /// Ends the hold on a node after its operation. Returns a sidecar that now belongs to no file.
    mutating func endHold(of node: Node) -> String? { tree.unhold(node) ? self[node].dropStoredExtents() : nil }
}
