import Glibc
import PurgeStore
import PurgeSystem

/// A directory that is made beside the place where it is to be, in another one with a hidden name (the workshop), and gets
/// its own name when it is complete. What a killed process has left under the hidden name is removed by the next one that
/// makes the same directory.
///
/// Whoever makes or removes the workshop has its lock (flock), and has seen after taking it that the name still leads to
/// it. So no process removes what another one is making, and of several that make the same directory at the same time
/// one succeeds.
///
/// The place may belong to another user, who can exchange the workshop for another directory at any time. So it is only
/// used if it is this user's alone, and everything in it is reached by its descriptor. Nobody else can change a name in
/// there: what is made in it, removed from it and given away is certain. The owner of the place reaches the directory
/// when it leaves the workshop, and not before.
final class UnfinishedDirectory {
    /// Where it is to be; absolute.
    let path: String
    /// Where it is made.
    var workPath: String { "\(parentPath == "/" ? "" : parentPath)/\(workName)/\(Self.innerName)" }
    /// What is made. Has a lock as long as it is open.
    let descriptor: FileDescriptor
    /// Has the lock as long as it is open.
    private let workshop: FileDescriptor
    private static let innerName = "purgefs-unfinished"
    private let parent: FileDescriptor
    private let parentPath: String
    private let name: String
    private let workName: String

    /// An empty directory.
    struct Before: Sendable {
        let owner: uid_t
        let group: gid_t
        let mode: mode_t

        init(_ status: FileStatus) {
            (owner, group, mode) = (status.st_uid, status.st_gid, status.st_mode & 0o7777)
        }
    }
    /// What was there before, if anything.
    let before: Before?

    /// What is made.
    struct Kind: Sendable {
        var what: String
        var suffix: String
    }

    /// `given` must not exist, or be an empty directory that is not the current one.
    init(for given: String, _ kind: Kind) throws(StoreError) {
        do throws(Errno) {
            path = try System.resolvedOrParent(given)
            guard let name = path.pathNames.last else { throw .busy }
            self.name = name
            parentPath = path.parentPath
            parent = try FileDescriptor.openWithoutLinks(parentPath.utf8).open(".", O_RDONLY | O_DIRECTORY)
        } catch { throw .ofBackup("\(kind.what) cannot be made", path: given, error) }
        workName = ".\(name)\(kind.suffix)"
        before = try Self.checkPlace(name, in: parent, given, kind)
        let workshop = try Self.make(workName, in: parent, given, kind)
        self.workshop = workshop
        do throws(StoreError) {
            // Another process may have made the whole of it meanwhile.
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
                "is the current directory, and \(kind.what) would take its place", path: given,
                advice: "Name it from another directory (cd ..), so that no shell is left in one that is gone. "
                    + "Nothing was changed.")
        } catch .notDirectory {
            throw StoreError(
                "is not a directory", path: given,
                advice: "Name a new or an empty directory for \(kind.what). Nothing was changed.")
        } catch { throw .ofBackup("\(kind.what) cannot be made", path: given, error) }
    }

    /// Whether it is the working directory of this process, and so most likely of the shell that has called it.
    private static func isCurrent(_ status: FileStatus) -> Bool {
        do throws(Errno) {
            return FileIdentity(try System.status(at: AT_FDCWD, ".")) == FileIdentity(status)
        } catch { return false }
    }

    /// It takes the place of that directory, so it belongs to the same user, who cannot reach it yet; it stays that user's
    /// alone. If it cannot be given away (a user namespace), it is still usable now.
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
                    "another directory was put in the place of \(kind.what) while it was made", path: given,
                    advice: "Nothing was changed in that one. Name a place that only you can change.")
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

    /// Has the lock; nil if there is something under that name, or was.
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

    /// EAGAIN if another process has the lock; nil if the name leads to something else by the time that this one has it.
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

    /// What has the name already is removed if it is such a directory and no process is making it.
    private static func removeRemains(
        _ name: String, in parent: FileDescriptor, _ given: String, _ kind: Kind
    ) throws(StoreError) {
        let inTheWay = "\(given.parentPath)/\(name)"
        do throws(Errno) {
            guard let found = try locked(name, in: parent) else { return }
            defer { withExtendedLifetime(found) {} }  // it has the lock
            let names = try found.open(".", O_RDONLY | O_DIRECTORY).entryNames()
            guard try NewDirectory.isOwn(found), names.allSatisfy({ $0 == innerName }) else { throw .exists }
            try TreeRemoval.run(innerName, in: found)
            try System.removeDirectory(at: parent.raw, name)
        } catch .noEntry {} catch .tryAgain { throw inUse(given, kind) } catch .exists, .notDirectory, Errno(ELOOP) {
            throw StoreError(
                "there is something else under the name that \(kind.what) has until it is complete", path: inTheWay,
                advice: "Move it away.")
        } catch { throw .ofBackup("what an earlier call has left cannot be removed", path: inTheWay, error) }
    }

    /// Gives it its name; from then on it is there whatever happens. What is in it is on disk already.
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
                "something else has been put there meanwhile", path: path,
                advice: "Name a new or an empty directory for \(what), and try again. Nothing of it was kept.")
        } catch { throw .ofBackup("\(what) cannot be given its name", path: path, error) }
    }

    /// Removes it, unless it has its name.
    func discard() { Self.discard(workshop, workName, in: parent) }

    private static func discard(_ workshop: FileDescriptor, _ name: String, in parent: FileDescriptor) {
        do throws(Errno) {
            try TreeRemoval.run(innerName, in: workshop)
            // Only an empty directory can go by this name, which its owner could remove too.
            if try leads(name, in: parent, to: workshop) { try System.removeDirectory(at: parent.raw, name) }
        } catch {}  // the next one removes it
    }
}
