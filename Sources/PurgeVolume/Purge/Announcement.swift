import PurgeSystem
import PurgeTree

/// Purged names on their way to the kernel.
public struct Announcement: Sendable {
    public let removals: [Removal]
    /// Where the directory of one of them is now, for a name that was not found where it had been; nil if it has been
    /// removed.
    public let whereabouts: @Sendable (Removal) -> PurgedName?
    /// To be called once the kernel has been told about all of them.
    public let told: @Sendable () -> Void
    /// To be called once, after that, or before it if the kernel cannot be told in time (`isLate`): a caller waits for
    /// it. nil if none does.
    public let answer: (@Sendable (_ isLate: Bool) -> Void)?

    /// The kernel has been told.
    public func finish() {
        told()
        answer?(false)
    }
}

/// A purged name on its way to the kernel, or one of a file that has been emptied.
public struct Removal: Sendable {
    public let directory: Node
    public let node: Node
    public internal(set) var purgedName: PurgedName
    /// In a directory that the kernel does not know, it has cached no names, and there are no watchers.
    public internal(set) var concernsKernel = false

    /// The kernel's nodeid of the directory.
    public var directoryID: UInt64 { path.count == 1 ? KernelID.root : directory.address }
    var path: [Name] { purgedName.path }
    var dentry: Dentry { Dentry(directory: directory, name: purgedName.name) }
}

extension Removal {
    /// What a purge is about to remove or empty. nil for a file without a name.
    init?(_ node: Node, in state: borrowing VolumeState) {
        guard let directory = state[node].parent else { return nil }
        self.init(
            directory: directory, node: node, path: state[node].path(), isEmptied: state[node].isEmptiedByPurge)
    }

    init(directory: Node, node: Node, path: [Name], isEmptied: Bool = false) {
        (self.directory, self.node) = (directory, node)
        purgedName = PurgedName(path: path, isDirectory: node.isDirectory, isEmptied: isEmptied)
    }
}

/// What the kernel is told. It holds no node, because releasing the last reference to one closes descriptors, which the
/// thread that tells the kernel does not have.
public struct PurgedName: Sendable {
    /// Where it was; the name comes last.
    var path: [Name]
    /// Whether rmdir(2) removes it, and not unlink(2).
    public let isDirectory: Bool
    /// truncate(2) empties it, and the name stays.
    public internal(set) var isEmptied: Bool

    var name: Name { path[path.count - 1] }
    /// The path of the directory, below the mount point.
    public var directoryPath: [UInt8] { Array(path.dropLast()).bytes }
    public func withName<Result>(_ body: (CName) throws(Errno) -> Result) throws(Errno) -> Result {
        try name.withCName(body)
    }
}
