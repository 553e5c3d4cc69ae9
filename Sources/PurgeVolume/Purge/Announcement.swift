import PurgeSystem
import PurgeTree

/// A batch of purged names on its way to the kernel.
public struct Announcement: Sendable {
    public let removals: [Removal]
    /// Returns the name below its directory's current path, for a name that was not found at its old path; nil if the directory
    /// has been removed.
    public let whereabouts: @Sendable (Removal) -> PurgedName?
    /// Called once the kernel has been told about all of the names.
    public let told: @Sendable () -> Void
    /// Releases the waiting caller; nil if no caller waits. Called once: after `told`, or before it if the kernel cannot be
    /// told in time (`isLate`).
    public let answer: (@Sendable (_ isLate: Bool) -> Void)?

    /// Calls `told`, then `answer`. Called when the kernel has been told about all of the names, or has none of them cached.
    public func finish() {
        told()
        answer?(false)
    }
}

/// A purged name on its way to the kernel, or the name of a file that has been emptied.
public struct Removal: Sendable {
    public let directory: Node
    public let node: Node
    public internal(set) var purgedName: PurgedName
    /// Whether the kernel must be told. A directory that the kernel does not know has neither cached names nor watchers.
    public internal(set) var concernsKernel = false

    /// The kernel's nodeid of the directory.
    public var directoryID: UInt64 { path.count == 1 ? KernelID.root : directory.address }
    var path: [Name] { purgedName.path }
    var dentry: Dentry { Dentry(directory: directory, name: purgedName.name) }
}

extension Removal {
    /// Describes a file that a purge is about to remove or empty. nil for a file without a name.
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

/// The facts about a removal that the announcing thread needs. They include no node: releasing the last reference to a node
/// closes descriptors, and that thread does not share the daemon's descriptor table.
public struct PurgedName: Sendable {
    /// The former path of the entry, which ends with its name.
    var path: [Name]
    /// Whether rmdir(2), rather than unlink(2), announces the removal.
    public let isDirectory: Bool
    /// Whether the purge has emptied the file, which keeps its name; truncate(2) then announces the purge.
    public internal(set) var isEmptied: Bool

    var name: Name { path[path.count - 1] }
    /// The path of the directory, below the mount point.
    public var directoryPath: [UInt8] { Array(path.dropLast()).bytes }
    public func withName<Result>(_ body: (CName) throws(Errno) -> Result) throws(Errno) -> Result {
        try name.withCName(body)
    }
}
