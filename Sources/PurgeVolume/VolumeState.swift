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
    /// The entries of the store, and the device whose numbers they make.
    var tree: Tree
    /// Purges that are being carried out.
    private(set) var purgesUnderWay = 0
    private var untoldPurges = UntoldPurges()
    /// Who is making the change that is under way; taken out when it is over.
    var actor: Actor?
    /// The tree and the numbers are whole. Before that nothing is judged.
    var isScanned = false
    #if DEBUG
    private(set) var acquisitions = 0
    #endif
    /// Who has brought the level down to one at which space is reclaimed, for as long as that lasts.
    var pressureCause: PressureCause?
    /// Purged names of which the kernel has not been told yet.
    var ghosts: [GhostKey: Node] = [:]
    /// Events that came up under the lock, in order.
    var outbox: [Event] = []
    var descriptors: DescriptorRing
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
        tree = Tree(device: device.asSaved)
        descriptors = DescriptorRing(limit: descriptorLimit)
    }

    /// What is set, the pressure, and the numbers of the files.
    var device: Device {
        get { tree.device }
        _modify { yield &tree.device }
    }
    /// Of the container: there is one today.
    var ledger: Ledger {
        get { device.ledgers[0] }
        _modify { yield &device.ledgers[0] }
    }
    var capacity: Capacity { device.capacity }
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
        effects.hasReleased = tree.takeReleases()
        effects.shouldReclaim = device.shouldReclaim
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
