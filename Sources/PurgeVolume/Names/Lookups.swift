import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Finds entries, and reads their attributes and link targets.
struct Lookups: VolumeFamily {
    let core: VolumeCore

    func lookup(_ name: CName, in parent: Node, caller: Caller) throws(Errno) -> Entry {
        if parent.isControl {
            if purgedNames.isAnnouncer(caller), let hidden = hiddenFolder(named: name) { return try entry(of: hidden) }
            return try control.lookup(name, in: parent)
        }
        if parent === root, let directory = control.directory(named: name) { return directory }
        var disagreement = Disagreement()
        repeat {
            if let entry = try lookupOnce(Name(name), name, in: parent, caller: caller) { return entry }
        } while disagreement.mayEnd(core)
        throw .stale
    }

    /// Returns the folder to which the announcing thread moves folders that are purged as a whole.
    private func hiddenFolder(named name: CName) -> Node? {
        core.hiddenFolders.withLock { folders in folders.first { strcmp($0.key.hiddenName, name) == 0 }?.value }
    }

    /// Returns the entry of a node that PageWaiter or the announcing thread looks up by a name that the kernel must not cache.
    func entry(of node: Node) throws(Errno) -> Entry {
        let attributes = try attributes(of: node)
        change { $0.grant(node) }
        return Entry(node: node, attributes: attributes, nameMayBeCached: false)
    }

    func mayCacheAbsence(_ name: CName?, in parent: Node) -> Bool {
        // The names that PageWaiter uses in the control directory exist only for a moment.
        guard let name, !parent.isControl else { return false }
        return read { state in
            state.ghosts.isEmpty
                || state.ghosts[Dentry(directory: parent, name: Name(name))] == nil
        }
    }

    /// Looks a name up once. Returns nil if the name has moved or a purge has interfered, so that the caller must look again.
    private func lookupOnce(
        _ name: Name, _ cName: CName, in parent: Node, caller: Caller
    ) throws(Errno) -> Entry? {
        guard try settledEntry(name, in: parent) != nil else {
            if let ghost = purgedNames.ghost(name, in: parent, caller: caller) { return ghost }
            // The kernel passes on longer names and leaves the limit to us.
            throw name.length > Name.maximumLength ? .nameTooLong : .noEntry
        }
        let emptied = core.filesEmptied.load(ordering: .acquiring)
        let status: FileStatus
        do {
            // The variable keeps the descriptor open during the call: the ring may drop it at any moment.
            let directory = try access.directoryDescriptor(parent)
            status = try System.status(at: directory.raw, cName)
        } catch .noEntry { return nil }
        return lookup(name, status, in: parent, emptied: emptied, by: caller.tid)
    }

    /// Returns the entry with this status. Returns nil if the name now belongs to another file, or if a purge has chosen the
    /// file. Also returns nil if a purge may have emptied the file since `emptied` was read from `VolumeCore.filesEmptied`. The
    /// caller must read `emptied` before the status; otherwise the first size that the kernel learns could be the one from
    /// before the purge. `tid` is the thread that looks up the name.
    func lookup(
        _ name: Name, _ status: FileStatus, in parent: Node, emptied: Int, by tid: pid_t = 0
    ) -> Entry? {
        change { state -> Entry? in
            guard let node = state[parent].entry(named: name), node.inode == UInt64(status.st_ino),
                !state[node].isGoing,
                !state[node].standing.leavesTombstone || core.filesEmptied.load(ordering: .relaxed) == emptied
            else { return nil }
            state.emptied.noteLookup(node, by: tid)
            state.grant(node)
            return Entry(node: node, attributes: Attributes(of: node, status, in: state))
        }
    }

    /// Returns the entry once no purge is about to remove it; nil if there is none.
    func settledEntry(_ name: Name, in parent: Node) throws(Errno) -> Node? {
        var seen: UInt64?
        while true {
            let (node, isGoing) = read { state -> (Node?, Bool) in
                let node = state[parent].entry(named: name)
                return (node, node.map { state[$0].isGoing } ?? false)
            }
            if !isGoing { return node }
            access.awaitGone(&seen)
        }
    }

    /// Waits like `settledEntry`, and holds the entry so that no purge chooses it until `unhold`. A purge removes files by
    /// name, so otherwise it could remove the file that is about to get this name.
    func heldEntry(_ name: Name, in parent: Node) throws(Errno) -> Node? {
        var seen: UInt64?
        while true {
            let (node, isGoing) = change { state -> (Node?, Bool) in
                guard let node = state[parent].entry(named: name) else { return (nil, false) }
                if state[node].isGoing { return (nil, true) }
                state.tree.hold(node)
                return (node, false)
            }
            if !isGoing { return node }
            access.awaitGone(&seen)
        }
    }

    func attributes(of node: Node, withBirth: Bool = false) throws(Errno) -> Attributes {
        if node.isControl { return control.attributes(of: node) }
        // The stamps must match the times remembered for them, which are kept only for the newest and the previous stamps. So
        // the stamps are read again until the remembered times have not changed during the read. This concerns only files whose
        // times an app has set, on a device whose clock has been advanced.
        var seen: UInt32 = 0
        while true {
            let (status, birth) = try access.reading(node) { (location) throws(Errno) in
                (try location.status(), withBirth ? try location.birth() : nil)
            }
            let (attributes, version) = read { state in
                let attributes = Attributes(of: node, status, birth: birth, in: state)
                return (attributes, state.device.history.isEmpty ? 0 : state[node].io.timesVersion)
            }
            if version == seen || version == 0 { return attributes }
            seen = version
        }
    }

    func readLink(_ node: Node) throws(Errno) -> [CChar] {
        try access.reading(node) { (location) throws(Errno) in
            try location.with { (directory, name) throws(Errno) in
                if let name { return try System.readLink(at: directory, name) }
                // Without a name, readlinkat(2) reads the link that the descriptor refers to.
                return try Name("").withCName { (name) throws(Errno) in
                    try System.readLink(at: directory, name)
                }
            }
        }
    }

    func forget(_ node: Node, count: UInt64) {
        guard node !== root, !node.isControl else { return }
        let isLast = change { state in state.tree.references.forget(node, count: count) }
        // Unmanaged: `grant` retained the node when the kernel got its first reference.
        if isLast { Unmanaged.passUnretained(node).release() }
    }
}
