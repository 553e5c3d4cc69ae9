import CFuse
import CFuseShims
import Glibc
import PurgeStore
import PurgeSystem
import PurgeTree
import PurgeVolume

/// The kernel's side of our mount. Threads that serve no requests do all work that waits for the kernel.
final class Kernel: KernelPort {
    let pages = PageWaiter()
    private let mount: OwnMount
    private let notifier: Notifier
    private let errands = WorkQueue()
    private let caller = RingCaller()

    init(mountpoint: String) {
        mount = OwnMount(path: mountpoint)
        notifier = Notifier(mount: mount)
    }

    func start() throws(Errno) {
        try notifier.start()
        try pages.start()
        try errands.start(name: "errands")
    }

    /// Begins to use the mount, which now exists.
    func begin(session: OpaquePointer) throws(Errno) { try mount.begin(session: session) }

    /// Whether a call comes from `makeCall`.
    func isAsking(_ tid: pid_t) -> Bool { closesComeLate && caller.isCalling(tid) }

    /// Makes a call through the mount on a CPU, on a separate thread.
    func makeCall(onCPU number: UInt32) { caller.makeCall(onCPU: number, through: mount) }

    func end() {
        caller.end()
        errands.end()
        pages.end()
        notifier.end()
    }

    func expectSlowWork() { Worker.willBeSlow() }

    var closesComeLate: Bool { ring_is_in_use() != 0 }
    func catchUpWithCloses() { ring_catch_up(100) }
    var transport: String? { ring_is_in_use() != 0 ? "ring" : "dev" }

    func announce(_ announcement: Announcement) { notifier.announce(announcement) }
    var announcer: pid_t { notifier.thread }

    func forgetAttributes(of nodes: [UInt64]) { for node in nodes { mount.forgetAttributes(of: node) } }

    /// Drops all pages twice. If a page is being read when it is dropped, the spliced answer to that read may put another page
    /// in its place (fuse_try_move_folio), which the first pass misses. No further read is admitted, so the second pass finds
    /// all such pages.
    func dropPages(of files: [Node]) { dropPages(of: files, times: 2) }
    func dropRefusedPages(of file: Node) { dropPages(of: [file], times: 1) }

    /// Drops pages by opening the files. Only files that were not opened get a notification: a daemon killed inside that call
    /// on /dev/fuse may leave the mount hanging (`PageWaiter`).
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

    func replaceFolder(
        _ path: String, with hidden: String, for owner: (user: uid_t, group: gid_t)
    ) -> FolderMaking {
        mount.hasBegun ? notifier.replaceFolder(path, with: hidden, for: owner) : .unavailable
    }

    func report(_ error: StoreError) { MountService.note("purgefs: error: \(error)") }
}
