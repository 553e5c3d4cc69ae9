import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// `tmp`, which a reboot empties: all of it goes, folders too, whatever is open or has further names. An open file stays
/// charged until its last close, and a file with a name elsewhere stays there. What is made in `tmp` meanwhile, and what
/// has been moved out of it, may stay.
struct TemporaryFolder: VolumeFamily {
    let core: VolumeCore

    func empty(pid: pid_t, _ debt: inout AnnouncementDebt) {
        names.withdrawStrays()
        var pending = read { _ in root.entry(named: Name("tmp")) }.map { [$0] } ?? []
        var folders: [Dentry] = []
        while let folder = pending.popLast() {
            let entries = read { _ in folder.entries.map { (Dentry(directory: folder, name: $0.key), $0.value) } }
            folders += entries.filter { $0.1.isDirectory }.map { $0.0 }
            pending += entries.map { $0.1 }.filter(\.isDirectory)
            remove(entries.filter { !$0.1.isDirectory }.map { $0.0 }, pid, &debt)
        }
        // A folder comes before those in it.
        remove(folders.reversed(), pid, &debt)
    }

    private func remove(_ dentries: [Dentry], _ pid: pid_t, _ debt: inout AnnouncementDebt) {
        for start in stride(from: 0, to: dentries.count, by: Purger.batch) {
            debt.add(dentries[start..<min(start + Purger.batch, dentries.count)].compactMap { remove($0, pid) })
        }
    }

    /// nil if it stays, or is gone already.
    private func remove(_ dentry: Dentry, _ pid: pid_t) -> Removal? {
        guard let (node, path) = begin(dentry) else { return nil }
        do throws(Errno) {
            let directory = try access.directoryDescriptor(dentry.directory)
            let left = access.remains(of: node, dentry.name, in: directory)
            let (removal, sidecar) = try access.moving { () throws(Errno) in
                try unlink(dentry.name, node, in: directory)
            } then: { state in
                finish(node, dentry, path, left, pid, &state)
            }
            if let sidecar { store.removeSidecar(sidecar) }
            return removal
        } catch {
            access.unhold(node)
            // Something has been made in a folder meanwhile.
            if error != .notEmpty { report(dentry, error) }
            return nil
        }
    }

    /// The entry and its path, as soon as nothing else is using it by its name; nil if it is gone, no longer in `tmp`, or in use for
    /// too long.
    private func begin(_ dentry: Dentry) -> (Node, path: [Name])? {
        let deadline = System.uptime() + Purger.patienceForHeldFiles
        while true {
            let seen = core.released.generation
            let (found, isBusy) = change { state -> ((Node, path: [Name])?, Bool) in
                guard let node = dentry.node, dentry.directory.standing.place == .temporary else { return (nil, false) }
                if node.isBusy { return (nil, true) }
                state.tree.hold(node, isGoing: true)
                // From here on it goes, even if its folder is moved elsewhere.
                return ((node, dentry.directory.path() + [dentry.name]), false)
            }
            guard isBusy else { return found }
            guard System.uptime() < deadline else {
                report(dentry, .busy)
                return nil
            }
            core.released.wait(while: seen, milliseconds: 100)
        }
    }

    private func unlink(_ name: Name, _ node: Node, in directory: FileDescriptor) throws(Errno) {
        do throws(Errno) {
            try access.asOwner(of: directory) { () throws(Errno) in
                try name.withCName { (name) throws(Errno) in
                    if node.isDirectory {
                        try System.removeDirectory(at: directory.raw, name)
                    } else {
                        try System.unlink(at: directory.raw, name)
                    }
                }
            }
        } catch .noEntry {}  // somebody has removed it from the store
    }

    private func report(_ dentry: Dentry, _ error: Errno) {
        let path = read { _ in dentry.directory.path() + [dentry.name] }
        hooks.report(
            StoreError(
                "not removed from tmp: \(error)", path: store.path + "/container/" + path.text,
                advice: "Remove it in the mount."))
    }

    /// The name is gone from the store. Also returns a sidecar that now belongs to no file.
    private func finish(
        _ node: Node, _ dentry: Dentry, _ path: [Name], _ remains: Remains?, _ pid: pid_t, _ state: inout VolumeState
    ) -> (Removal, sidecar: String?) {
        let charged = node.charged
        let removal = state.removal(of: node, dentry, path)
        if node.isDirectory { state.descriptors.remove(node) }
        state.tree.unlink(dentry)
        node.leave(remains)
        let sidecar = state.endHold(of: node)
        if !node.isDirectory {
            let freed = charged - node.charged
            state.tree.accounts.notePurged(files: 1, bytes: freed)
            state.outbox.append(
                Event(
                    type: .purge, path: path.text, tier: .temporary, bytes: freed, reason: PurgeReason.reboot.rawValue,
                    trigger: .reboot, pid: pid == 0 ? nil : pid))
        }
        return (removal, sidecar)
    }
}
