import Glibc
import PurgeStore
import PurgeTree

/// The kernel, as a volume sees it: all that the volume asks of the code that serves it.
///
/// Dropping pages and making folders wait for requests that other threads serve and that take the volume's locks. So these
/// are called without any lock, by threads that serve no requests. Any thread may call the others.
public protocol KernelPort: AnyObject, Sendable {
    /// Tells that the calling thread is about to do something slow: another one takes its place at the source of
    /// requests.
    func expectSlowWork()
    /// Announces purged names, in order and on a thread of its own.
    func announce(_ announcement: Announcement)
    /// The kernel thread id of the thread that announces; 0 if there is none.
    var announcer: pid_t { get }
    /// Has the kernel ask again for the attributes of these nodes, which it knows by their nodeids. That takes a system call
    /// each, but waits for nothing. Called without any lock.
    func forgetAttributes(of nodes: [UInt64])
    /// Has the kernel drop its pages of these files, and unmap them. Waits for pages that are being read or written.
    func dropPages(of files: [Node])
    /// Drops pages in the same way that a refused write has left.
    func dropRefusedPages(of file: Node)
    /// Runs work later, on a thread that serves no requests and announces nothing.
    func runApart(_ work: @escaping @Sendable () -> Void)
    /// Makes folders of the container, each after its parent, and gives them to `owner`. Returns when that is done or takes
    /// too long.
    func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking
    /// Reports a failure for which no caller is waiting.
    func report(_ error: StoreError)
}

/// What has become of folders that the kernel is to make.
public enum FolderMaking: Sendable {
    case done
    /// They are made when a program no longer holds the kernel's lock of a folder.
    case late
    /// There is no kernel yet, so they are made in the store.
    case unavailable
}

/// The nodeids that do not follow from a node.
enum KernelID {
    static let root: UInt64 = 1
}

/// A store that is not mounted: one command uses it, and nothing but the store knows its entries.
public final class NoKernel: KernelPort {
    public init() {}
    /// No requests wait to be read.
    public func expectSlowWork() {}
    /// A name is gone for every process when it is gone from the store.
    public func announce(_ announcement: Announcement) { announcement.finish() }
    public var announcer: pid_t { 0 }
    /// Nobody has cached any.
    public func forgetAttributes(of nodes: [UInt64]) {}
    public func dropPages(of files: [Node]) {}
    public func dropRefusedPages(of file: Node) {}
    /// Nobody waits for this thread.
    public func runApart(_ work: @escaping @Sendable () -> Void) { work() }
    public func makeFolders(_ folders: [String], for owner: (user: uid_t, group: gid_t)) -> FolderMaking {
        .unavailable
    }
    /// The command tells by its own result what it could not do.
    public func report(_ error: StoreError) {}
}
