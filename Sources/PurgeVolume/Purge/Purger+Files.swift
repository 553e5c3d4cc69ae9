import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// What a purge does to its files in the store.
extension Purger {
    /// Removes or empties them. Returns which are purged, and which could not be.
    func carryOut(
        _ victims: ArraySlice<PurgeJob.Victim>
    ) -> (gone: [PurgedFile], failed: [PurgeJob.Victim]) {
        var gone: [PurgedFile] = []
        var failed: [PurgeJob.Victim] = []
        // As long as the files exist, so do their directories.
        let paths = read { _ in victims.map { $0.node.path() } }
        var missing: Set<ObjectIdentifier> = []
        for (victim, path) in zip(victims, paths) {
            do throws(Errno) {
                let isEmptied = try carryOut(victim, &missing)
                gone.append(PurgedFile(victim: victim, path: path, isEmptied: isEmptied))
            } catch { failed.append(victim) }
        }
        return (gone, failed)
    }

    /// Returns whether it has been emptied; otherwise it has no name any more. `missing` gets the directories that are not
    /// where the tree has them.
    private func carryOut(_ victim: PurgeJob.Victim, _ missing: inout Set<ObjectIdentifier>) throws(Errno) -> Bool {
        guard !missing.contains(ObjectIdentifier(victim.directory)) else { throw .stale }
        let directory: FileDescriptor
        do throws(Errno) {
            directory = try access.directoryDescriptor(victim.directory, patience: Disagreement.patienceOfMoves)
        } catch {
            if error == .stale { missing.insert(ObjectIdentifier(victim.directory)) }
            if error == .noEntry { return false }
            throw error
        }
        do throws(Errno) {
            if victim.leavesTombstone {
                try empty(victim, in: directory)
                return true
            }
            try access.asOwner(of: directory) { () throws(Errno) in
                try victim.name.withCName { (name) throws(Errno) in try System.unlink(at: directory.raw, name) }
            }
        } catch .noEntry {}  // somebody has removed it from the store
        return false
    }

    /// As truncate(2) would, but in any state of the device. Nothing else has the file open or changes it.
    private func empty(_ victim: PurgeJob.Victim, in directory: FileDescriptor) throws(Errno) {
        let node = victim.node
        let file = try openForEmptying(victim.name, in: directory)
        guard access.isOwn(try System.status(file.raw), of: node) else { throw .stale }
        try System.truncate(file.raw, 0)
        let (isDense, isKnown) = read { _ in (node.isDense, node.lookups > 0) }
        // Before anybody can open it again: a reader would get zeros up to the size that the kernel has in mind.
        if isKnown { port.forgetAttributes(of: [node.address]) }
        guard !isDense else { return }
        charges.noteFreed(node, file.raw, 0..<Int64.max, size: 0)
        // Its record could not be changed.
        guard read({ _ in node.blocks == 0 }) else { throw .ioError }
    }

    /// The owner may have made it read-only.
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

// Under the lock.
extension Purger {
    /// The files of at most one batch that are left of groups which a purge has begun. Those that have been used since it
    /// began to carry them out stay, and so does what no purge would take by now, because the app runs again.
    func rest(
        of job: PurgeJob, since began: Instant, until now: Instant, _ state: inout VolumeState
    ) -> [PurgeJob.Victim] {
        var victims: [PurgeJob.Victim] = []
        let order = state.device.order(for: .all, .command)
        for group in job.picked.unfinished {
            let ranks = group.ranks.filter { order.turn(of: $0) != nil }
            while victims.count < Self.batch,
                let next = state.tree.popVictim(
                    ofGroup: group.directory, ranks: ranks, spared: began...max(began, now))
            {
                if let victim = state.victim(next.id, next.reason) { victims.append(victim) }
            }
        }
        return victims
    }

    func removal(of purged: PurgedFile, _ state: inout VolumeState) -> Removal {
        let victim = purged.victim
        return state.removal(
            of: victim.node, Dentry(directory: victim.directory, name: victim.name), purged.path,
            isEmptied: purged.isEmptied)
    }

    /// The file has been removed or emptied. Returns a sidecar that now belongs to no file.
    func finish(_ purged: PurgedFile, _ state: inout VolumeState) -> String? {
        let victim = purged.victim
        if purged.isEmptied {
            state.tree.reinstate(victim.node, isEmptied: true)
            // What the kernel has of its data is dropped by the next open.
            victim.node.cacheIsStale = true
            state.emptied.add(victim.node)
        } else {
            state.tree.detach(victim.node, from: Dentry(directory: victim.directory, name: victim.name))
        }
        return victim.node.dropStoredExtents()
    }
}
