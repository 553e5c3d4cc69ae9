import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// The purge of a folder as a whole (docs/INTERNALS.md, Folders that go as a whole). The folder is exchanged with an empty one
/// in a hidden place, which no path leads to, and is emptied there. So everything in it is gone in one step: subfolders, open
/// files and hard-linked files, too.
struct WholeFolderPurge: VolumeFamily {
    let core: VolumeCore
    let folder: WholeFolder
    let trigger: PurgeTrigger
    /// Whether a command has named the folder. Only then, an app in the foreground is not spared.
    let isNamed: Bool
    /// The thread on whose behalf the purge is done; 0 if there is none.
    let tid: pid_t

    /// Purges the folder, and returns the bytes that are free afterwards. The app is terminated first if it runs and is not in
    /// the foreground. If the folder cannot be moved, or something else has its name, files are purged one by one.
    func run(_ debt: inout AnnouncementDebt, report: ([Event]) -> Void = { _ in }) -> ByteCount {
        port.expectSlowWork()
        if isNamed { core.namedFolderPurges.add(1, ordering: .relaxed) }
        defer { if isNamed { core.namedFolderPurges.subtract(1, ordering: .relaxed) } }
        let began = clock.now
        guard let node = place.node, node.isDirectory, !entries(of: node).isEmpty else {
            return purgeFiles(since: began, &debt, report)
        }
        guard terminateApp() else { return .zero }
        var freed = ByteCount.zero
        do throws(Errno) {
            let hidden = try hiddenFolder()
            // The empty folder that was made for an exchange that has failed goes, too.
            let result = Result { () throws(Errno) in try move(into: hidden) }
            freed = EmptiedFolder(core: core, work: .whole(self, hidden), pid: tid).empty(&debt, report: report)
            do throws(Errno) { try result.get() } catch .noEntry {}  // it has just been removed
        } catch .busy where !isNamed && read({ $0.device.app.isInForeground }) {
            return .zero  // the app has come to the foreground
        } catch {
            port.report(
                StoreError(
                    "the folder cannot be purged as a whole, so its files are purged one by one: \(error)",
                    path: store.path + "/container/" + folder.path,
                    advice: "Unmount what is mounted in it, make the folder above it writable, or end the program that "
                        + "keeps moving or locking it."))
        }
        return freed > .zero ? freed : purgeFiles(since: began, &debt, report)
    }

    /// The folder that contains the folder, and the entry with its name.
    private var place: (parent: Node?, node: Node?) {
        let path = folder.path.split(separator: "/").map { Name(String($0)) }
        return read { state in
            let parent = path.dropLast().reduce(root) { (node: Node?, name) in
                node.flatMap { state[$0].entry(named: name) }
            }
            return (parent, parent.flatMap { state[$0].entry(named: path[path.count - 1]) })
        }
    }

    /// Terminates an app in the background, because its files go, and waits until its processes have ended and closed their
    /// files. Returns false if the app is in the foreground and is spared.
    private func terminateApp() -> Bool {
        let now = clock.now
        let (mayGo, isKilled) = change { state -> (Bool, Bool) in
            if state.device.app.isInForeground { return (isNamed, false) }
            let effects = state.tree.accounts.change {
                AppTermination.cachesPurged.carryOut(on: &$0, path: folder.path, at: now)
            }
            for case .event(let event) in effects { state.outbox.append(event) }
            return (true, effects.contains(.killApp))
        }
        if isKilled {
            core.app.killAndWait()
            core.appTerminations.add(1, ordering: .relaxed)
        }
        return mayGo
    }

    /// Returns the hidden folder, which is made for the first purge.
    private func hiddenFolder() throws(Errno) -> Node {
        try core.hiddenFolders.withLock { (folders) throws(Errno) in
            if let hidden = folders[folder] { return hidden }
            let descriptor = try store.purged.open(folder.hiddenName)
            let name = Name(folder.hiddenName)
            let hidden = access.node(try System.status(descriptor.raw), named: name, birthMark: 0)
            change { state in
                state.tree.insertHidden(hidden, below: control.directory, as: folder.place, in: root)
                state[hidden].io.descriptor = descriptor
                state[hidden].io.descriptorSlot = NodeIO.pinnedSlot
            }
            folders[folder] = hidden
            return hidden
        }
    }

