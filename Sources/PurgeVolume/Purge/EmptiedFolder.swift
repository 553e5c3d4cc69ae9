import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// A folder whose whole content is removed: `tmp` at a reboot or an update, the container when the app is removed,
/// directories at a reset of the policies, a folder that a purge has moved out of the container. A command can also have single
/// files removed in this way. Everything is removed,
/// including folders and open or hard-linked files. An open file stays charged until its last close, and a file with a name
/// elsewhere keeps that name. Entries that are created in the folder meanwhile, or moved out of it, may remain. For ageing,
/// only aged entries of `tmp` are removed.
struct EmptiedFolder: VolumeFamily {
    /// The folder to empty, and the reason.
    enum Work {
        case device(DeviceWork)
        /// A directory that has a policy. Directories in it that have their own policy, or that every container has, are also
        /// emptied but not removed.
        case policy(Node)
        /// The entries of `tmp` that are aged at this moment.
        case ageing(Instant)
        /// Everything in the hidden folder to which a purge has moved a folder.
        case whole(WholeFolderPurge, Node)
        /// This file only, as long as nothing but its being open keeps it from being purged.
        case file(FoundFile)
    }

    let core: VolumeCore
    let work: Work
    let pid: pid_t

    init(core: VolumeCore, work: Work, pid: pid_t) { (self.core, self.work, self.pid) = (core, work, pid) }
    init(core: VolumeCore, work: DeviceWork, pid: pid_t) { self.init(core: core, work: .device(work), pid: pid) }

