import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// Everything that changes in a volume: the device's numbers, the tree, the victims.
///
/// There is one state, inside the lock of `VolumeCore`, and it cannot be copied. So having it means holding that lock:
/// `inout` for the duration of a change, borrowed for reading. A function that needs the lock takes the state as a parameter
/// or is a method of it.
struct VolumeState: ~Copyable, Sendable {
    /// The entries of the store, and the device whose numbers they make up.
    var tree: Tree
    private(set) var untoldPurges = UntoldPurges()
    /// The purges and turns that this change has ended, to wake their waiters. `Tree.takeEndings` has the endings in the tree.
    private var ends: ChangeEffects.Ends = []
    /// The author of the current change; removed when the change is done.
    var actor: Actor?
    /// Whether the tree and the numbers are complete. Until then, pressure is not judged.
    var isScanned = false
    #if DEBUG
    private(set) var (acquisitions, changes) = (0, 0)
    #endif
    /// The process whose change or refused write set off background purging. Kept until none is requested.
    var pressureCause: PressureCause?
    var reclaimCall = ReclaimCall()
    /// What the reclaimer is purging. It counts as free, but the files may still be seen.
    var reclaimedBatch = ReclaimedBatch()
    /// `Device.levelChanges` when the last change ended.
    private var levelChangesTold: UInt64 = 0
    /// Purged names that the kernel has not been told about yet.
    var ghosts: [Dentry: Node] = [:]
    var emptied = EmptiedFiles()
    /// Events that occurred under the lock, in order.
    var outbox: [Event] = []
    var descriptors: DescriptorRing
    /// Files that are no longer open, but may still be mapped.
    var lingering: [ObjectIdentifier: Node] = [:]
    /// The number of files that are passed through, `lingering` ones included.
    var passedFiles = 0
    /// Open files: handles that the kernel holds, that are kept for a mapping, or that the volume opened itself.
    var handles = HandleList()
    var openFiles: Int { handles.count }

    /// A thread, and the file that it writes to, if any. The thread is 0 offline, for the timer, and if it is unknown.
    struct Actor {
        var tid: pid_t
        var node: Node?
    }

    init(device: Device, descriptorLimit: Int) {
        tree = Tree(device: device.asSaved)
        descriptors = DescriptorRing(limit: descriptorLimit)
    }

    /// The part of a node that the lock guards.
    // Transparent, as in PurgeTree.
    subscript(node: Node) -> NodeState {
        @_transparent get { tree[node] }
        @_transparent _modify { yield &tree[node] }
    }

    /// The settings, the pressure, and the numbers of the files.
    var device: Device { _read { yield tree.device } }
    var capacity: Capacity { device.capacity }
}

// The end of a change, and pressure.
extension VolumeState {
    @inline(__always)
    mutating func noteAcquisition(isChange: Bool = false) {
        #if DEBUG
        acquisitions += 1
        if isChange { changes += 1 }
        #endif
    }

    /// Returns the work to be done once the lock is free. Not inlined, because every change ends with it.
    @inline(never)
    mutating func endChange() -> ChangeEffects {
        let end = tree.accounts.endChange(judging: isScanned)
        if let change = end.levelChange { note(change) }
        tree.policies.settle()
        var effects = ChangeEffects(ends, end, shouldReclaim: tree.policies.isPending)
        if end.levelChanges != levelChangesTold { effects.ends.insert(.level) }
        levelChangesTold = end.levelChanges
        effects.note(tree.takeEndings())
        if !end.isCalm || reclaimCall.isUnderWay { noteReclaiming(&effects) }
        (actor, ends) = (nil, [])
        if !outbox.isEmpty { (effects.events, outbox) = (outbox, []) }
        return effects
    }

    private mutating func noteReclaiming(_ effects: inout ChangeEffects) {
        if reclaimCall.note(device), device.reclaimUrgency == nil { pressureCause = nil }
        if reclaimCall.isNew || reclaimCall.mayBegin(device) { effects.shouldReclaim = true }
    }

    /// Records a change of the level. If the level got worse, also records which process caused the change.
    mutating func note(_ change: LevelChange) {
        guard change.isWorse else {
            if device.reclaimUrgency == nil { pressureCause = nil }
            return untoldPurges.isEmpty ? outbox.append(Event(change, nil)) : untoldPurges.wait(Event(change, nil))
        }
        let cause = actor.map { PressureCause($0, in: self) }
        let profile = device.profile
        if profile.urgency(at: change.new) != nil, profile.urgency(at: change.old) == nil { pressureCause = cause }
        outbox += untoldPurges.takeWaiting()
        outbox.append(Event(change, cause))
    }

    /// Starts a purge that has been planned, perhaps for a write to `node`. Returns nil if the plan takes nothing.
    mutating func begin(
        _ plan: PurgePlan<Node>, trigger: PurgeTrigger, tid: pid_t, for node: Node? = nil
    ) -> Purge? {
        guard !plan.isEmpty else { return nil }
        return Purge(
            number: untoldPurges.begin(), plan: plan, trigger: trigger, tid: tid,
            cause: trigger == .pressure
                ? pressureCause : node.map { PressureCause(Actor(tid: tid, node: $0), in: self) },
            pressure: device.level)
    }

    /// Notes that the events of everything the purge took have been passed on, or that the purge was given up.
    mutating func noteTold(_ purge: borrowing Purge) { outbox += untoldPurges.end(purge.number) }

    /// Ends a purge, after `noteTold` and in a later change: a thread that waits for the end of all purges then finds their
    /// events.
    mutating func noteEnd(of purge: borrowing Purge) {
        untoldPurges.finish(purge.number)
        ends.insert(.purge)
    }

    /// Wakes calls that wait for their turn with a file, or for its descriptor to be closed.
    mutating func noteEndOfTurn() { ends.insert(.turn) }
}

extension Event {
    /// Creates the event for a change of the level.
    fileprivate init(_ change: LevelChange, _ cause: PressureCause?) {
        self.init(
            type: .pressure, bytes: change.free, reason: change.new.rawValue, pid: cause?.pid, cause: cause?.path)
    }
}

/// The cause of pressure: a process and, if it was a write, the file.
struct PressureCause {
    /// The thread that FUSE reported, until its process is known (`VolumeCore.nameCause`).
    var pid: pid_t?
    var path: String?

    init(_ actor: VolumeState.Actor, in state: borrowing VolumeState) {
        pid = actor.tid == 0 ? nil : actor.tid
        let path = actor.node.map { state[$0].path().text }
        self.path = path == "" ? nil : path
    }
}
