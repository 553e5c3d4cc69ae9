import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// All that changes in a mounted volume: the device's numbers, the tree's placement, the victims.
///
/// There is one, inside the lock of `VolumeCore`, and it cannot be copied. So to have it is to hold that lock:
/// `inout` for as long as a change lasts, borrowed for a look. What needs the lock takes it or is a method of it.
struct VolumeState: ~Copyable, Sendable {
    /// What is set, the pressure, and the numbers of the files.
    var device: Device
    var queue = VictimQueue()
    /// Purges that are being carried out.
    private(set) var purgesUnderWay = 0
    private var untoldPurges = UntoldPurges()
    /// Who is making the change that is under way; taken out when it is over.
    var actor: Actor?
    /// Whether a reclaimable file has been let go of in the change that is under way.
    private var hasReleased = false
    /// The tree and the numbers are whole. Before that nothing is judged.
    var isScanned = false
    #if DEBUG
    private(set) var acquisitions = 0
    #endif
    /// Who has brought the level down to one at which space is reclaimed, for as long as that lasts.
    var pressureCause: PressureCause?
    /// Purged names of which the kernel has not been told yet.
    var ghosts: [GhostKey: Node] = [:]
    /// Nodes whose last use is newer than the journal's.
    var unsavedUses: [Node] = []
    /// Inode numbers whose last use the journal need not keep any longer.
    var goneInodes: [UInt64] = []
    /// How many of `unsavedUses` are files that are gone, kept in memory by that list alone.
    private var goneUses = 0
    /// Events that came up under the lock, in order.
    var outbox: [Event] = []
    var descriptors: DescriptorRing
    /// Nodes of which the kernel holds references.
    var knownNodes = 0
    /// References that the kernel gave back without having had them.
    var overdrawnNodes = 0
    /// Files that nobody has open any more, and that may still be mapped.
    var lingering: [ObjectIdentifier: Node] = [:]
    /// Those, and files that are passed through.
    var passedFiles = 0
    /// Handles that the kernel holds, or that are kept for a mapping's sake.
    var openFiles = 0

    /// A process, and the file to which it writes.
    struct Actor {
        var pid: pid_t
        var node: Node?
    }

    struct GhostKey: Hashable {
        var directory: ObjectIdentifier
        var name: Name
    }

    init(device: Device, descriptorLimit: Int) {
        self.device = device.asSaved
        descriptors = DescriptorRing(limit: descriptorLimit)
    }

    /// Of the container: there is one today.
    var ledger: Ledger {
        get { device.ledgers[0] }
        _modify { yield &device.ledgers[0] }
    }
    var capacity: Capacity { device.capacity }
}

// What each file adds to the numbers. Whatever changes about a file, `withdraw` comes before it
// and `enter` after it, so that no number can drift.
extension VolumeState {
    mutating func enter(_ node: Node) {
        guard node.isRegular, !node.flags.contains(.counted) else { return }
        node.flags.insert(.counted)
        ledger.enter(node.charged, as: node.standing.account)
        offer(node)
    }

    mutating func withdraw(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        retract(node)
        node.flags.remove(.counted)
        ledger.withdraw(node.charged, as: node.standing.account)
    }

    /// More (or fewer) blocks for a file that is in the numbers.
    mutating func charge(_ node: Node, blocks: Int64) {
        guard blocks != 0 else { return }
        let wasOffered = node.flags.contains(.reclaimable)
        if wasOffered { retract(node) }
        node.blocks += blocks
        if node.flags.contains(.counted) { ledger.charge(ByteCount(blocks: blocks), as: node.standing.account) }
        if wasOffered || node.opens == 0 { offer(node) }
    }

    /// Counts the file as reclaimable, if purging it would really give its bytes back, and puts it
    /// among the victims unless it is held.
    mutating func offer(_ node: Node) {
        guard node.opens == 0, node.blocks > 0, node.flags.contains(.counted),
            node.flags.isDisjoint(with: [.unlinked, .purging, .stuck, .linkedOutside]), !node.hasSeveralNames,
            let rank = node.standing.rank
        else { return }
        if !node.flags.contains(.reclaimable) {
            node.flags.insert(.reclaimable)
            ledger.offer(node.charged)
            if node.holds > 0 { ledger.hold(node.charged) }
        }
        if node.holds == 0 { queue.insert(node, rank: rank) }
    }

    /// The file is not reclaimable any longer.
    mutating func retract(_ node: Node) {
        guard node.flags.contains(.reclaimable) else { return }
        if let rank = node.standing.rank { queue.remove(node, rank: rank) }
        node.flags.remove(.reclaimable)
        if node.holds > 0 { noteReleased(node) }
        ledger.retract(node.charged)
    }

    /// From here until `unhold` no purge chooses the node, though it counts as reclaimable if it did.
    mutating func hold(_ node: Node) {
        if node.holds == 0, node.flags.contains(.reclaimable), let rank = node.standing.rank {
            queue.remove(node, rank: rank)
            ledger.hold(node.charged)
        }
        node.holds += 1
    }

    mutating func unhold(_ node: Node) {
        node.holds -= 1
        guard node.holds == 0, node.flags.contains(.reclaimable) else { return }
        noteReleased(node)
        offer(node)
    }

