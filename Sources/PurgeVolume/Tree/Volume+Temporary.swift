import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// Files that begin without a name (O_TMPFILE); `link` may give them their first.
extension Volume {
    /// Makes and opens a file without a name. It is charged as an entry of `directory` would be.
    public func makeTemporary(
        in directory: Node, mode: mode_t, flags: Int32, caller: Caller
    ) throws(Errno) -> (Entry, Handle) {
        if directory.isControl { throw .notPermitted }
        try admit()
        let place = try directoryDescriptor(directory)
        actAs(caller)
        let kept = flags & ~Self.strippedFlags | System.openTemporary | O_CLOEXEC | untouched.fileFlags
        let descriptor: Int32
        do { descriptor = try System.open(at: place.raw, ".", kept, mode: mode) } catch {
            throw hostError(error, directory)
        }
        do throws(Errno) { return try adoptTemporary(descriptor, in: directory, flags) } catch {
            System.close(descriptor)
            throw hostError(error, directory)
        }
    }

    private func adoptTemporary(
        _ descriptor: Int32, in directory: Node, _ flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        let status = try System.status(descriptor)
        let node = Node(inode: UInt64(status.st_ino), kind: .regular, parent: directory, name: Name(""))
        node.birthMark = BirthMark.of(new: status)
        noteDevice(of: node, status)
        try inheritProtection(node, from: directory, at: descriptor, nil)
        node.opens = 1
        let now = clock.now
        return change { state in
            state.place(node)
            node.parent = nil
            node.flags.insert(.unlinked)
            state.enter(node)
            state.noteUse(node, at: now)
            let handle = lockedHandle(node, descriptor, flags, offersPassthrough: false, &state)
            lockedGrant(node, &state)
            return (Entry(node: node, attributes: lockedAttributes(of: node, status)), handle)
        }
    }

    /// A new name of the node, in the store.
    func linkBacking(_ node: Node, to directory: Int32, _ name: CName) throws(Errno) {
        switch try locate(node) {
        case .entry(let from, let old):
            try old.withCName { (old) throws(Errno) in try System.link(at: from.raw, old, to: directory, name) }
        case .open(let handle): try System.link(handle.descriptor, to: directory, name)
        case .itself, .known: throw .noEntry
        }
    }

    /// The tree's part of it; under the lock.
    func lockedLink(_ node: Node, _ name: Name, in directory: Node, _ state: inout VolumeState) {
        directory.ensuredPart.entries[name] = node
        guard node.flags.contains(.unlinked) else {
            return state.addName(Dentry(directory: directory, name: name), to: node)
        }
        state.withdraw(node)
        node.flags.remove(.unlinked)
        node.parent = directory
        node.name = name
        // The journal was not told of its uses while it had no name.
        state.noteUse(node, at: node.lastUse)
        state.place(node)
        state.enter(node)
    }
}
