import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

extension NameChanges {
    func rename(
        _ name: CName, in parent: Node, to newName: CName, in newParent: Node, flags: UInt32, caller: Caller
    ) throws(Errno) {
        try refuseReserved(name, in: parent, with: .notPermitted)
        try refuseReserved(newName, in: newParent, with: .notPermitted)
        if flags & ~(System.renameNoReplace | System.renameExchange) != 0 { throw .invalid }
        try refuseHidden(parent, newParent, caller)
        guard try move(name, in: parent, to: newName, in: newParent, flags: flags, caller: caller) else { return }
        // A folder that is no longer to be purged goes back.
        _ = try move(name, in: parent, to: newName, in: newParent, flags: flags, caller: caller)
        throw .busy
    }

    /// Renames an entry. Returns true if the entry is a folder that a purge is moving out, and that must stay after all
    /// (`WholeFolderPurge.mustStay`).
    private func move(
        _ name: CName, in parent: Node, to newName: CName, in newParent: Node, flags: UInt32, caller: Caller
    ) throws(Errno) -> Bool {
        let from = Dentry(directory: parent, name: Name(name))
        let to = Dentry(directory: newParent, name: Name(newName))
        try makeWay(for: to.name, in: newParent)
        guard let node = try lookups.heldEntry(from.name, in: parent) else { throw .noEntry }
        var target: Node?
        let (sidecar, hasStrayed): (String?, Bool)
        do throws(Errno) {
            target = try lookups.heldEntry(to.name, in: newParent)
            let source = try access.directoryDescriptor(parent)
            let destination = try access.directoryDescriptor(newParent)
            let found = target
            let left = found.flatMap { access.remains(of: $0, to.name, in: destination) }
            let records = events.isRecording
            (sidecar, hasStrayed) = try access.moving { () throws(Errno) in
                try System.rename(at: source.raw, name, to: destination.raw, newName, flags: flags)
            } then: { state -> (String?, Bool) in
                let isExchange = flags & System.renameExchange != 0
                let mustStay =
                    isExchange && WholeFolderPurge.mustStay(node, hiddenIn: newParent, for: found, core, state)
                // A folder that is purged as a whole moves to a hidden one. The purge tells of the files in it.
                if records, state[newParent].io.descriptorSlot != NodeIO.pinnedSlot {
                    state.outbox += Event.renaming(node, from, over: found, to, isExchange, by: caller.tid, state)
                }
                state.rename(node, from, over: found, to, isExchange, by: caller.tid)
                if let found { state[found].leave(left) }
                _ = state.endHold(of: node)
                return (found.flatMap { state.endHold(of: $0) }, mustStay)
            }
        } catch {
            for case let held? in [target, node] { access.unhold(held) }
            throw access.hostError(error, node)
        }
        if let sidecar { store.removeSidecar(sidecar) }
        core.finishPlacing(below: [node, target])
        return hasStrayed
    }

    /// Throws ENOENT for new entries in a folder that has been purged as a whole, and for renames out of one or into one. Such
    /// a folder is gone.
    func refuseHidden(_ parent: Node, _ newParent: Node, _ caller: Caller) throws(Errno) {
        guard core.foldersMoved.load(ordering: .relaxed) > 0, port.announcer != 0, !purgedNames.isAnnouncer(caller)
        else { return }
        if read({ isHidden(parent, $0) || isHidden(newParent, $0) }) { throw .noEntry }
    }

    /// Returns whether a directory is, or lies below, a hidden folder that receives folders purged as a whole.
    private func isHidden(_ directory: Node, _ state: borrowing VolumeState) -> Bool {
        var node = Optional(directory)
        while let each = node {
            if state[each].io.descriptorSlot == NodeIO.pinnedSlot { return true }
            node = state[each].parent
        }
        return false
    }
}

extension VolumeState {
    /// Renames in the tree, after the store has changed.
    fileprivate mutating func rename(
        _ node: Node, _ from: Dentry, over target: Node?, _ to: Dentry, _ isExchange: Bool, by tid: pid_t
    ) {
        if isExchange { return tree.exchange(from, to) }
        guard let target, target !== node else { return tree.rename(from, to: to) }
        if target.isDirectory { descriptors.remove(target, in: &tree) }
        let flags = OwnFlags(of: target, self)
        tree.rename(from, to: to)
        outbox += flags.losses(to: node, by: tid, self)
    }
}

/// A file's own flags. They are lost when a program saves by renaming a new file over the file.
private struct OwnFlags {
    let mark: PurgeMark?
    let isExcluded: Bool

    init(of node: Node, _ state: borrowing VolumeState) {
        (mark, isExcluded) = (state[node].ownMark, state[node].ownExclusion)
    }

    /// Returns an event for each flag whose value the replacing file neither has itself nor inherits from a folder above.
    func losses(to node: Node, by tid: pid_t, _ state: borrowing VolumeState) -> [Event] {
        let standing = state[node].standing
        var lost: [(StorageAttribute, String)] = []
        if let mark, standing.mark != mark { lost.append((.isPurgeable, mark.text)) }
        if isExcluded, !standing.isExcluded { lost.append((.isExcludedFromBackup, "1")) }
        guard !lost.isEmpty else { return [] }
        let path = state[node].path().text
        return lost.map { .flagLost($0, $1, path: path, tier: standing.tier, pid: tid) }
    }
}
