import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Announces purged names to the kernel.
struct PurgedNames: VolumeFamily {
    let core: VolumeCore

    /// Announces names without waiting for the kernel.
    func announce(_ removals: [Removal]) {
        guard !removals.isEmpty else { return }
        announce(removals, answer: nil)
    }

    /// Announces names, and runs `then` once that is done, or earlier if the kernel cannot be told in time: see
    /// `Announcements`.
    func announce(_ removals: [Removal], then: @escaping @Sendable () -> Void) {
        announce(removals) { [self] isLate in
            if isLate { core.lateAnnouncements.add(1, ordering: .relaxed) }
            then()
        }
    }

    private func announce(_ removals: [Removal], answer: (@Sendable (Bool) -> Void)?) {
        port.announce(
            Announcement(
                removals: removals, whereabouts: { [self] in whereabouts(of: $0) },
                told: { [self] in finishAnnouncement(removals) }, answer: answer))
    }

    private func whereabouts(of removal: Removal) -> PurgedName? {
        read { state in
            guard removal.directory === root || state[removal.directory].parent != nil else { return nil }
            var name = removal.purgedName
            name.path = state[removal.directory].path() + [name.name]
            return name
        }
    }

    private func finishAnnouncement(_ removals: [Removal]) {
        change { state in
            for removal in removals {
                if removal.purgedName.isEmptied { state.emptied.removeAnnounced(removal.node) }
                if state.ghosts[removal.dentry] === removal.node { state.ghosts[removal.dentry] = nil }
            }
        }
    }

    /// Waits until all earlier announcements have been made, or the kernel cannot be told in time (`Announcements`).
    /// Announcements are answered in order, so an empty one is answered last.
    func awaitAnnouncements() {
        let announced = Gate()
        let before = announced.generation
        announce([]) { announced.advance() }
        announced.wait(while: before)
    }
}

// The kernel learns about a purged name when the announcing thread calls unlink(2) or rmdir(2) for it through the mount, or
// truncate(2) for an emptied file. This call also wakes watchers (docs/INTERNALS.md, Telling the kernel of a purge).
extension PurgedNames {
    func isAnnouncer(_ caller: Caller) -> Bool { isAnnouncer(caller.tid) }
    func isAnnouncer(_ tid: pid_t) -> Bool { tid != 0 && tid == port.announcer }

    /// Returns the entry of a purged name, which still exists for the announcing thread.
    func ghost(_ name: Name, in parent: Node, caller: Caller) -> Entry? {
        guard isAnnouncer(caller) else { return nil }
        let node = change { state -> Node? in
            let ghost = state.ghosts[Dentry(directory: parent, name: name)]
            if let ghost { state.grant(ghost) }
            return ghost
        }
        return node.map { Entry(node: $0, attributes: Attributes(ofGhost: ghostStatus($0))) }
    }

    /// Returns the status of the node if it still exists (open, with another name, or a folder that the kernel knows).
    /// Otherwise it returns a status that lets the announcing thread remove the name.
    private func ghostStatus(_ node: Node) -> FileStatus {
        var status = stat()
        do throws(Errno) { status = try lookups.attributes(of: node).status } catch {
            status.st_ino = UInt(node.inode)
            status.st_mode = Self.typicalMode(node.kind)
            (status.st_uid, status.st_gid) = (geteuid(), getegid())
        }
        status.st_nlink = max(1, status.st_nlink)
        return status
    }

    /// Returns a mode of the right type: the kernel treats an inode whose type changes as bad. The tree does not know the type
    /// of special files; most are FIFOs.
    private static func typicalMode(_ kind: NodeKind) -> mode_t {
        switch kind {
        case .directory, .controlDirectory: S_IFDIR | 0o700
        case .symbolicLink: S_IFLNK | 0o777
        case .special: S_IFIFO | 0o600
        case .regular, .controlFile: S_IFREG | 0o600
        }
    }

    /// Lets the announcing thread remove a purged name. Throws ENOENT if no purge of that name is still to be announced.
    func endGhost(_ name: Name, in parent: Node) throws(Errno) {
        let isGhost = read { state in
            state.ghosts[Dentry(directory: parent, name: name)] != nil
        }
        guard isGhost else { throw .noEntry }
    }
}
