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
        // Two names of one file stay as they are (rename(2)).
        if let target, target === node { return }
        if flags & Self.renameExchange != 0, let target { return exchange(node, from, target, to, &state) }
        if let target { removeName(to, of: target, &state) }
        move(node, from, to, &state)
    }

    private func move(_ node: Node, _ from: Dentry, _ to: Dentry, _ state: inout VolumeState) {
        from.directory.part?.entries[from.name] = nil
        to.directory.ensuredPart.entries[to.name] = node
        state.moveName(of: node, from: from, to: to)
    }

    private func exchange(
        _ a: Node, _ aPlace: Dentry, _ b: Node, _ bPlace: Dentry, _ state: inout VolumeState
    ) {
        aPlace.directory.ensuredPart.entries[aPlace.name] = b
        bPlace.directory.ensuredPart.entries[bPlace.name] = a
        state.moveName(of: a, from: aPlace, to: bPlace)
        state.moveName(of: b, from: bPlace, to: aPlace)
    }
}
