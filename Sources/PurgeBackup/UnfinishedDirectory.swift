import Glibc
import PurgeStore
import PurgeSystem

/// A directory that is created in a hidden directory (the workshop) beside its final place, and gets its own name when it
/// is complete. If a process is killed and leaves a workshop, the next process that creates the same directory removes it.
///
/// A process that makes or removes the workshop holds its lock (flock), and has checked after locking that the name still leads
/// to it. So no process removes what another is making, and of several that make the same directory at once only one succeeds.
///
/// The final place may belong to another user, and its owner can exchange the workshop for another directory at any time. So
/// the workshop is used only if it is this user's alone, and everything in it is reached by its descriptor. Since nobody else
/// can change names in there, no entry can be exchanged before it is removed or given away. The owner of the place can reach
/// the directory only when it leaves the workshop.
final class UnfinishedDirectory {
    /// The final place; an absolute path.
    let path: String
    /// The path of the unfinished directory in the workshop.
    var workPath: String { "\(parentPath == "/" ? "" : parentPath)/\(workName)/\(Self.innerName)" }
    /// The unfinished directory. Its descriptor holds a lock while it is open.
    let descriptor: FileDescriptor
    /// The workshop. Its descriptor holds the lock while it is open.
    private let workshop: FileDescriptor
    private static let innerName = "purgefs-unfinished"
    private let parent: FileDescriptor
    private let parentPath: String
    private let name: String
    private let workName: String

    /// An empty directory that existed before.
    struct Before: Sendable {
        let identity: FileIdentity
        let owner: uid_t
        let group: gid_t
        let mode: mode_t

        init(_ status: FileStatus) {
            identity = FileIdentity(status)
            (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
        }
    }
    /// The directory that was at the final place, if any.
    let before: Before?

    /// The kind of directory that is created, for messages and hidden names.
    struct Kind: Sendable {
        var what: String
        var suffix: String
    }

    /// Creates the workshop. `given` must not exist, or must be an empty directory that is not the current one. With
    /// `expected`, any other place is refused.
    init(for given: String, _ kind: Kind, expected: ExpectedStore? = nil) throws(StoreError) {
        do throws(Errno) {
            path = try System.resolvedOrParent(given)
            guard let name = path.pathNames.last else { throw .busy }
            self.name = name
            parentPath = path.parentPath
            parent = try FileDescriptor.openWithoutLinks(parentPath.utf8).open(".", O_RDONLY | O_DIRECTORY)
        } catch { throw .ofBackup("\(kind.what) cannot be made", path: given, error) }
        workName = ".\(name)\(kind.suffix)"
        before = try Self.checkPlace(name, in: parent, given, kind)
        try expected?.check(before?.identity, at: given)
        let workshop = try Self.make(workName, in: parent, given, kind)
        self.workshop = workshop
        do throws(StoreError) {
            // Another process may have created the complete directory meanwhile.
            _ = try Self.checkPlace(name, in: parent, given, kind)
            descriptor = try Self.makeInner(in: workshop, given, kind)
        } catch {
            Self.discard(workshop, workName, in: parent)
            throw error
        }
        giveToOwner()
    }

    private static func makeInner(
        in workshop: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) -> FileDescriptor {
        do throws(Errno) {
            let made = try NewDirectory.make(innerName, in: workshop)
            try System.lockExclusively(made.raw)
            return made
        } catch { throw .ofBackup("\(kind.what) cannot be made", path: given, error) }
    }

    private static func checkPlace(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) -> Before? {
        do throws(Errno) {
            let found = try parent.open(name, O_RDONLY | O_DIRECTORY)
            guard try found.names().isEmpty else { throw .notEmpty }
            let status = try System.status(found.raw)
            guard !isCurrent(status) else { throw .busy }
            return Before(status)
        } catch .noEntry { return nil } catch .notEmpty {
            throw StoreError(
                "the directory is not empty", path: given,
                advice: "Name a new or an empty directory for \(kind.what). Nothing was changed.")
        } catch .busy {
            throw StoreError(
                "is the current directory, which \(kind.what) would replace", path: given,
                advice: "Name it from another directory (cd ..). Nothing was changed.")
        } catch .notDirectory {
            throw StoreError(
                "is not a directory", path: given,
                advice: "Name a new or an empty directory for \(kind.what). Nothing was changed.")
        } catch { throw .ofBackup("\(kind.what) cannot be made", path: given, error) }
    }

    /// Returns whether a directory is the working directory of this process, and so probably of the calling shell.
    private static func isCurrent(_ status: FileStatus) -> Bool {
        do throws(Errno) {
            return FileIdentity(try System.status(at: AT_FDCWD, ".")) == FileIdentity(status)
        } catch { return false }
    }

