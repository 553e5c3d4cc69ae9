import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// What the volume keeps about a node beside the tree: how it is reached in the store, and what is under way with it.
///
/// It is reached as `state[node].io` and cannot be copied, so whoever reads or changes it has the state. It is made when it
/// is first changed: a node without one, as most are, reads as one that has these initial values.
struct NodeIO: ~Copyable {
    /// The open descriptors of it, through which a file that has lost its names is reached.
    var handles = NodeHandles()
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

/// The place of a `NodeIO`, which is attached to the node.
// @unchecked: only `NodeState` reads and changes the value, so whoever does has the state. Nothing changes that of `none`.
private final class NodeIOBox: @unchecked Sendable {
    var io = NodeIO()

    /// Stands for the one of each node that has none.
    static let none = NodeIOBox()
}

extension NodeState {
    /// What the volume keeps about the node. A change makes it if it is not there yet.
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
        // Only `ensuredBox` attaches anything, and what is attached stays, so it always has this class.
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

    /// The descriptor through which entries of a directory are reached, if one is open. It counts as used in
    /// `DescriptorRing`, the one thing that a mere look at the state changes.
    var directoryDescriptor: FileDescriptor? {
        guard let box else { return nil }
        if let left = box.io.remains?.descriptor { return left }
        guard let descriptor = box.io.descriptor else { return nil }
        box.io.descriptorWasUsed = true
        return descriptor
    }

    /// The size of a file that is not dense; nil for a dense one.
    var sparseSize: Int64? { box?.io.extents?.size }

    /// Whether the charge of some of its blocks is still to be settled.
    var isUnsettled: Bool { box?.io.unsettled != nil }

    /// Whether a mapping made through passthrough may change its blocks unseen.
    var isPassed: Bool {
        guard let box else { return false }
        return box.io.passthroughOpens > 0 || box.io.lingering != nil
    }

    /// Turns with the file's data: see `DataOrder`.
    mutating func beginBeside() -> Bool { ensuredBox.io.beginBeside() }
    mutating func beginAlone(_ isRegistered: inout Bool) -> Bool { ensuredBox.io.beginAlone(&isRegistered) }
    mutating func endTurn(isAlone: Bool) -> Bool { ensuredBox.io.endTurn(isAlone: isAlone) }

    /// The file is dense, or gone. Returns a sidecar that belonged to it.
    @discardableResult
    mutating func dropStoredExtents() -> String? {
        guard let box else { return nil }
        defer { box.io.extents = nil }
        return box.io.extents?.record.sidecar
    }
}
