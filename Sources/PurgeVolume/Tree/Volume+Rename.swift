import PurgeModel
import PurgeSystem

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
                lockedUnhold(node)
                if let found { lockedUnhold(found) }
                defer { if let found { lockedLeave(left, of: found) } }
                return lockedRename(node, from, found, to, flags, &state)
            }
        } catch {
            if let target { unhold(target) }
            unhold(node)
            throw hostError(error, node)
        }
        if let sidecar { store.removeSidecar(sidecar) }
    }

    /// The store has it so already; answers a sidecar that is now nobody's.
    private func lockedRename(
        _ node: Node, _ from: Dentry, _ target: Node?, _ to: Dentry, _ flags: UInt32, _ state: inout VolumeState
    ) -> String? {
        // Two names of one file stay as they are (rename(2)).
        if let target, target === node {
            state.offer(node)
            return nil
        }
        if flags & Self.renameExchange != 0, let target {
            exchange(node, from, target, to, &state)
            return nil
        }
        let sidecar = target.flatMap { removeName(to, of: $0, &state) }
        move(node, from, to, &state)
        return sidecar
    }

    private func move(_ node: Node, _ from: Dentry, _ to: Dentry, _ state: inout VolumeState) {
        from.directory.part?.entries[from.name] = nil
        to.directory.ensuredPart.entries[to.name] = node
        reseat(node, from, to, &state)
    }

    private func exchange(
        _ a: Node, _ aPlace: Dentry, _ b: Node, _ bPlace: Dentry, _ state: inout VolumeState
    ) {
        aPlace.directory.ensuredPart.entries[aPlace.name] = b
        bPlace.directory.ensuredPart.entries[bPlace.name] = a
        reseat(a, aPlace, bPlace, &state)
        reseat(b, bPlace, aPlace, &state)
    }

    /// One name of the node is another now; tiers of all below follow in the same step.
    private func reseat(_ node: Node, _ from: Dentry, _ to: Dentry, _ state: inout VolumeState) {
        if node.parent === from.directory && node.name == from.name {
            node.parent = to.directory
            node.name = to.name
        } else if let part = node.part,
            let at = part.furtherNames.firstIndex(where: { $0.directory === from.directory && $0.name == from.name })
        {
            part.furtherNames[at] = to
        }
        state.place(node)
    }
}
