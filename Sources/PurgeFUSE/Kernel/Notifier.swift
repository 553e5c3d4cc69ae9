import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume
import Synchronization

/// Announces purged names to the kernel and makes folders through the mount, on a separate thread. A thread that serves a
/// request cannot do this: it would wait for a lock that the kernel holds for that very request.
///
/// The thread has no descriptors but the ones it opens itself. If the daemon is killed while the thread is inside the mount,
/// the thread stays there until the connection ends, which requires that /dev/fuse is no longer open anywhere. If the thread
/// shared the daemon's descriptors, it would wait for itself, and every process in the mount would wait too.
final class Notifier: Sendable {
    private let queue = WorkQueue()
    private let announcements = Announcements()
    /// Held while an announcement joins both queues, so that announcements are made and answered in the same order.
    private let joining = Mutex(())
    private let mount: OwnMount
    private let threadID = Atomic<Int32>(0)

    init(mount: OwnMount) { self.mount = mount }

    func start() throws(Errno) {
        try queue.start(name: "notifier")
        queue.add { [self] in
            threadID.store(System.threadID(), ordering: .sequentiallyConsistent)
            do throws(Errno) { try System.leaveDescriptors() } catch {
                MountService.note("purgefs: warning: the notifier shares the daemon's descriptors: \(error)")
            }
        }
        try announcements.start(notifier: { [self] in thread }, forget: { [self] in forget($0) })
    }

    func end() {
        queue.end()
        announcements.end()
    }

    /// The kernel's ID of the notifier's thread; 0 before the thread has started.
    var thread: pid_t { threadID.load(ordering: .relaxed) }

    /// Makes the kernel revalidate the attributes of each purged file before it uses the file's name. The kernel then gets
    /// ESTALE and looks the name up again. Also drops the kernel's cached listings of the directories. None of this takes a
    /// directory's lock.
    private func forget(_ removals: [Removal]) {
        var directory: UInt64 = 0
        for removal in removals where removal.concernsKernel {
            mount.forgetAttributes(of: removal.node.address)
            guard removal.directoryID != directory else { continue }
            directory = removal.directoryID
            mount.dropPages(of: directory)
        }
    }

    /// Creates missing folders with mkdir(2) through the mount, so that the kernel knows them. If the daemon runs as root, the
    /// new folders are given to `owner`. Returns when all folders have been handled, or when one takes too long because a
    /// program holds a lock that mkdir(2) needs. In that case, the thread creates the remaining folders once the lock is free.
    func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking {
        let work = AwaitedWork()
        queue.add { [self] in
            for folder in folders {
                make(folder, for: owner)
                work.advance()
            }
            work.finish()
        }
        return work.wait() ? .done : .late
    }

    private func make(_ folder: String, for owner: (user: uid_t, group: gid_t)) {
        do throws(Errno) {
            guard let (parent, name) = try openParent(of: folder) else { return }
            try make(name, in: parent, mode: 0o755, for: owner)
        } catch let error where [.exists, .accessDenied, .noEntry, .notDirectory, .readOnly].contains(error) {
            // An existing entry stays, and the app may have removed a folder or its permissions.
        } catch { MountService.note("purgefs: warning: \(mount.path)/\(folder) cannot be made: \(error)") }
    }

    private func make(
        _ name: String, in parent: FileDescriptor, mode: mode_t, for owner: (user: uid_t, group: gid_t)
    ) throws(Errno) {
        try System.makeDirectory(at: parent.raw, name, mode: mode)
        if geteuid() == 0 { try System.changeOwner(at: parent.raw, name, owner.user, owner.group) }
    }

    /// Opens the folder of an entry in the mount, and returns it with the entry's name. Returns nil if the mount is gone.
    private func openParent(of path: String) throws(Errno) -> (FileDescriptor, name: String)? {
        var parents = path.split(separator: "/").map(String.init)
        guard let name = parents.popLast(),
            let parent = try mount.open(
                Array(parents.joined(separator: "/").utf8), System.openPath | O_DIRECTORY)
        else { return nil }
        return (parent, name)
    }

