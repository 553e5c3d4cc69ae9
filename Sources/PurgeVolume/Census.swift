import PurgeTree
import Synchronization

/// The number of live objects of a volume, to detect leaks. Objects are counted for the whole process, which serves one
/// volume.
public struct Census: Sendable {
    /// Nodes in memory: of entries, control files included, and of unlinked files that are still referenced.
    public var nodes: Int
    /// Nodes that the kernel holds references to.
    public var known: Int
    /// Open handles: held by the kernel, kept for a mapping, or opened by the volume itself.
    public var files: Int
    /// Open directories.
    public var directories: Int
    /// Handles that have been released but not closed yet.
    public var unclosed: Int
    /// Requests of the kernel to forget more references than it held.
    public var overdrawn: Int
    /// Calls that returned before the kernel was notified of all names that they had purged or made.
    public var late: Int

    /// One line of `name=value`.
    public var line: String {
        "nodes=\(nodes) known=\(known) files=\(files) directories=\(directories) "
            + "unclosed=\(unclosed) overdrawn=\(overdrawn) late=\(late)"
    }
}

extension Volume {
    public func census() -> Census {
        read { state in
            Census(
                nodes: Node.alive.load(ordering: .relaxed), known: state.tree.references.nodes, files: state.openFiles,
                directories: DirectoryHandle.alive.load(ordering: .relaxed),
                unclosed: Handle.alive.load(ordering: .relaxed) - state.openFiles,
                overdrawn: state.tree.references.overdrawn,
                late: core.lateAnnouncements.load(ordering: .relaxed))
        }
    }
}
