import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// State that the volume keeps about a node in addition to the tree: how the node is reached in the store, and the operations
/// in flight on it.
///
/// Code gets it as `state[node].io` and cannot copy it, so only code that has the state reads or changes it. The first change
/// creates it. A node without one, like most nodes, reads as if it had these initial values.
struct NodeIO: ~Copyable {
    /// Open descriptors of the node, through which a file that has lost its names is reached.
    var handles = NodeHandles()
    /// Remains of a removed entry, such as an open folder or a process's working directory. A regular file has none: it is
    /// reached through its handles.
    var remains: Remains?
    /// An O_PATH descriptor of a directory, if the cache has one.
    var descriptor: FileDescriptor?
    var descriptorSlot = -1
    /// The slot of a directory whose descriptor stays: a hidden one (`WholeFolderPurge`).
    static let pinnedSlot = -2
    var descriptorWasUsed = false
    /// The stored extents of a file that is not dense.
    var extents: StoredExtents?
    /// Blocks whose charge could not be settled after a failed call.
    var unsettled: Range<Int64>?
    /// Number of open descriptors without passthrough (cached or direct I/O), and with it.
    var cachedOpens: Int32 = 0
    var passthroughOpens: Int32 = 0
    /// The last handle with passthrough, while it may still be mapped.
    var lingering: Handle?
    /// Number of handles with passthrough whose RELEASE has been read but which are not closed yet.
    var closing: Int32 = 0
    /// The known modification time of the backing file, if a mapping may write.
    var modified: FileTime?
    /// Times that an app has set and that the stamps in the store cannot express.
    var setTimes = SetTimes()
    /// Number of times that an app has changed `setTimes`.
    var timesVersion: UInt32 = 0
    /// The value of `VolumeCore.unlocks` when the kernel last dropped the file's pages because of a lock; -1 if it has not.
    var pagesDropped = -1
    /// For pages that refused writes have left behind: whether a drop is to begin, the number of drops in flight, and the
    /// blocks of these pages.
    var awaitsDrop = false
    var refusedDrops: Int32 = 0
    var refusedBlocks = ExtentSet()
    /// Number of opens that can be mapped for writing: O_RDWR.
    var mappableOpens: Int32 = 0
    /// Number of writes in flight; number of calls that run alone, or wait to; whether such a call runs.
    var writers: Int32 = 0
    var soloists: Int32 = 0
    var isSolo = false
}

/// The store's record of a file that is not dense. The tree keeps the charged blocks.
struct StoredExtents {
    var record: ExtentRecord
    var size: Int64
}

/// The box of a `NodeIO`, which is attached to the node.
// @unchecked: only `NodeState` reads and changes the value, so only code that has the state does. Nothing changes the value
// of `none`.
private final class NodeIOBox: @unchecked Sendable {
    var io = NodeIO()

    /// Stands for the box of each node that has none.
    static let none = NodeIOBox()
}

extension NodeState {
    /// State that the volume keeps about the node. The first change creates it.
    // Transparent, as `Tree.subscript` is.
    var io: NodeIO {
        @_transparent _read {
            let box = box ?? NodeIOBox.none
            yield box.io
        }
        @_transparent _modify {
            let box = ensuredBox
            yield &box.io
        }
    }

    private var box: NodeIOBox? {
        // Only `ensuredBox` attaches an object, and an attached object stays, so it always has this class.
        attachment.map { unsafeDowncast($0, to: NodeIOBox.self) }
    }

    private var ensuredBox: NodeIOBox {
        mutating get {
            if let box { return box }
            let new = NodeIOBox()
            attach(new)
            return new
        }
    }

    /// The descriptor through which entries of a directory are reached, if one is open. Reading this property marks the
    /// descriptor as used in `DescriptorRing`. No other read of the state changes anything.
    var directoryDescriptor: FileDescriptor? {
        guard let box else { return nil }
        if let left = box.io.remains?.descriptor { return left }
        guard let descriptor = box.io.descriptor else { return nil }
        box.io.descriptorWasUsed = true
        return descriptor
    }

    /// The size of a file that is not dense; nil for a dense one.
    var sparseSize: Int64? { box?.io.extents?.size }

    /// Whether the charge of some blocks of the file must still be settled.
    var isUnsettled: Bool { box?.io.unsettled != nil }

    /// Whether a mapping made through passthrough may change the file's blocks unseen.
    var isPassed: Bool {
        guard let box else { return false }
        return box.io.passthroughOpens > 0 || box.io.lingering != nil
    }

    /// Turns with the file's data: see `DataOrder`.
    mutating func beginBeside() -> Bool { ensuredBox.io.beginBeside() }
    mutating func beginAlone(_ isRegistered: inout Bool) -> Bool { ensuredBox.io.beginAlone(&isRegistered) }
    mutating func endTurn(isAlone: Bool) -> Bool { ensuredBox.io.endTurn(isAlone: isAlone) }

    /// Drops the record of a file that is dense or gone. Returns the sidecar that belonged to it.
    @discardableResult
    mutating func dropStoredExtents() -> String? {
        guard let box else { return nil }
        defer { box.io.extents = nil }
        return box.io.extents?.record.sidecar
    }
}
