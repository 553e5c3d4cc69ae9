import PurgeTree
import Synchronization

/// How many objects of a volume are alive, to detect leaks. Objects are counted for the whole process, which serves one
/// volume.
public struct Census: Sendable {
    /// Nodes of entries, and of unlinked files that are in use.
    public var nodes: Int
    /// Nodes to which the kernel holds references.
    public var known: Int
    /// Files that the kernel has open.
    public var files: Int
    /// Directories that are open.
    public var directories: Int
    /// Files that the kernel has closed and we have not.
    public var unclosed: Int
    /// References that the kernel returned without having had them.
    public var overdrawn: Int
    /// Calls that returned before the kernel had been told what they purged.
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
