import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree

/// Purged names on their way to the kernel.
struct PurgedNames: VolumeFamily {
    let core: VolumeCore

    /// Tells the kernel, without waiting for it.
    func announce(_ removals: [Removal]) {
        guard !removals.isEmpty else { return }
        announce(removals, answer: nil)
    }

    /// The same; `then` runs once that is done, or earlier if it is not possible in time: see `Announcements`.
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

    /// Announcements are made in order: after this one, all earlier ones have been made.
    func awaitAnnouncements() {
        let announced = Gate()
        let before = announced.generation
        announce([]) { announced.advance() }
        announced.wait(while: before)
    }
}

// The kernel is told about a purged name by an unlink(2) through the mount on a thread of our own, which also wakes
// watchers (docs/INTERNALS.md, Telling the kernel of a purge).
extension PurgedNames {
    func isAnnouncer(_ caller: Caller) -> Bool { isAnnouncer(caller.tid) }
    func isAnnouncer(_ tid: pid_t) -> Bool { tid != 0 && tid == port.announcer }

    /// For the announcing thread a purged name still exists.
    func ghost(_ name: Name, in parent: Node, caller: Caller) -> Entry? {
        guard isAnnouncer(caller) else { return nil }
        let node = change { state -> Node? in
            let ghost = state.ghosts[Dentry(directory: parent, name: name)]
            if let ghost { state.grant(ghost) }
            return ghost
        }
        return node.map { Entry(node: $0, attributes: Attributes(ofGhost: ghostStatus($0))) }
    }

    /// Of what is left of it (it is open, has another name, or is a folder that the kernel knows); otherwise what lets
    /// the announcing thread remove it.
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

    /// The kernel takes an inode whose type changes for broken. Of what is neither file, link nor folder the tree does not
    /// know the type: most are FIFOs.
    private static func typicalMode(_ kind: NodeKind) -> mode_t {
        switch kind {
        case .directory, .controlDirectory: S_IFDIR | 0o700
        case .symbolicLink: S_IFLNK | 0o777
        case .special: S_IFIFO | 0o600
        case .regular, .controlFile: S_IFREG | 0o600
        }
    }

    /// The announcing thread removes it; ENOENT if the app has created the name again.
    func endGhost(_ name: Name, in parent: Node) throws(Errno) {
        let isGhost = read { state in
            state.ghosts[Dentry(directory: parent, name: name)] != nil
        }
        guard isGhost else { throw .noEntry }
    }
}
