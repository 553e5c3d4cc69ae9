import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Creates files that are open from the beginning, with a name or without one.
struct FileCreation: VolumeFamily {
    let core: VolumeCore

    func create(
        _ name: CName, in parent: Node, mode: mode_t, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> (Entry, Handle) {
        try names.refuseReserved(name, in: parent, with: .exists)
        try names.refuseHidden(parent, parent, caller)
        let key = Name(name)
        try names.makeWay(for: key, in: parent)
        while true {
            if let place = try placeOfNew(key, in: parent, by: caller) {
                core.actAs(caller)
                return try make(name, key, in: parent, place, mode: mode, flags: flags)
            }
            if try lookups.settledEntry(key, in: parent) != nil {
                if flags & O_EXCL != 0 { throw .exists }
                let opened = try openExisting(
                    name, in: parent, flags: flags, caller: caller, offersPassthrough: offersPassthrough)
                if let opened { return opened }
            }
        }
    }

    private struct NewPlace {
        let directory: FileDescriptor
        /// The directory's own protection class, which the file inherits.
        let protection: FileProtection?
        /// The thread that makes the file.
        let opener: pid_t
    }

    /// Admits a new file and a descriptor for it. Returns nil if there is an entry of that name.
    private func placeOfNew(_ name: Name, in parent: Node, by caller: Caller) throws(Errno) -> NewPlace? {
        let found = try openFiles.admitting {
            (state) throws(Errno) -> (directory: FileDescriptor?, protection: FileProtection?)? in
            if state[parent].entry(named: name) != nil { return nil }
            try DataProtection.admitNew(name, in: parent, by: caller.tid, &state)
            try state.admit(within: budget)
            return (state[parent].directoryDescriptor, state[parent].protection)
        }
        guard let found else { return nil }
        let directory = if let known = found.directory { known } else { try access.directoryDescriptor(parent) }
        return NewPlace(directory: directory, protection: found.protection, opener: caller.tid)
    }

    /// Opens an existing file. Returns nil if the file has been purged meanwhile; the caller then creates it anew.
    private func openExisting(
        _ name: CName, in parent: Node, flags: Int32, caller: Caller, offersPassthrough: Bool
    ) throws(Errno) -> (Entry, Handle)? {
        let entry: Entry
        do throws(Errno) { entry = try lookups.lookup(name, in: parent, caller: caller) } catch {
            if error == .noEntry { return nil }
            throw error
        }
        do throws(Errno) {
            // A reply to CREATE cannot set up passthrough. ESTALE makes the kernel look up the name again, and then use OPEN.
            openFiles.settleCloses(of: entry.node)
            if read({ $0[entry.node].isPassed }) { throw .stale }
            return (
                entry,
                try openFiles.open(entry.node, flags: flags, caller: caller, offersPassthrough: offersPassthrough)
            )
        } catch {
            lookups.forget(entry.node, count: 1)
            throw error
        }
    }

    private func make(
        _ name: CName, _ key: Name, in parent: Node, _ place: NewPlace, mode: mode_t, flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        let kept =
            flags & ~(OpenFiles.strippedFlags | O_TRUNC) | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
            | untouched.fileFlags
        let descriptor: Int32
        do { descriptor = try System.open(at: place.directory.raw, name, kept, mode: mode) } catch {
            throw access.hostError(error, parent)
        }
        do throws(Errno) { return try adopt(descriptor, key, in: parent, place, flags) } catch {
            System.close(descriptor)
            names.withdrawEntry(key, in: parent, at: place.directory.raw)
            throw access.hostError(error, parent)
        }
    }

    private func adopt(
        _ descriptor: Int32, _ name: Name, in parent: Node, _ place: NewPlace, _ flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        if let inherited = place.protection {
            try name.withCName { (name) throws(Errno) in
                try extendedAttributes.store(inherited, of: place.directory.raw, name)
            }
        }
        // Read after the attribute is set, because setting it updates the change time.
        let status = try System.status(descriptor)
        let node = access.newNode(status, named: name)
        let now = clock.now
        return change { state in
            let handle = state.handle(
                for: node, descriptor, flags, by: place.opener, offersPassthrough: false,
                readsDirectly: core.faults.watchesReads)
            let facts = EntryFacts(ofNew: status, on: state.device, place.protection, opens: 1)
            state.tree.insert(node, in: parent, facts)
            state.tree.noteUse(node, at: now)
            state.grant(node)
            let attributes = Attributes(of: node, status, mayArriveLate: true, in: state)
            return (Entry(node: node, attributes: attributes), handle)
        }
    }
}
