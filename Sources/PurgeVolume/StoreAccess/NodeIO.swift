import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// What the volume keeps about a node beside the tree: how it is reached in the store, and what is under way with it.
/// It is made when it is first needed, so files that are not in use have none.
final class NodeIO {
    /// Any open descriptor of it, through which a file that has lost its names is reached.
    // Unmanaged: the handles of a node are a list that holds a reference to each from `link` to `close`.
    var firstHandle: Unmanaged<Handle>?
    /// For anything but a regular file that has lost its name but is still some process's descriptor or working
    /// directory: what is left of it. A regular file is reached through its handles.
    var remains: Remains?
    /// For a directory: an O_PATH descriptor, if the cache has one.
    var descriptor: FileDescriptor?
    var descriptorSlot = -1
    var descriptorWasUsed = false
    /// For a file that is not dense.
    var extents: StoredExtents?
    /// Blocks whose charge could not be settled after a call that failed.
    var unsettled: Range<Int64>?
    /// How the kernel does the I/O of the open descriptors.
    var cachedOpens: Int32 = 0
    var passthroughOpens: Int32 = 0
    /// The last one of them, while it may still be mapped; those whose RELEASE has been read but which are not closed
    /// yet; the known modification time of the backing file, if a mapping may write.
    var lingering: Handle?
    var closing: Int32 = 0
    var modified: FileTime?
    /// Times that an app has set and that the stamps in the store cannot express.
    var setTimes = SetTimes()
    /// How often an app has changed `setTimes`.
    var timesVersion: UInt32 = 0
    /// The value of `VolumeCore.unlocks` when the kernel last dropped the file's pages because of a lock; whether a drop
    /// of those that refused writes have left is to begin; how many have not ended; and which blocks those pages are.
    var pagesDropped = -1
    var awaitsDrop = false
    var refusedDrops: Int32 = 0
    var refusedBlocks = ExtentSet()
    /// Opens that can be mapped for writing: O_RDWR.
    var mappableOpens: Int32 = 0
    /// How many writes are under way; how many calls run alone, or wait to; whether such a call runs.
    var writers: Int32 = 0
    var soloists: Int32 = 0
    var isSolo = false
}

/// What the store has about a file that is not dense. The tree knows which blocks are charged.
struct StoredExtents {
    var record: ExtentRecord
    var size: Int64
}

extension Node {
    /// Under the lock, as is all that follows.
    var io: NodeIO? {
        // Only `ensuredIO` attaches anything, and what is attached stays, so it always has this class.
        attachment.map { unsafeDowncast($0, to: NodeIO.self) }
    }

    var ensuredIO: NodeIO {
        if let io { return io }
        let new = NodeIO()
        attach(new)
        return new
    }

    /// Whether a mapping made through passthrough may change its blocks unseen.
    var isPassed: Bool { io.map { $0.passthroughOpens > 0 || $0.lingering != nil } ?? false }

    /// The file is dense, or gone. Returns a sidecar that belonged to it.
    @discardableResult
    func dropStoredExtents() -> String? {
        defer { io?.extents = nil }
        return io?.extents?.record.sidecar
    }
}
