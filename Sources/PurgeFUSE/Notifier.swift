import CFuse
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume
import Synchronization

/// Tells the kernel about purged names, on a thread of its own: the thread of a request would wait
/// for a lock that the kernel holds for that very request.
///
/// The thread has no descriptors but those it opens itself. It may be inside the mount when the daemon
/// is killed, and stays there until the connection ends, that is, until /dev/fuse is no longer open
/// anywhere: with the daemon's descriptors it would wait for itself, and so would everything in the mount.
final class Notifier: Sendable {
    private let queue = WorkQueue()
    private let announcements = Announcements()
    /// Held while an announcement joins both queues, so that they are made and answered in one order.
    private let joining = Mutex(())
    private let mountpoint: String
    private let session = Mutex<UInt>(0)
    /// The device of our mount, to distinguish it from what is under it.
    private let device = Mutex<Int64>(0)
    private let announcerID = Atomic<Int32>(0)
    let pages = PageWaiter()
    private let errands = WorkQueue()

    init(mountpoint: String) { self.mountpoint = mountpoint }

    func start() throws(Errno) {
        try queue.start(name: "notifier")
        queue.add { [self] in
            announcerID.store(System.threadID(), ordering: .sequentiallyConsistent)
            do throws(Errno) { try System.leaveDescriptors() } catch {
                MountService.note("purgefs: warning: the notifier shares the daemon's descriptors: \(error)")
            }
        }
        try pages.start()
        try errands.start(name: "errands")
        try announcements.start(notifier: { [self] in announcer }, forget: { [self] in forget($0) })
    }

    /// From now on there is a mount.
    func begin(session: OpaquePointer) throws(Errno) {
        let device = try mountpoint.withCString { path in
            Result { () throws(Errno) in try System.device(at: AT_FDCWD, path) }
        }.get()
        self.session.withLock { $0 = UInt(bitPattern: session) }
        self.device.withLock { $0 = device }
    }

    func end() {
        errands.end()
        queue.end()
        pages.end()
        announcements.end()
    }

    /// The thread that unlinks through the mount.
    var announcer: pid_t { announcerID.load(ordering: .relaxed) }

    /// For a copy, which reads its source without the kernel knowing that this moves atime. Only attributes
    /// are dropped, so that nothing waits for a lock in the kernel: any thread but the notifier's may call this.
    func forgetAttributes(of node: Node) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(node.address), -1, 0)
    }

    /// The same for all of these nodes, which the kernel need not know any more.
    func forgetAttributes(of nodes: [UInt64]) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        for node in nodes { fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(node), -1, 0) }
    }

    /// Runs work on a thread that serves no requests and makes no announcements, in order.
    func run(_ work: @escaping @Sendable () -> Void) { errands.add(work) }

    /// Drops the kernel's pages of these files, and unmaps them. It waits for pages that are being read or written, so no
    /// thread that serves requests may call it.
    ///
    /// A page that was being read when it is dropped may be replaced by the answer, which the kernel does not see then
    /// (fuse_try_move_folio). No further read is admitted, so the second time finds them all.
    func dropPages(of files: [Node]) { dropPages(of: files, times: 2) }

    /// The same for pages that a refused write has left.
    func dropRefusedPages(of file: Node) { dropPages(of: [file], times: 1) }

    /// Further writes may be under way all the time, and a call on /dev/fuse would wait for their pages again and again, so
    /// it is made only for files that cannot be opened.
    private func dropPages(of files: [Node], times: Int) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        let left = pages.dropPages(of: files, times: times) { [self] (path) throws(Errno) in
            try open(path, O_RDONLY | O_NONBLOCK)
        }
        for file in left {
            for _ in 0..<times { fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(file.address), 0, 0) }
        }
    }

    /// Makes the kernel ask for the attributes of a purged file before it uses the name; it is answered with ESTALE and
    /// looks the name up again. It also reads the directory again. None of this takes the directory's lock.
    private func forget(_ removals: [Removal]) {
        guard let session = OpaquePointer(bitPattern: session.withLock { $0 }) else { return }
        var directory: UInt64 = 0
        for removal in removals where removal.concernsKernel {
            fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(removal.node.address), -1, 0)
            guard removal.directoryID != directory else { continue }
            directory = removal.directoryID
            fuse_lowlevel_notify_inval_inode(session, fuse_ino_t(directory), 0, 0)
        }
    }

    /// Makes folders of the mount with mkdir(2) through it, so that the kernel knows them, and gives them to `owner`.
    /// Returns when that is done, or when it takes too long because a program holds the lock of a folder; then they are made
    /// when that is free.
    func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> VolumeHooks.Outcome {
        guard session.withLock({ $0 }) != 0 else { return .unavailable }
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
        var parents = folder.split(separator: "/").map(String.init)
        guard let name = parents.popLast() else { return }
        do throws(Errno) {
            guard
                let parent = try open(
                    Array(parents.joined(separator: "/").utf8), System.openPath | O_DIRECTORY)
            else { return }
            try System.makeDirectory(at: parent.raw, name, mode: 0o755)
            if geteuid() == 0 { try System.changeOwner(at: parent.raw, name, owner.user, owner.group) }
        } catch let error where [.exists, .accessDenied, .noEntry, .notDirectory, .readOnly].contains(error) {
            // What is there stays, and a folder that the app has closed is its own affair.
        } catch { MountService.note("purgefs: warning: \(mountpoint)/\(folder) cannot be made: \(error)") }
    }

    func announce(_ announcement: Announcement) {
        let names = announcement.removals.map { $0.concernsKernel ? $0.purgedName : nil }
        joining.withLock { _ in
            announcements.add(announcement)
            queue.add { [self] in announcements.finishNext(unreached: tell(names)) }
        }
    }

    /// Returns which of the names could not be announced.
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

    /// The directory of the last removal: the next is often in the same.
    private struct OpenDirectory {
        var path: [UInt8] = []
        var descriptor: FileDescriptor?
    }

    /// Looks for the name where its directory is now, in case that has been moved meanwhile.
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

    /// How many moves of its directory a name is followed through.
    private static let moves = 16

    /// unlink(2) or rmdir(2) through the mount wakes watchers and drops the name; truncate(2) wakes those of a file that was
    /// emptied. Returns false if that is not permitted (in a directory, or of a file, that the
    /// daemon's user cannot write), or the directory is elsewhere by now.
    private func tell(_ name: PurgedName, _ directory: inout OpenDirectory) -> Bool {
        do throws(Errno) {
            let path = name.directoryPath
            if directory.descriptor == nil || directory.path != path {
                directory = OpenDirectory()
                directory.descriptor = try open(path, System.openPath | O_DIRECTORY)
                directory.path = path
            }
            guard let descriptor = directory.descriptor else { return true }
            let (isDirectory, isEmptied) = (name.isDirectory, name.isEmptied)
            try name.withName { (name) throws(Errno) in
                if isEmptied {
                    // The name may be that of a link by now.
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

    /// nil if our mount is gone, because the path would lead to what is under it. Other mounts inside
    /// are not entered, since they may never answer.
    private func open(_ path: [UInt8], _ flags: Int32) throws(Errno) -> FileDescriptor? {
        let root = try FileDescriptor.open(mountpoint, System.openPath | O_DIRECTORY)
        guard try System.device(at: root.raw, "") == device.withLock({ $0 }) else { return nil }
        if path.isEmpty { return root }
        let name = path.map { CChar(bitPattern: $0) } + [0]
        return try FileDescriptor(
            adopting: System.openInMount(root.raw, name, flags | O_CLOEXEC))
    }
}
