import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// What the volume keeps of a node beside the tree: how it is reached in the store, and what is under
/// way with it. Made when first wanted, so files that are merely there have none.
final class NodeIO {
    /// Any open descriptor of it, to reach a file that has no name left.
    // Unmanaged: the handles of a node are a list that holds a reference to each from `link` to `close`.
    var firstHandle: Unmanaged<Handle>?
    /// Of what is no regular file and has no name left, but somebody's descriptor or working
    /// directory: what is left of it. A regular file is reached through its handles.
    var remains: Remains?
    /// Of a directory: an O_PATH descriptor, when the cache holds one.
    var descriptor: FileDescriptor?
    var descriptorSlot = -1
    var descriptorWasUsed = false
    /// Of a file that is not dense.
    var extents: StoredExtents?
    /// Blocks whose charge could not be settled after a call that failed.
    var unsettled: Range<Int64>?
    /// How the kernel does the I/O of the open descriptors.
    var cachedOpens: Int32 = 0
    var passthroughOpens: Int32 = 0
    /// The last one of them, while it may still be mapped; those of which the RELEASE has been read, but
    /// which are not closed yet; the backing's modification time as known, where a mapping may write.
    var lingering: Handle?
    var closing: Int32 = 0
    var modified: Instant?
    /// Opens that can be mapped for writing: O_RDWR.
    var mappableOpens: Int32 = 0
    /// Writes that are under way; what has to run alone, or waits to; whether such a one runs.
    var writers: Int32 = 0
    var soloists: Int32 = 0
    var isSolo = false
}

/// What the store says of a file that is not dense. Which blocks are charged is the tree's to know.
struct StoredExtents {
    var record: ExtentRecord
    var size: Int64
}

extension Node {
    /// Under the lock, as is all that follows.
    var io: NodeIO? {
        // Only `ensuredIO` sets the attachment, so it is of no other class.
        attachment.map { unsafeDowncast($0, to: NodeIO.self) }
    }

    var ensuredIO: NodeIO {
        if let io { return io }
        let new = NodeIO()
        attachment = new
        return new
    }

    /// Whether a mapping made through passthrough may reach its blocks unseen.
    var isPassed: Bool { io.map { $0.passthroughOpens > 0 || $0.lingering != nil } ?? false }

    /// The file is dense, or gone; answers a sidecar that was its own.
    @discardableResult
    func dropStoredExtents() -> String? {
        defer { io?.extents = nil }
        return io?.extents?.record.sidecar
    }
}