    private mutating func noteReleased(_ node: Node) {
        ledger.release(node.charged)
        hasReleased = true
    }

    mutating func noteUse(_ node: Node, at instant: Instant) {
        let wasOffered = node.flags.contains(.reclaimable)
        if wasOffered { retract(node) }
        node.lastUse = max(node.lastUse, instant)
        // The journal knows files by their inode numbers on the container's device.
        if node.flags.isDisjoint(with: [.useUnsaved, .onOtherDevice]) {
            node.flags.insert(.useUnsaved)
            unsavedUses.append(node)
        }
        if wasOffered { offer(node) }
    }

    /// The last name and the last descriptor of the node are gone.
    mutating func noteGone(_ node: Node) {
        if !node.flags.contains(.onOtherDevice) { goneInodes.append(node.inode) }
        if node.flags.contains(.useUnsaved) { goneUses += 1 }
    }

    /// Takes the uses that the journal has to be told of.
    mutating func takeUnsavedUses() -> (gone: [UInt64], used: [Node]) {
        let used = unsavedUses.filter { !$0.flags.contains(.unlinked) }
        for node in unsavedUses { node.flags.remove(.useUnsaved) }
        defer { (unsavedUses, goneInodes, goneUses) = ([], [], 0) }
        return (goneInodes, used)
    }

    /// The journal could not be told of these. A record that stays is of no file: a later file of the same
    /// inode has another birth.
    mutating func restoreGone(_ inodes: [UInt64]) {
        if inodes.count + goneInodes.count < Self.goneInodesLimit { goneInodes = inodes + goneInodes }
    }
    private static let goneInodesLimit = 1_000_000

    /// Lets go of nodes of files that are gone, once they are half of the list: a program may make
    /// and remove files faster than the journal is written.
    mutating func dropGoneUses() -> [Node] {
        guard goneUses * 2 >= unsavedUses.count, goneUses > 0 else { return [] }
        var dropped: [Node] = []
        unsavedUses.removeAll { node in
            guard node.flags.contains(.unlinked), node.opens == 0 else { return false }
            node.flags.remove(.useUnsaved)
            dropped.append(node)
            return true
        }
        goneUses = 0
        return dropped
    }
}

// The end of a change, and pressure.
extension VolumeState {
    @inline(__always)
    mutating func noteAcquisition() {
        #if DEBUG
        acquisitions += 1
        #endif
    }

    /// What has to be done once the lock is free. `levelChanges` is what it was when the change began.
    mutating func endChange(_ effects: inout ChangeEffects, levelChanges: UInt64) {
        judge()
        effects.levelChanged = device.levelChanges != levelChanges
        effects.hasReleased = hasReleased
        effects.shouldReclaim = device.shouldReclaim
        hasReleased = false
        actor = nil
        if !outbox.isEmpty { swap(&effects.events, &outbox) }
    }

    /// Brings the level in line with free space.
    private mutating func judge() {
        if isScanned, let change = device.judgePressure() { note(change) }
    }

    /// What is to be done about an effect in the step that has it.
    mutating func take(_ effect: DeviceEffect) {
        switch effect {
        case .event(let event): outbox.append(event)
        case .level(let change): note(change)
        case .purge, .save: break
        }
    }

    /// Tells of a change of the level, and notes who has brought it about.
    mutating func note(_ change: LevelChange) {
        guard change.isWorse else {
            if !change.new.reclaims { pressureCause = nil }
            let event = Event(type: .pressure, bytes: change.free, reason: change.new.rawValue)
            if untoldPurges.isEmpty { outbox.append(event) } else { untoldPurges.wait(event) }
            return
        }
        let cause = actor.map { PressureCause($0) }
        if change.beginsReclaiming { pressureCause = cause }
        outbox += untoldPurges.takeWaiting()
        outbox.append(
            Event(
                type: .pressure, bytes: change.free, reason: change.new.rawValue, pid: cause?.pid, cause: cause?.path))
    }

    /// A purge that is about to be carried out.
    mutating func begin(_ picked: Picked, trigger: PurgeTrigger, pid: pid_t) -> PurgeJob {
        purgesUnderWay += 1
        return PurgeJob(
            number: untoldPurges.begin(), fromOthers: picked.fromOthers, victims: picked.victims, trigger: trigger,
            pid: pid, cause: trigger == .pressure ? pressureCause : nil)
    }

    /// The events of all that it purged have been handed on, or it was given up.
    mutating func noteTold(_ job: PurgeJob) { outbox += untoldPurges.end(job.number) }

    /// After `noteTold`, and not in the same change: who waits for the end of all purges finds their events there.
    mutating func noteEnd(of job: PurgeJob) { purgesUnderWay -= 1 }

    var shouldReclaim: Bool { device.shouldReclaim }
}

/// What has brought the pressure on: a process, and the file that it wrote where it was a write.
struct PressureCause {
    var pid: pid_t?
    var path: String?

    init(_ actor: VolumeState.Actor) {
        pid = actor.pid == 0 ? nil : actor.pid
        let path = actor.node?.path().text
        self.path = path == "" ? nil : path
    }
}
