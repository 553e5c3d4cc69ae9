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
        let node = newNode(status, named: Name(""))
        _ = try inheritProtection(node, from: directory, at: descriptor, nil)
        let now = clock.now
        return change { state in
            state.tree.insertNameless(node, asIn: directory, EntryFacts(opens: 1))
            state.tree.noteUse(node, at: now)
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
}
