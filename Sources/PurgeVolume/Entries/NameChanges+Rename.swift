import PurgeModel
import PurgeSystem
import PurgeTree

extension NameChanges {
    func rename(
        _ name: CName, in parent: Node, to newName: CName, in newParent: Node, flags: UInt32
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
                state.rename(node, from, found, to, flags)
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
    fileprivate mutating func rename(_ node: Node, _ from: Dentry, _ target: Node?, _ to: Dentry, _ flags: UInt32) {
        if flags & System.renameExchange != 0 { return tree.exchange(from, to) }
        if let target, target !== node, target.isDirectory { descriptors.remove(target) }
        tree.rename(from, to: to)
    }
}
