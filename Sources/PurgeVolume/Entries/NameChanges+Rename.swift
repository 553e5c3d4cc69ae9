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
        let from = Dentry(directory: parent, name: Name(name))
        let to = Dentry(directory: newParent, name: Name(newName))
        try makeWay(for: to.name, in: newParent)
        guard let node = try lookups.heldEntry(from.name, in: parent) else { throw .noEntry }
        var target: Node?
        let sidecar: String?
        do throws(Errno) {
            target = try lookups.heldEntry(to.name, in: newParent)
            let source = try access.directoryDescriptor(parent)
            let destination = try access.directoryDescriptor(newParent)
            let found = target
            let left = found.flatMap { access.remains(of: $0, to.name, in: destination) }
            sidecar = try access.moving { () throws(Errno) in
                try System.rename(at: source.raw, name, to: destination.raw, newName, flags: flags)
            } then: { state -> String? in
                if flags & System.renameExchange != 0 {
                    state.tree.exchange(from, to)
                } else {
                    state.rename(node, from, over: found, to, by: caller.tid)
                }
                if let found { found.leave(left) }
                _ = state.endHold(of: node)
                return found.flatMap { state.endHold(of: $0) }
            }
        } catch {
            if let target { access.unhold(target) }
            access.unhold(node)
            throw access.hostError(error, node)
        }
        if let sidecar { store.removeSidecar(sidecar) }
    }
}

extension VolumeState {
    /// The store has changed already.
    fileprivate mutating func rename(
        _ node: Node, _ from: Dentry, over target: Node?, _ to: Dentry, by tid: pid_t
    ) {
        guard let target, target !== node else { return tree.rename(from, to: to) }
        if target.isDirectory { descriptors.remove(target) }
        let (mark, isExcluded) = (target.ownMark.mark, target.flags.contains(.ownExclusion))
        tree.rename(from, to: to)
        // What is saved by a rename over the old file has lost its flags. A folder above may have the same one.
        if let mark, node.standing.mark != mark { note(.isPurgeable, mark.text, lostBy: node, tid) }
        if isExcluded, !node.standing.isExcluded { note(.isExcludedFromBackup, "1", lostBy: node, tid) }
    }

    private mutating func note(_ attribute: StorageAttribute, _ value: String, lostBy node: Node, _ tid: pid_t) {
        outbox.append(.flagLost(attribute, value, path: node.path().text, tier: node.standing.tier, pid: tid))
    }
}