    /// Moves a folder to a hidden place with renameat2(2) through the mount, so that the kernel and its watchers follow, and
    /// leaves an empty one behind. Returns when that is done or has failed, or when a program holds a lock for too long that
    /// the call needs.
    func replaceFolder(
        _ path: String, with hidden: String, for owner: (user: uid_t, group: gid_t)
    ) -> FolderMaking {
        let work = AwaitedWork()
        queue.add { [self] in
            do throws(Errno) {
                work.advance()
                if !work.isAbandoned, let (parent, name) = try openParent(of: path),
                    let (hiddenParent, hiddenName) = try openParent(of: hidden)
                {
                    try make(hiddenName, in: hiddenParent, mode: 0o700, for: owner)
                    work.advance()
                    func exchange() throws(Errno) {
                        try System.rename(
                            at: parent.raw, name, to: hiddenParent.raw, hiddenName, flags: System.renameExchange)
                    }
                    if !work.isAbandoned {
                        try exchange()
                        work.finish()
                        // Nobody would empty the folder any more.
                        if work.isAbandoned { try exchange() }
                    }
                }
            } catch .busy {  // the folder is to stay after all
            } catch { MountService.note("purgefs: warning: \(mount.path)/\(path) cannot be moved away: \(error)") }
            work.finish()
        }
        return work.wait() ? .done : .late
    }

    func announce(_ announcement: Announcement) {
        let names = announcement.removals.map { $0.concernsKernel ? $0.purgedName : nil }
        joining.withLock { _ in
            announcements.add(announcement)
            queue.add { [self] in announcements.finishNext(unreached: tell(names)) }
        }
    }

    /// Returns the indices of names that could not be announced.
    private func tell(_ names: [PurgedName?]) -> [Int] {
        var directory = OpenDirectory()
        var unreached: [Int] = []
        for (index, name) in names.enumerated() {
            guard let name else { continue }
            if !follow(name, of: index, &directory) { unreached.append(index) }
            announcements.advance()
        }
        return unreached
    }

    /// The directory of the last removal, kept open because the next removal is often in the same one.
    private struct OpenDirectory {
        var path: [UInt8] = []
        var descriptor: FileDescriptor?
    }

    /// Announces a name. If that fails because the directory has moved, tries again with the new path. Returns false if the
    /// name could not be announced.
    private func follow(_ name: PurgedName, of removal: Int, _ directory: inout OpenDirectory) -> Bool {
        var name = name
        for _ in 0..<Self.moves {
            if tell(name, &directory) { return true }
            guard let now = announcements.whereabouts(of: removal), now.directoryPath != name.directoryPath else {
                return false
            }
            name = now
        }
        return false
    }

    /// The maximum number of attempts to announce a name whose directory keeps moving.
    private static let moves = 16

    /// Announces a name. unlink(2) or rmdir(2) through the mount wakes watchers and drops the name; truncate(2) wakes the
    /// watchers of a tombstone. Returns false if a call fails, for example because the directory has moved, or because the
    /// daemon's user cannot write the directory or the file. Returns true if the mount is gone.
    private func tell(_ name: PurgedName, _ directory: inout OpenDirectory) -> Bool {
        do throws(Errno) {
            let path = name.directoryPath
            if directory.descriptor == nil || directory.path != path {
                directory = OpenDirectory()
                directory.descriptor = try mount.open(path, System.openPath | O_DIRECTORY)
                directory.path = path
            }
            guard let descriptor = directory.descriptor else { return true }
            let (isDirectory, isEmptied) = (name.isDirectory, name.isEmptied)
            try name.withName { (name) throws(Errno) in
                if isEmptied {
                    // The name may belong to a symbolic link by now.
                    let file = try descriptor.open(name, System.openPath | O_NOFOLLOW)
                    try System.truncate("/proc/thread-self/fd/\(file.raw)", 0)
                } else if isDirectory {
                    try System.removeDirectory(at: descriptor.raw, name)
                } else {
                    try System.unlink(at: descriptor.raw, name)
                }
            }
            return true
        } catch { return false }
    }
}
