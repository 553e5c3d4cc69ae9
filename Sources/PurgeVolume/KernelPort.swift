import Glibc
import PurgeStore
import PurgeTree

/// The kernel as the volume sees it: everything that the volume asks of the code that connects it to the kernel.
///
/// Dropping pages and making folders wait for requests that other threads serve under the volume's locks. So call these members
/// without any lock, on a thread that serves no requests. The other members may be called on any thread.
public protocol KernelPort: AnyObject, Sendable {
    /// Notes that the calling thread is about to do something slow, so that another thread takes over reading requests.
    func expectSlowWork()
    /// Whether a RELEASE may come after requests that were made later (docs/INTERNALS.md, The order of RELEASE).
    var closesComeLate: Bool { get }
    /// Waits until each close(2) that has returned by now has been noted. Called without any lock.
    func catchUpWithCloses()
    /// How requests come from the kernel; nil if there is no mount.
    var transport: String? { get }
    /// Announces purged names, in order, on a separate thread.
    func announce(_ announcement: Announcement)
    /// The kernel thread ID of the announcing thread; 0 if there is none.
    var announcer: pid_t { get }
    /// Makes the kernel ask again for the attributes of these nodes, which it knows by their nodeids. This takes one system
    /// call for each node, but waits for nothing. Called without any lock.
    func forgetAttributes(of nodes: [UInt64])
    /// Makes the kernel drop its pages of these files and unmap them. Waits for pages that are being read or written.
    func dropPages(of files: [Node])
    /// Drops the pages that a refused write left behind, and waits as `dropPages` does.
    func dropRefusedPages(of file: Node)
    /// Runs `work` later, on a thread that neither serves requests nor announces names.
    func runApart(_ work: @escaping @Sendable () -> Void)
    /// Makes folders of the container, each after its parent, and gives them to `owner`. Returns when they are made, or when
    /// that takes too long.
    func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking
    /// Makes an empty folder at `hidden`, with mode 0700, for `owner`, and then atomically exchanges it with the folder at
    /// `path`. Returns when that is done or has failed, or when it takes too long.
    func replaceFolder(_ path: String, with hidden: String, for owner: (user: uid_t, group: gid_t)) -> FolderMaking
    /// Reports a failure that no caller is waiting for.
    func report(_ error: StoreError)
}

/// The outcome of asking the kernel to make or replace folders.
public enum FolderMaking: Sendable {
    case done
    /// The folders are made once a program releases the kernel's lock on a folder.
    case late
    /// Nothing was done, usually because the container is not mounted: the caller makes or moves the folders in the store.
    case unavailable
}

/// Nodeids that are not derived from a node's address.
enum KernelID {
    static let root: UInt64 = 1
}

/// The port of a store that is not mounted: only one command uses the store, and the kernel has cached nothing about its
/// entries.
public final class NoKernel: KernelPort {
    public init() {}
    /// Does nothing: there are no requests to read.
    public func expectSlowWork() {}
    public var closesComeLate: Bool { false }
    /// Does nothing: nobody closes files.
    public func catchUpWithCloses() {}
    public var transport: String? { nil }
    /// Finishes at once: a name that is gone from the store is gone for every process.
    public func announce(_ announcement: Announcement) { announcement.finish() }
    public var announcer: pid_t { 0 }
    /// Does nothing: nobody has cached attributes.
    public func forgetAttributes(of nodes: [UInt64]) {}
    public func dropPages(of files: [Node]) {}
    public func dropRefusedPages(of file: Node) {}
    /// Runs `work` at once: nobody waits for this thread.
    public func runApart(_ work: @escaping @Sendable () -> Void) { work() }
    public func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking {
        .unavailable
    }
    public func replaceFolder(
        _ path: String, with hidden: String, for owner: (user: uid_t, group: gid_t)
    ) -> FolderMaking { .unavailable }
    /// Does nothing: the command's own result tells what failed.
    public func report(_ error: StoreError) {}
}