    /// Removes the entries, and returns the bytes that this has freed. `report` gets the events of each batch.
    func empty(_ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in }) -> ByteCount {
        let freed = emptyOnce(&debt, report)
        // A program that is in a moved folder may have made entries meanwhile.
        guard case .whole(_, let hidden) = work, !entries(of: hidden).isEmpty else { return freed }
        return freed + emptyOnce(&debt, report)
    }

    private func emptyOnce(_ debt: inout AnnouncementDebt, _ report: ([Event]) -> Void) -> ByteCount {
        names.withdrawStrays()
        var freed = ByteCount.zero
        var pending = folder.map { [$0] } ?? []
        var folders: [Dentry] = []
        while !isInterrupted, let folder = pending.popLast() {
            let entries = entries(of: folder).map { (Dentry(directory: folder, name: $0.key), $0.value) }
            let inner = entries.filter { $0.1.isDirectory }
            folders += selections.inSlices(inner) { stays($0.1, $1) ? nil : $0.0 }
            pending += inner.map { $0.1 }
            freed += remove(
                selections.inSlices(entries.filter { !$0.1.isDirectory }) { goes($0.1, $1) ? $0.0 : nil }, &debt,
                report)
        }
        // `folders` has a folder before the folders in it, so they are removed in reverse.
        return freed + remove(folders.reversed(), &debt, report)
    }

    /// Removes the name of the file, and returns the bytes that this has freed. Returns nil if the name stays or is gone
    /// already.
    func removeFile(_ debt: inout AnnouncementDebt) -> ByteCount? {
        guard case .file(let file) = work, let dentry = read({ Removal(file.node, in: $0)?.dentry }),
            let gone = remove(dentry)
        else { return nil }
        debt.add([gone.removal])
        return gone.freed
    }

    /// Whether to stop because the mount is ending. Aged files can wait for the next mount, and that mount removes the hidden
    /// folder.
    private var isInterrupted: Bool {
        switch work {
        case .ageing, .whole: core.isEnding.load(ordering: .acquiring)
        case .device, .policy, .file: false
        }
    }

    private var folder: Node? {
        switch work {
        case .device(.delete): root
        case .device, .ageing: read { $0[root].entry(named: Name("tmp")) }
        case .policy(let folder), .whole(_, let folder): folder
        case .file: nil
        }
    }

    /// Whether a directory is emptied but not removed.
    private func stays(_ directory: Node, _ state: borrowing VolumeState) -> Bool {
        guard case .policy = work else { return false }
        return state[directory].policy != nil || containerFolders.include(directory, in: state)
    }

    /// Whether the directory's entries must still be removed, even if the directory has been moved.
    private func empties(_ directory: Node, _ state: borrowing VolumeState) -> Bool {
        switch work {
        case .device(.delete), .file: true
        case .whole(_, let hidden): isBelow(directory, hidden, state)
        case .device, .ageing: state[directory].standing.place == .temporary
        case .policy: state[directory].isUnderPolicy
        }
    }

    private func isBelow(_ directory: Node, _ top: Node, _ state: borrowing VolumeState) -> Bool {
        var node = directory
        while node !== top {
            guard let parent = state[node].parent else { return false }
            node = parent
        }
        return true
    }

    /// Whether an entry is to be removed.
    private func goes(_ node: Node, _ state: borrowing VolumeState) -> Bool {
        if case .file(let file) = work {
            let refusal = selections.refusal(of: file, in: state)
            return file.node === node && (refusal == nil || refusal == .open)
        }
        guard case .ageing(let now) = work else { return true }
        if node.isDirectory { return state[node].entries.isEmpty && !state[node].isBusy }
        return PurgeRule.isOver(
            state[node].purgeFacts, lastUse: max(state[node].lastUse, state[node].creation), at: now)
    }

    /// Whether a folder of `tmp` has been unchanged for long enough to be removed by ageing. True for anything else: `goes`
    /// checks the age of files, and other work ignores age. Called without the lock.
    private func isOld(_ folder: Node) -> Bool {
        guard case .ageing(let now) = work, folder.isDirectory else { return true }
        do throws(Errno) {
            let changed = FileTime(try lookups.attributes(of: folder).status.st_mtim)
            return PurgeRule.isOver(folderChanged: read { $0.device.fileClock.time(shownAs: changed) }, at: now)
        } catch { return false }  // the folder is gone
    }

    private func remove(
        _ dentries: [Dentry], _ debt: inout AnnouncementDebt, _ report: ([Event]) -> Void
    ) -> ByteCount {
        var freed = ByteCount.zero
        for start in stride(from: 0, to: dentries.count, by: Purger.batch) where !isInterrupted {
            let gone = dentries[start..<min(start + Purger.batch, dentries.count)].compactMap { remove($0) }
            freed += gone.reduce(.zero) { $0 + $1.freed }
            debt.add(gone.map(\.removal))
            report(gone.compactMap(\.event))
        }
        return freed
    }

    /// Removes an entry. Returns nil if it stays, or is gone already.
    private func remove(_ dentry: Dentry) -> (removal: Removal, event: Event?, freed: ByteCount)? {
        guard let found = read({ $0.node(at: dentry) }), isOld(found), let (node, path) = begin(dentry) else {
            return nil
        }
        // Another folder may have taken the name meanwhile.
        guard node === found || isOld(node) else {
            access.unhold(node)
            return nil
        }
        do throws(Errno) {
            let directory = try access.directoryDescriptor(dentry.directory)
            let left = access.remains(of: node, dentry.name, in: directory)
            let (removal, event, freed, sidecar) = try access.moving { () throws(Errno) in
                try unlink(dentry.name, node, in: directory)
            } then: { state in
                finish(node, dentry, path, left, &state)
            }
            if let sidecar { store.removeSidecar(sidecar) }
            return (removal, event, freed)
        } catch {
            access.unhold(node)
            // Not an error if entries have been created in the folder meanwhile.
            if error != .notEmpty { report(dentry, error) }
            return nil
        }
    }

    /// Waits until no other operation uses the entry by its name, then holds it and returns it with its path. Returns nil if
    /// the entry is gone, must no longer be removed, or is in use for too long.
    private func begin(_ dentry: Dentry) -> (Node, path: [Name])? {
        let deadline = System.uptime() + Purger.patienceForHeldFiles
        while true {
            let seen = core.released.generation
            let (found, isBusy) = change { state -> ((Node, path: [Name])?, Bool) in
                guard let node = state.node(at: dentry), empties(dentry.directory, state), goes(node, state)
                else { return (nil, false) }
                if state[node].isBusy { return (nil, true) }
                state.tree.hold(node, isGoing: true)
                // From here on the entry is removed, even if its folder is moved elsewhere.
                return ((node, state.path(of: dentry)), false)
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
        } catch .noEntry {}  // somebody has already removed the entry from the store
    }

    private func report(_ dentry: Dentry, _ error: Errno) {
        let path = read { $0.path(of: dentry) }
        let advice = if case .whole = work { "The next mount removes it." } else { "Remove it in the mount." }
        port.report(
            StoreError(
                "it was not removed from \(place): \(error)",
                path: store.path + "/container/" + path.formerText, advice: advice))
    }

    /// Updates the tree after the name is gone from the store. The result includes the sidecar that now belongs to no file, if
    /// there is one.
    private func finish(
        _ node: Node, _ dentry: Dentry, _ path: [Name], _ remains: Remains?, _ state: inout VolumeState
    ) -> (Removal, Event?, freed: ByteCount, sidecar: String?) {
        let charged = state[node].charged
        var removal = Removal(directory: dentry.directory, node: node, path: path)
        state.note(&removal)
        if node.isDirectory { state.descriptors.remove(node, in: &state.tree) }
        state.tree.unlink(dentry)
        state[node].leave(remains)
        let sidecar = state.endHold(of: node)
        let freed = charged - state[node].charged
        let event = node.isDirectory ? nil : event(path, node, freed, state)
        if let event {
            state.tree.accounts.notePurged(files: 1, bytes: freed)
            state.outbox.append(event)
        }
        return (removal, event, freed, sidecar)
    }

    /// Returns the event of a removed file. The removal of the app has one event for all files.
    private func event(
        _ path: [Name], _ node: Node, _ freed: ByteCount, _ state: borrowing VolumeState
    ) -> Event? {
        guard let (reason, trigger) = cause else { return nil }
        let path = path.formerText
        let lastUse = state[node].lastUse
        var event = Event(
            // The tier of the removed name: a file may have another name in a more durable place.
            type: .purge, path: path, tier: Place.at(path: path.utf8).tier, bytes: freed, reason: reason.rawValue,
            trigger: trigger, pid: pid == 0 ? nil : pid, lastUse: lastUse == .distantPast ? nil : lastUse.iso8601,
            pressure: state.device.level)
        if case .whole(let purge, _) = work, purge.trigger == .pressure {
            (event.pid, event.cause) = (state.pressureCause?.pid, state.pressureCause?.path)
        }
        return event
    }

    /// The reason and trigger in the event of each file.
    private var cause: (PurgeReason, PurgeTrigger)? {
        switch work {
        case .device(.reboot): (.reboot, .reboot)
        case .device(.update): (.temporary, .command)
        case .device(.delete): nil
        case .policy, .file: (.command, .command)
        case .ageing: (.temporary, .policy)
        case .whole(let purge, _): (purge.folder.reason, purge.trigger)
        }
    }

    /// The folder's description in a message.
    private var place: String {
        switch work {
        case .device(.delete): "the container"
        case .device, .ageing: "tmp"
        case .policy: "a directory that was reset"
        case .whole(let purge, _): purge.folder.path
        case .file: "its folder"
        }
    }
}
