import Glibc
import PurgeStore
import PurgeTree

/// What the volume needs from the code that serves it; the defaults are for a store that is not mounted.
public struct VolumeHooks: Sendable {
    /// The thread is about to do something slow: another one should take its place at the source
    /// of requests.
    public var beforeSlowWork: @Sendable () -> Void = {}
    /// Tells the kernel about purged names, on a thread of its own.
    public var announce: @Sendable (Announcement) -> Void = { $0.finish() }
    /// The kernel thread id of the thread that announces; 0 if there is none.
    public var announcer: @Sendable () -> pid_t = { 0 }
    /// Has the kernel ask again for the attributes of these nodes, which it knows by their nodeids. Called without any
    /// lock; nothing in the kernel waits for it, so a thread that serves requests may call it for a few.
    public var forgetAttributes: @Sendable (_ nodes: [UInt64]) -> Void = { _ in }
    /// Has the kernel drop its pages of these files, and unmap them. Called as `forgetAttributes` is; it waits for pages
    /// that are being read or written.
    public var dropPages: @Sendable (_ files: [Node]) -> Void = { _ in }
    /// The same for a file of which a refused write has left pages.
    public var dropRefusedPages: @Sendable (_ file: Node) -> Void = { _ in }
    /// Runs work later, on a thread that serves no requests.
    public var runApart: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void = { $0() }
    /// Makes folders of the container, each after its parent, through the kernel, and returns when that is done or takes
    /// too long. Like `forgetAttributes` in what it may be called with, and by whom.
    public var makeFolders: @Sendable (_ folders: [String]) -> Outcome = { _ in .unavailable }
    /// Reports a failure for which no caller is waiting.
    public var report: @Sendable (StoreError) -> Void = { _ in }

    /// What has become of something that is done through the kernel.
    public enum Outcome: Sendable {
        case done
        /// It is done when a program no longer holds the kernel's lock of a folder.
        case late
        /// There is no kernel yet.
        case unavailable
    }

    public init() {}

    /// The kernel's nodeid of the root.
    static let rootID: UInt64 = 1
}