    /// Exchanges the folder with an empty one. ENOENT if there is no such folder; EBUSY if it could not be moved.
    private func move(into hidden: Node) throws(Errno) {
        // The mount would go with the folder.
        if let mountpoint = core.mountpoint,
            MountEntry.all().contains(where: { $0.mountpoint.isPath(below: "\(mountpoint)/\(folder.path)") })
        {
            throw .busy
        }
        guard case (let parent?, let node?) = place, node.isDirectory else { throw .noEntry }
        let number = "\(core.foldersMoved.add(1, ordering: .relaxed).newValue)"
        let owner: (user: uid_t, group: gid_t) = try store.owner
        // The thread that moves the folder may have names of other purges to announce first.
        purgedNames.awaitAnnouncements()
        switch port.replaceFolder(folder.path, with: ".purgefs/\(folder.hiddenName)/\(number)", for: owner) {
        case .done, .late: break
        case .unavailable: try move(read { $0[node].name }.text, in: parent, into: hidden, number, owner)
        }
        // The app may have moved the folder itself, or another purge.
        guard place.node !== node else { throw .busy }
    }

    /// Exchanges the folder for a new, empty one, in a store that is not mounted.
    private func move(
        _ name: String, in parent: Node, into hidden: Node, _ number: String, _ owner: (user: uid_t, group: gid_t)
    ) throws(Errno) {
        let daemon = Caller(owner: geteuid(), group: getegid(), tid: 0, umask: 0)
        let caller = geteuid() == 0 ? Caller(owner: owner.user, group: owner.group, tid: 0, umask: 0) : daemon
        defer { core.actAs(daemon) }
        lookups.forget(try names.makeDirectory(number, in: hidden, mode: 0o700, caller: caller).node, count: 1)
        core.actAs(daemon)
        try names.rename(
            name, in: parent, to: number, in: hidden, flags: System.renameExchange, caller: daemon)
    }

    /// Whether a folder that is being exchanged with an empty one in a hidden folder must not be purged: the app has renamed it,
    /// or a folder above it, since the purge began; or the app has come to the foreground, and no command has named the folder.
    static func mustStay(
        _ node: Node, hiddenIn hidden: Node, for empty: Node?, _ core: VolumeCore, _ state: borrowing VolumeState
    ) -> Bool {
        guard state[hidden].io.descriptorSlot == NodeIO.pinnedSlot, let empty, state[empty].entries.isEmpty,
            let folder = WholeFolder.allCases.first(where: { Name($0.hiddenName) == state[hidden].name })
        else { return false }
        let isSpared = state.device.app.isInForeground && core.namedFolderPurges.load(ordering: .relaxed) == 0
        return isSpared || state[node].path().text != folder.path
    }

    /// Purges the files one by one, except those that have been used since `began`, so that this ends.
    private func purgeFiles(
        since began: Instant, _ debt: inout AnnouncementDebt, _ report: ([Event]) -> Void
    ) -> ByteCount {
        var freed = ByteCount.zero
        while true {
            let now = clock.now
            let purge = change { state -> Purge? in
                if state.device.app.isInForeground, !isNamed { return nil }
                return state.choose(
                    .step(folder.step), trigger: trigger, tid: tid, limit: Purger.batch,
                    spared: began...max(began, now))
            }
            guard let purge else { return freed }
            purger.carryOut(purge, &debt) { events in
                freed += events.freed
                report(events)
            }
        }
    }
}

extension WholeFolder {
    /// The name of the hidden folder, in the store and for the announcing thread in the control directory.
    var hiddenName: String {
        switch self {
        case .caches: "purged.caches"
        case .temporary: "purged.tmp"
        }
    }

    fileprivate var place: Place {
        switch self {
        case .caches: .caches
        case .temporary: .temporary
        }
    }
}

extension [Name] {
    /// The path as users know it: a file in a folder that is purged as a whole keeps the path that it had before.
    var formerText: String {
        guard count > 2, self[0] == Name(ControlTree.name),
            let folder = WholeFolder.allCases.first(where: { Name($0.hiddenName) == self[1] })
        else { return text }
        return ([folder.path] + dropFirst(3).map(\.text)).joined(separator: "/")
    }
}
