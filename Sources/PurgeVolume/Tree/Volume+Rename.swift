import PurgeModel
import PurgeSystem
import PurgeTree

extension Volume {
    /// RENAME_NOREPLACE and RENAME_EXCHANGE of renameat2(2).
    public static let renameNoReplace: UInt32 = 1
    public static let renameExchange: UInt32 = 2

    public func rename(
        _ name: CName, in parent: Node, to newName: CName, in newParent: Node, flags: UInt32
    ) throws(Errno) {
        try refuseReserved(name, in: parent, with: .notPermitted)
        try refuseReserved(newName, in: newParent, with: .notPermitted)
        if flags & ~(Self.renameNoReplace | Self.renameExchange) != 0 { throw .invalid }
        let from = Dentry(directory: parent, name: Name(name))
        let to = Dentry(directory: newParent, name: Name(newName))
        try makeWay(for: to.name, in: newParent)
        guard let node = try heldEntry(from.name, in: parent) else { throw .noEntry }
        var target: Node?
        let sidecar: String?
        do throws(Errno) {
            target = try heldEntry(to.name, in: newParent)
            let source = try directoryDescriptor(parent)
            let destination = try directoryDescriptor(newParent)
            let found = target
            let left = found.flatMap { remains(of: $0, to.name, in: destination) }
            sidecar = try moving { () throws(Errno) in
                try System.rename(at: source.raw, name, to: destination.raw, newName, flags: flags)
            } then: { state -> String? in
                lockedRename(node, from, found, to, flags, &state)
                if let found { lockedLeave(left, of: found) }
                _ = lockedUnhold(node, &state)
                return found.flatMap { lockedUnhold($0, &state) }
            }
        } catch {
            if let target { unhold(target) }
            unhold(node)
            throw hostError(error, node)
        }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// The store has it so already.
    private func lockedRename(
        _ node: Node, _ from: Dentry, _ target: Node?, _ to: Dentry, _ flags: UInt32, _ state: inout VolumeState
    ) {
        if flags & Self.renameExchange != 0 { return state.tree.exchange(from, to) }
        if let target, target !== node, target.isDirectory { state.descriptors.remove(target) }
        state.tree.rename(from, to: to)
    }
}
