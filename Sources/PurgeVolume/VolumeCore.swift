import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// What all families of operations share: the store, what is known of it for good, the lock over all that
/// changes, and the gates at which threads wait for a change.
final class VolumeCore: Sendable {
    let store: Store
    let mountpoint: String?
    let untouched: UntouchedTimes
    let root: Node
    let control: ControlTree
    let clock: DeviceClock
    let events: EventLog
    let hooks: VolumeHooks
    let budget: DescriptorBudget
    let kind: BackingKind
    /// The number of the device that the container lies on.
    let backingDevice: UInt64
    /// Whether a file that has been passed through can be asked whether it is still mapped.
    let tellsMappings: Bool
    /// Milliseconds for which a write waits for files that are being changed.
    let patience: Int64
    /// Guards the state and every Node and Handle. Never held across I/O, a reply or a notification.
    private let state: Mutex<VolumeState>
    /// Advances when a purge has been carried out, or the level or what can be reclaimed has changed.
    let purges = Gate()
    /// Advances when a reclaimable file is held no longer.
    let released = Gate()
    /// Held by who chooses more victims than one step takes; comes before `state`.
    let makingMuchRoom = Mutex(())
    /// Held while a directory's permissions are other than its owner set them.
    let permissions = Mutex(())
    /// Advances when a file that somebody waits to write or cut is free for that.
    let turns = Gate()
    /// Threads that wait at `turns`.
    let turnsAreAwaited = Atomic<Int>(0)
    /// Advances when the reclaimer has something to look at.
    let reclaimerGate = Gate()
    let reclaimerIsBusy = Atomic<Bool>(false)
    let reclaimerRuns = Atomic<Bool>(false)
    /// The threads of the volume are to end.
    let isEnding = Atomic<Bool>(false)
    /// Renames and unlinks: a name that was read while none was under way, and since when none
    /// has begun, is right.
    let moves = Atomic<UInt64>(0)
    let movesEnded = Atomic<UInt64>(0)
    let strays = Strays()
    /// Calls that failed because the disk under the store has no room.
    let hostRefusals = Atomic<Int>(0)
    /// Calls that returned before the kernel had been told of the names that they had purged.
    let lateAnnouncements = Atomic<Int>(0)

    init(
        store: Store, device: Device, clock: DeviceClock, events: EventLog, mountpoint: String?,
        untouched: UntouchedTimes,
        hooks: VolumeHooks, patience: Int64
    ) throws(Errno) {
        self.store = store
        self.mountpoint = mountpoint
        self.untouched = untouched
        self.clock = clock
        self.events = events
        self.hooks = hooks
        self.patience = patience
        budget = DescriptorBudget(limit: System.descriptorLimit())
        kind = BackingKind(fileSystemType: try System.fileSystemType(store.container.raw))
        let status = try System.status(store.container.raw)
        backingDevice = UInt64(status.st_dev)
        root = Node(inode: UInt64(status.st_ino), kind: .directory, name: Name(""))
        tellsMappings = mountpoint != nil && geteuid() == 0 && System.tellsMappings(in: store.container.raw)
        control = ControlTree(owner: getuid(), group: getgid(), made: clock.now)
        state = Mutex(VolumeState(device: device, descriptorLimit: budget.directories))
        root.ensuredIO.descriptor = store.container
    }

    /// Nodes of a tree refer to each other, so nothing else would close the directories that are kept open.
    deinit {
        state.withLock { $0.descriptors.removeAll() }
        root.io?.descriptor = nil
    }

    /// Looks at what the lock guards. Nothing can change, so nothing is judged.
    func read<Value, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { (state) throws(Failure) in
            state.noteAcquisition()
            return try body(state)
        }
    }

    /// The one way to change what the lock guards. At the end pressure is judged; once the lock is free the events
    /// that came up are handed on, and whoever waits for the change is woken.
    @discardableResult
    func change<Value, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var effects = ChangeEffects()
        let result = state.withLock { (state) -> Result<Value, Failure> in
            state.noteAcquisition()
            let result: Result<Value, Failure>
            let levelChanges = state.device.levelChanges
            do throws(Failure) { result = .success(try body(&state)) } catch { result = .failure(error) }
            state.endChange(&effects, levelChanges: levelChanges)
            return result
        }
        carryOut(effects)
        return try result.get()
    }

    private func carryOut(_ effects: consuming ChangeEffects) {
        if !effects.events.isEmpty { events.append(effects.events) }
        if effects.levelChanged {
            control.levelChanged()
            nameCause()
        }
        if effects.hasReleased { released.advance() }
        if effects.shouldReclaim && !reclaimerIsBusy.load(ordering: .relaxed) { reclaimerGate.advance() }
    }

    /// FUSE names the thread that asked, which may be gone when its process is to be named.
    private func nameCause() {
        guard let thread = read({ $0.pressureCause?.pid }), let process = System.process(ofThread: thread)
        else { return }
        change { state in
            if state.pressureCause?.pid == thread { state.pressureCause?.pid = process }
        }
    }

    #if DEBUG
    /// How often the lock has been taken.
    var acquisitions: Int { state.withLock { $0.acquisitions } }
    #endif
}

/// What is to be done after a change, without the lock.
struct ChangeEffects: ~Copyable {
    var events: [Event] = []
    var levelChanged = false
    var hasReleased = false
    var shouldReclaim = false
}

/// A family of operations over the shared core.
protocol VolumeFamily: Sendable {
    var core: VolumeCore { get }
}

extension VolumeFamily {
    var access: StoreAccess { StoreAccess(core: core) }
    var openFiles: OpenFiles { OpenFiles(core: core) }
    var dataOrder: DataOrder { DataOrder(core: core) }
    var fileData: FileData { FileData(core: core) }
    var fileSpace: FileSpace { FileSpace(core: core) }
    var charges: ChargedBlocks { ChargedBlocks(core: core) }
    var purger: Purger { Purger(core: core) }
    var purgedNames: PurgedNames { PurgedNames(core: core) }
    var selections: PurgeSelections { PurgeSelections(core: core) }
}

extension VolumeFamily {
    var store: Store { core.store }
    var root: Node { core.root }
    var untouched: UntouchedTimes { core.untouched }
    var control: ControlTree { core.control }
    var clock: DeviceClock { core.clock }
    var events: EventLog { core.events }
    var hooks: VolumeHooks { core.hooks }
    var budget: DescriptorBudget { core.budget }
    var kind: BackingKind { core.kind }

    func read<Value, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.read(body) }

    @discardableResult
    func change<Value, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.change(body) }

    func isDense(_ node: Node) -> Bool { read { _ in node.isDense } }
}
