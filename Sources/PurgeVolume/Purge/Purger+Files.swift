import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// The work of a purge on its files in the store.
extension Purger {
    /// Removes a name from the store, or empties the file if it is to keep its name. `missing` collects directories that the
    /// store does not have at the path the tree gives.
    func remove(_ removal: inout Removal, _ missing: inout Set<ObjectIdentifier>) throws(Errno) {
        do throws(Errno) {
            let directory = try open(removal.directory, &missing)
            if removal.purgedName.isEmptied { return try empty(removal, in: directory) }
            try access.asOwner(of: directory) { () throws(Errno) in
                try removal.purgedName.withName { (name) throws(Errno) in try System.unlink(at: directory.raw, name) }
            }
        } catch .noEntry {
            removal.purgedName.isEmptied = false  // somebody has removed the file from the store
        }
    }

    private func open(
        _ directory: Node, _ missing: inout Set<ObjectIdentifier>
    ) throws(Errno) -> FileDescriptor {
        guard !missing.contains(ObjectIdentifier(directory)) else { throw .stale }
        do throws(Errno) {
            return try access.directoryDescriptor(directory, patience: Disagreement.patienceOfMoves)
        } catch {
            if error == .stale { missing.insert(ObjectIdentifier(directory)) }
            throw error
        }
    }

    /// Empties a file like truncate(2), but in any state of the device. Nothing else has the file open or changes it.
    private func empty(_ removal: Removal, in directory: FileDescriptor) throws(Errno) {
        let node = removal.node
        let file = try openForEmptying(removal.dentry.name, in: directory)
        guard access.isOwn(try System.status(file.raw), of: node) else { throw .stale }
        try System.truncate(file.raw, 0)
        let (isDense, isKnown) = read { ($0[node].isDense, $0[node].lookups > 0) }
        // Done before anybody can open the file again. Otherwise a reader would get zeros up to the size that the kernel
        // remembers.
        if isKnown { port.forgetAttributes(of: [node.address]) }
        guard !isDense else { return }
        charges.noteFreed(node, file.raw, 0..<Int64.max, size: 0)
        // Blocks are still charged if the file's record could not be changed.
        guard read({ $0[node].blocks == 0 }) else { throw .ioError }
    }

    /// Opens a file for writing, even if its owner has made it read-only.
    private func openForEmptying(_ name: Name, in directory: FileDescriptor) throws(Errno) -> FileDescriptor {
        try access.asOwner(of: directory) { () throws(Errno) in
            try name.withCName { (name) throws(Errno) in
                do throws(Errno) { return try directory.openFile(name, O_WRONLY) } catch {
                    guard error == .accessDenied, geteuid() != 0 else { throw error }
                }
                let entry = try directory.open(name, System.openPath | O_NOFOLLOW)
                return try access.asOwner(throughout: entry) { () throws(Errno) in
                    try directory.openFile(name, O_WRONLY)
                }
            }
        }
    }
}

// The end of a batch, in the tree.
extension Purger {
    /// Updates the tree after a file has been removed or emptied. Returns a sidecar that now belongs to no file.
    func finish(_ removal: inout Removal, _ state: inout VolumeState) -> String? {
        state.note(&removal)
        let node = removal.node
        if removal.purgedName.isEmptied {
            state.tree.reinstate(node, isEmptied: true)
            // The next open drops the data that the kernel has cached.
            state[node].cacheIsStale = true
            state.emptied.add(node)
        } else {
            state.tree.detach(node, from: removal.dentry)
        }
        return state[node].dropStoredExtents()
    }

    /// Puts files that could not be removed from the store back into the ledger. In this mount, only a command that names such
    /// a file takes it again. Room that a write has been promised must then come from other files, which are chosen in the same
    /// step and returned.
    func reinstate(_ failed: [Victim<Node>], _ trigger: PurgeTrigger, _ state: inout VolumeState) -> PurgePlan<Node> {
        for victim in failed { state.tree.reinstate(victim.file, isStuck: true) }
        let short = min(PurgePlan(failed).bytes, .zero - state.capacity.balance)
        guard trigger == .importantWrite, short > .zero else { return PurgePlan() }
        return state.take(.bytes(short), in: .documented)
    }

    /// Returns the remaining files, at most one batch, of groups that a purge has begun. Files used since the purge began to be
    /// carried out are spared. So are files that no purge may take any longer, because the app runs again.
    func rest(
        of groups: [UnfinishedGroup<Node>], since began: Instant, until now: Instant, _ state: inout VolumeState
    ) -> [Victim<Node>] {
        var victims: [Victim<Node>] = []
        let order = state.device.order(for: .all, .command)
        let spared = began...max(began, now)
        for group in groups {
            let ranks = group.ranks.filter { order.turn(of: $0) != nil }
            while victims.count < Self.batch,
                let victim = state.tree.popVictim(ofGroup: group.directory, ranks: ranks, spared: spared)
            {
                state.tree.choose(victim.file)
                victims.append(victim)
            }
        }
        return victims
    }
}

extension VolumeState {
    /// Notes a removal. If the name is gone and the kernel must be told, keeps a ghost of the name until then.
    mutating func note(_ removal: inout Removal) {
        removal.concernsKernel = self[removal.directory].parent == nil || self[removal.directory].lookups > 0
        if removal.concernsKernel, !removal.purgedName.isEmptied { ghosts[removal.dentry] = removal.node }
    }
}
