import Glibc
import PurgeStore
import PurgeTree
import Synchronization

@testable import PurgeVolume

/// The kernel of a volume that is not mounted: it records the calls to it, and runs a test's code during them.
final class FakeKernel: KernelPort {
    enum Call: Hashable { case slowWork, announcing, forgetting, dropping }

    private struct State {
        var meanwhile: [Call: @Sendable () -> Void] = [:]
        var announcements = 0
        var unfinished: [Announcement] = []
        var removed: [(path: String, isFolder: Bool)] = []
        var forgotten: [UInt64] = []
        var dropped: [UInt64] = []
        var errands: [@Sendable () -> Void] = []
        var reports: [StoreError] = []
    }
    private let state = Mutex(State())
    let announcer: pid_t
    /// Whether announcements wait for `finish`.
    private let holdsAnnouncements: Bool
    /// Whether work waits for `runErrands`.
    private let holdsErrands: Bool
    private let folders: FolderMaking

    init(
        announcer: pid_t = 0, holdsAnnouncements: Bool = false, holdsErrands: Bool = false,
        folders: FolderMaking = .unavailable
    ) {
        (self.holdsAnnouncements, self.holdsErrands) = (holdsAnnouncements, holdsErrands)
        (self.announcer, self.folders) = (announcer, folders)
    }

    /// Creates a kernel that runs `body` during each call of one kind.
    convenience init(on call: Call, announcer: pid_t = 0, _ body: @escaping @Sendable () -> Void) {
        self.init(announcer: announcer)
        meanwhile(call, body)
    }

    func meanwhile(_ call: Call, _ body: (@Sendable () -> Void)?) { state.withLock { $0.meanwhile[call] = body } }

    private func come(to call: Call) { state.withLock { $0.meanwhile[call] }?() }

    let closesComeLate = false
    func catchUpWithCloses() {}
    let transport: String? = nil

    func expectSlowWork() { come(to: .slowWork) }
    func announce(_ announcement: Announcement) {
        state.withLock { state in
            state.announcements += 1
            state.removed += announcement.removals.map { ($0.path.text, $0.purgedName.isDirectory) }
            if holdsAnnouncements { state.unfinished.append(announcement) }
        }
        come(to: .announcing)
        if !holdsAnnouncements { announcement.finish() }
    }
    func forgetAttributes(of nodes: [UInt64]) {
        come(to: .forgetting)
        state.withLock { $0.forgotten += nodes }
    }
    func dropPages(of files: [Node]) {
        come(to: .dropping)
        state.withLock { $0.dropped += files.map(\.address) }
    }
    func dropRefusedPages(of file: Node) { state.withLock { $0.dropped.append(file.address) } }
    func runApart(_ work: @escaping @Sendable () -> Void) {
        if holdsErrands { state.withLock { $0.errands.append(work) } } else { work() }
    }
    func makeFolders(_ names: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking { folders }
    func replaceFolder(
        _ path: String, with hidden: String, for owner: (user: uid_t, group: gid_t)
    ) -> FolderMaking { .unavailable }
    func report(_ error: StoreError) { state.withLock { $0.reports.append(error) } }
}

// The recorded calls.
extension FakeKernel {
    var announcements: Int { state.withLock { $0.announcements } }
    /// The number of announcements that have not finished.
    var unfinished: Int { state.withLock { $0.unfinished.count } }
    /// Finishes the announcements, as the kernel does when it has learned of them.
    func finish() {
        let all = state.withLock { state in
            defer { state.unfinished = [] }
            return state.unfinished
        }
        for announcement in all { announcement.finish() }
    }
    /// Returns the announced paths, either of folders or of all other entries.
    func removed(folders: Bool) -> [String] {
        state.withLock { $0.removed.filter { $0.isFolder == folders }.map(\.path).sorted() }
    }

    var forgotten: [UInt64] { state.withLock { $0.forgotten } }
    var dropped: [UInt64] { state.withLock { $0.dropped } }
    /// Returns the files whose pages were dropped since the last call.
    func takeDropped() -> [UInt64] {
        state.withLock { state in
            defer { state.dropped = [] }
            return state.dropped
        }
    }

    var errands: Int { state.withLock { $0.errands.count } }
    func runErrands() {
        let all = state.withLock { state in
            defer { state.errands = [] }
            return state.errands
        }
        for work in all { work() }
    }

    var reports: [StoreError] { state.withLock { $0.reports } }
}
