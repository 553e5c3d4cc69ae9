import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

// Files created without a name (O_TMPFILE). link(2) may name them later.
extension FileCreation {
    /// Creates and opens a file without a name. It is charged like an entry of `directory`.
    func makeTemporary(
        in directory: Node, mode: mode_t, flags: Int32, caller: Caller
    ) throws(Errno) -> (Entry, Handle) {
        if directory.isControl { throw .notPermitted }
        try names.refuseHidden(directory, directory, caller)
        try protection.admitNew(Name(""), in: directory, by: caller.tid)
        try openFiles.admit()
        let place = try access.directoryDescriptor(directory)
        core.actAs(caller)
        let kept = flags & ~OpenFiles.strippedFlags | System.openTemporary | O_CLOEXEC | untouched.fileFlags
        let descriptor: Int32
        do { descriptor = try System.open(at: place.raw, ".", kept, mode: mode) } catch {
            throw access.hostError(error, directory)
        }
        do throws(Errno) { return try adoptTemporary(descriptor, in: directory, flags, by: caller.tid) } catch {
            System.close(descriptor)
            throw access.hostError(error, directory)
        }
    }

    private func adoptTemporary(
        _ descriptor: Int32, in directory: Node, _ flags: Int32, by opener: pid_t
    ) throws(Errno) -> (Entry, Handle) {
        let inherited = read { $0[directory].protection }
        if let inherited { try extendedAttributes.store(inherited, of: descriptor, nil) }
        // Read after the attribute is set, because setting it updates the change time.
        let status = try System.status(descriptor)
        let node = access.newNode(status, named: Name(""))
        let now = clock.now
        return change { state in
            let facts = EntryFacts(ofNew: status, on: state.device, inherited, opens: 1)
            state.tree.insertNameless(node, asIn: directory, facts)
            state.tree.noteUse(node, at: now)
            let handle = state.handle(for: node, descriptor, flags, by: opener, offersPassthrough: false)
            state.grant(node)
            let attributes = Attributes(of: node, status, mayArriveLate: true, in: state)
            return (Entry(node: node, attributes: attributes), handle)
        }
    }
}
