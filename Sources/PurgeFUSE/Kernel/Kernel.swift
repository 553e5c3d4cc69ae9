import CFuse
import Glibc
import PurgeStore
import PurgeSystem
import PurgeTree
import PurgeVolume

/// The kernel of our mount. What waits for it is done by threads that serve no requests.
final class Kernel: KernelPort {
    let pages = PageWaiter()
    private let mount: OwnMount
    private let notifier: Notifier
    private let errands = WorkQueue()

    init(mountpoint: String) {
        mount = OwnMount(path: mountpoint)
        notifier = Notifier(mount: mount)
    }

    func start() throws(Errno) {
        try notifier.start()
        try pages.start()
        try errands.start(name: "errands")
    }

    /// From now on there is a mount.
    func begin(session: OpaquePointer) throws(Errno) { try mount.begin(session: session) }

    func end() {
        errands.end()
        pages.end()
        notifier.end()
    }

    func expectSlowWork() { Worker.willBeSlow() }

    func announce(_ announcement: Announcement) { notifier.announce(announcement) }
    var announcer: pid_t { notifier.thread }

    func forgetAttributes(of nodes: [UInt64]) { for node in nodes { mount.forgetAttributes(of: node) } }

    /// A page that was being read when it is dropped may be replaced by the answer, which the kernel does not see then
    /// (fuse_try_move_folio). No further read is admitted, so the second time finds them all.
    func dropPages(of files: [Node]) { dropPages(of: files, times: 2) }
    func dropRefusedPages(of file: Node) { dropPages(of: [file], times: 1) }

    /// Further writes may be under way all the time, and a call on /dev/fuse would wait for their pages again and again, so
    /// it is made only for files that cannot be opened.
    private func dropPages(of files: [Node], times: Int) {
        guard mount.hasBegun else { return }
        let left = pages.dropPages(of: files, times: times) { [mount] (path) throws(Errno) in
            try mount.open(path, O_RDONLY | O_NONBLOCK)
        }
        for file in left {
            for _ in 0..<times { mount.dropPages(of: file.address) }
        }
    }

    func runApart(_ work: @escaping @Sendable () -> Void) { errands.add(work) }

    func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking {
        mount.hasBegun ? notifier.makeFolders(folders, for: owner) : .unavailable
    }

    func report(_ error: StoreError) { MountService.note("purgefs: error: \(error)") }
}