    /// As root, gives the directory to the owner of the directory that it replaces. The owner cannot reach the new directory
    /// until it leaves the workshop, and nobody else can reach it after that. A failure (in a user namespace) is ignored,
    /// because this process can still use the directory.
    private func giveToOwner() {
        guard geteuid() == 0, let before else { return }
        do throws(Errno) { try System.changeOwner(descriptor.raw, before.owner, before.group) } catch {}
    }

    private static func make(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) -> FileDescriptor {
        while true {
            do throws(Errno) {
                if let made = try makeDirectory(name, in: parent) { return made }
            } catch .tryAgain { throw inUse(given, kind) } catch .stale {
                throw StoreError(
                    "another process replaced \(kind.what) while it was being made", path: given,
                    advice: "The other directory was not changed. Name a place that only you can change.")
            } catch NewDirectory.unproven {
                throw .unproven(kind.what, path: given)
            } catch {
                throw .ofBackup("\(kind.what) cannot be made", path: given, error)
            }
            try removeRemains(name, in: parent, given, kind)
        }
    }

    private static func inUse(_ given: String, _ kind: Kind) -> StoreError {
        StoreError(
            "another process is already making \(kind.what) there", path: given, advice: "Wait until it has ended.")
    }

    /// Creates a directory and locks it; returns nil if the name is, or was, in use.
    private static func makeDirectory(_ name: String, in parent: FileDescriptor) throws(Errno) -> FileDescriptor? {
        do throws(Errno) {
            try NewDirectory.create(name, in: parent)
        } catch .exists { return nil }
        do throws(Errno) {
            guard let found = try locked(name, in: parent) else { return nil }
            try NewDirectory.verify(found, named: name, in: parent)
            return found
        } catch { throw error == .notDirectory || error == Errno(ELOOP) ? .stale : error }
    }

    /// Opens and locks a directory. Throws EAGAIN if another process has the lock. Returns nil if the name does not exist, or
    /// leads to something else once this process has the lock.
    private static func locked(_ name: String, in parent: FileDescriptor) throws(Errno) -> FileDescriptor? {
        do throws(Errno) {
            let found = try parent.open(name, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(found.raw)
            return try leads(name, in: parent, to: found) ? found : nil
        } catch .noEntry { return nil }
    }

    private static func leads(
        _ name: String, in parent: FileDescriptor, to directory: FileDescriptor
    ) throws(Errno) -> Bool {
        FileIdentity(try System.status(at: parent.raw, name)) == FileIdentity(try System.status(directory.raw))
    }

    /// Removes an abandoned workshop of that name. Throws if a process is using the workshop, or if anything else has the name.
    private static func removeRemains(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) {
        let inTheWay = "\(given.parentPath)/\(name)"
        do throws(Errno) {
            guard let found = try locked(name, in: parent) else { return }
            defer { withExtendedLifetime(found) {} }  // its descriptor holds the lock
            let names = try found.open(".", O_RDONLY | O_DIRECTORY).entryNames()
            guard try NewDirectory.isOwn(found), names.allSatisfy({ $0 == innerName }) else { throw .exists }
            try TreeRemoval.run(innerName, in: found)
            try System.removeDirectory(at: parent.raw, name)
        } catch .noEntry {} catch .tryAgain { throw inUse(given, kind) } catch .exists, .notDirectory, Errno(ELOOP) {
            throw StoreError(
                "the name that \(kind.what) has until it is complete is taken", path: inTheWay,
                advice: "Move it away.")
        } catch { throw .ofBackup("the leftovers of an earlier call cannot be removed", path: inTheWay, error) }
    }

    /// Gives the directory its name. After that, the directory stays even if a later step fails. The caller has already synced
    /// its content.
    func publish(_ what: String) throws(StoreError) {
        do throws(Errno) {
            guard try Self.leads(workName, in: parent, to: workshop) else { throw .noEntry }
            try System.rename(at: workshop.raw, Self.innerName, to: parent.raw, name)
            Self.discard(workshop, workName, in: parent)
            try System.sync(parent.raw)
        } catch .busy {
            throw StoreError(
                "is a mount point", path: path, advice: "Name a directory in it. Nothing was changed.")
        } catch .notEmpty, .exists, .notDirectory {
            throw StoreError(
                "another process created something there meanwhile", path: path,
                advice: "Name a new or an empty directory for \(what), and try again. Nothing of it was kept.")
        } catch { throw .ofBackup("\(what) cannot be given its name", path: path, error) }
    }

    /// Removes the workshop and everything in it. A published directory stays.
    func discard() { Self.discard(workshop, workName, in: parent) }

    private static func discard(_ workshop: FileDescriptor, _ name: String, in parent: FileDescriptor) {
        do throws(Errno) {
            try TreeRemoval.run(innerName, in: workshop)
            // Even if the name is exchanged after this check, only an empty directory is removed, which the owner of the
            // place could remove anyway.
            if try leads(name, in: parent, to: workshop) { try System.removeDirectory(at: parent.raw, name) }
        } catch {}  // the next process for the same place removes the workshop
    }
}
