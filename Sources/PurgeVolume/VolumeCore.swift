import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// What all families of operations share: the store, what does not change about it, the lock over everything that does,
/// and the gates at which threads wait for a change.
final class VolumeCore: Sendable {
    let store: Store
    let mountpoint: String?
    let untouched: UntouchedTimes
    let root: Node
    let control: ControlTree
    let clock: DeviceClock
    let events: EventLog
    let port: any KernelPort
    let budget: DescriptorBudget
    let kind: BackingKind
    /// The number of the device on which the container is.
    let backingDevice: UInt64
    /// Whether it can be detected that a file that was passed through is still mapped.
    let tellsMappings: Bool
    /// Whether the store's file system keeps POSIX access control lists.
    let keepsAccessControlLists: Bool
    /// How many milliseconds a write waits for files that are being changed.
    let patience: Int64
    /// Guards the state, and with it what changes of every node and handle, to which there is no other way. Never held across
    /// I/O, a reply or a notification.
    private let state: Mutex<VolumeState>
    /// Advances when the purge of a file has ended, when a whole purge has, and when the reclaimer has looked for work.
    let purges = Gate()
    /// Advances when a reclaimable file is no longer held.
    let released = Gate()
    /// Held while more victims are chosen than one step takes; comes before `state`.
    let makingMuchRoom = Mutex(())
    /// Held while a directory's permissions differ from what its owner has set.
    let permissions = Mutex(())
    /// Held while isPurgeable of an entry is stored and noted: an ioctl that sets it comes without the kernel's lock of the
    /// inode, and so beside a setxattr. Comes before `permissions`.
    let marking = Mutex(())
    /// Advances when a call has returned its turn with a file, or a file that was passed through has been closed, if
    /// any thread waits.
    let turns = Gate()
    /// Whether any directory has, or had, a policy.
    let hasPolicies = Atomic<Bool>(false)
    /// Whether the rank of files in `tmp` depends on the time. It changes with the profile, under the lock.
    let agesTemporary: Atomic<Bool>
    /// How many threads wait at `turns`.
    let turnsAreAwaited = Atomic<Int>(0)
    /// Advances when the reclaimer may have work.
    let reclaimerGate = Gate()
    let reclaimerIsBusy = Atomic<Bool>(false)
    let reclaimerRuns = Atomic<Bool>(false)
    /// How many purges its thread has carried out.
    let reclaimerRounds = Atomic<Int>(0)
    /// Advances when the device has changed, so that something else may be due next, and when that is to be carried out.
    let deviceGate = Gate()
    /// Advances when what was due has been carried out.
    let deviceSettled = Gate()
    let deviceTimerRuns = Atomic<Bool>(false)
    /// Whether the device is in a state in which data of some class is out of reach. It changes with the state, under
    /// the lock, and is read without it, so that an unlocked device costs nothing.
    let restrictsData: Atomic<Bool>
    /// How often the data of all classes has come within reach.
    let unlocks = Atomic<Int>(0)
    /// How many files have pages of refused writes that the kernel has not dropped yet. `deviceSettled` advances when it has.
    let refusedDrops = Atomic<Int>(0)
    /// How many changes of the lock state are being carried out, while the kernel may still have pages that are out of
    /// reach. `deviceSettled` advances when one is done.
    let lockStateChanges = Atomic<Int>(0)
    /// Whether the threads of the volume are to end.
    let isEnding = Atomic<Bool>(false)
    /// Renames and unlinks: a name that was read while none was under way, and since when none
    /// has begun, is right.
    let moves = Atomic<UInt64>(0)
    let movesEnded = Atomic<UInt64>(0)
    /// Advances, under the lock, when files have been emptied that keep their names.
    let filesEmptied = Atomic<Int>(0)
    let strays = Strays()
    /// By the calling thread, with what is kept open for it; comes before `state`.
    let retries = Mutex<[pid_t: Retries.Retry]>([:])
    /// Whether there are any.
    let areRetries = Atomic<Bool>(false)
    /// Calls that failed because the disk under the store has no room.
    let hostRefusals = Atomic<Int>(0)
    /// How many calls returned before the kernel had been told about the names that they had purged or made.
    let lateAnnouncements = Atomic<Int>(0)

    init(
        store: Store, device: Device, clock: DeviceClock, events: EventLog, mountpoint: String?,
        untouched: UntouchedTimes,
        port: any KernelPort, patience: Int64
    ) throws(Errno) {
        self.store = store
        self.mountpoint = mountpoint
        self.untouched = untouched
        self.clock = clock
        self.events = events
        self.port = port
        self.patience = patience
        budget = DescriptorBudget(limit: System.descriptorLimit())
        kind = BackingKind(fileSystemType: try System.fileSystemType(store.container.raw))
        let status = try System.status(store.container.raw)
        backingDevice = UInt64(status.st_dev)
        root = Node(inode: UInt64(status.st_ino), kind: .directory, name: Name(""))
        restrictsData = Atomic(device.state.restrictsData)
        agesTemporary = Atomic(device.profile.agesTemporary)
        tellsMappings = mountpoint != nil && geteuid() == 0 && System.tellsMappings(in: store.container.raw)
        keepsAccessControlLists = Self.keepsAccessControlLists(store)
        control = ControlTree(owner: getuid(), group: getgid(), made: Instant(nanoseconds: System.now()))
        state = Mutex(VolumeState(device: device, descriptorLimit: budget.directories))
        state.withLock { $0[root].io.descriptor = store.container }
    }

    /// Nodes of a tree refer to each other, so nothing else would close the directories that are kept open.
    deinit {
        state.withLock { state in
            state.descriptors.removeAll(in: &state.tree)
            state[root].io.descriptor = nil
        }
    }

    private static func keepsAccessControlLists(_ store: Store) -> Bool {
        do throws(Errno) {
            _ = try store.attribute(of: store.container.raw, nil, "system.posix_acl_access")
            return true
        } catch { return false }
    }

    /// Reads what the lock guards. Nothing can change, so pressure is not judged.
    func read<Value, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { (state) throws(Failure) in
            state.noteAcquisition()
            return try body(state)
        }
    }

    /// The one way to change what the lock guards. At the end pressure is judged; once the lock is free, new events are
    /// passed on, and threads that wait for the change are woken.
    @discardableResult
    func change<Value: ~Copyable, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var effects = ChangeEffects()
        let result = state.withLock { (state) -> Result<Value, Failure> in
            state.noteAcquisition(isChange: true)
            let result: Result<Value, Failure>
            do throws(Failure) { result = .success(try body(&state)) } catch { result = .failure(error) }
            effects = state.endChange()
            if effects.isPointDue || effects.hasEventOfStorage { notePoint(&state) }
            return result
        }
        if !effects.isNone { carryOut(effects) }
        return try result.get()
    }

    private func notePoint(_ state: inout VolumeState) {
        guard state.isScanned else { return }
        state.tree.accounts.notePoint(at: clock.now, real: Instant(nanoseconds: System.now()))
    }

    /// If directories are among the nodes that have changed: brings everything below in line with them, for some entries at
    /// a time. Their call returns after that, so its caller finds exact numbers.
    func finishPlacing(below nodes: [Node?]) {
        guard nodes.contains(where: { $0?.isDirectory ?? false }) else { return }
        while read({ !$0.tree.isPlaced }) {
            port.expectSlowWork()
            change { $0.tree.place() }
        }
    }

    private func carryOut(_ effects: consuming ChangeEffects) {
        if let new = effects.events { events.append(new) }
        if effects.ends.contains(.level) {
            control.levelChanged()
            nameCause()
        }
        if effects.ends.contains(.hold) { released.advance() }
        if effects.ends.contains(.purge) { purges.advance() }
        if effects.ends.contains(.turn), turnsAreAwaited.load(ordering: .sequentiallyConsistent) > 0 { turns.advance() }
        if effects.shouldReclaim, !reclaimerIsBusy.load(ordering: .relaxed) { reclaimerGate.advance() }
    }

    /// The lock state of the device has changed, in the same step (`VolumeState.take`).
    func note(_ state: LockState) {
        restrictsData.store(state.restrictsData, ordering: .relaxed)
        if !state.restrictsData { unlocks.add(1, ordering: .relaxed) }
    }

    /// FUSE reports the calling thread, which may have ended when its process is to be named.
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
    /// How often that was for a change.
    var changes: Int { state.withLock { $0.changes } }
    #endif
}

/// What must be done after a change, without the lock.
struct ChangeEffects: ~Copyable {
    /// New ones, if there are any.
    var events: [Event]?
    var ends: Ends
    /// The reclaimer may have work.
    var shouldReclaim: Bool
    /// The curve of the device's numbers is to have a point, under the lock.
    let isPointDue: Bool

    init(_ ends: Ends = [], _ end: EndOfChange? = nil, shouldReclaim: Bool = false) {
        (self.ends, self.shouldReclaim) = (ends, shouldReclaim)
        isPointDue = end?.isPointDue ?? false
    }

    mutating func note(_ endings: TreeEndings) {
        if endings.contains(.hold) { ends.insert(.hold) }
        if endings.contains(.purge) { ends.insert(.purge) }
    }

    /// However little it has changed, the curve has a point at an event that is not one of names alone.
    var hasEventOfStorage: Bool { events?.contains { !$0.type.isOfApp } ?? false }

    var isNone: Bool { ends.isEmpty && events == nil && !shouldReclaim }

    /// What has ended, and threads may have waited for.
    struct Ends: OptionSet {
        let rawValue: UInt8

        /// The hold on a reclaimable file.
        static var hold: Ends { Ends(rawValue: 1) }
        /// The purge of a file, or a whole one.
        static var purge: Ends { Ends(rawValue: 2) }
        /// A turn with a file.
        static var turn: Ends { Ends(rawValue: 4) }
        /// The time at a level.
        static var level: Ends { Ends(rawValue: 8) }
    }
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
    var protection: DataProtection { DataProtection(core: core) }
    var refusedPages: RefusedPages { RefusedPages(core: core) }
    var charges: ChargedBlocks { ChargedBlocks(core: core) }
    var purger: Purger { Purger(core: core) }
    var purgedNames: PurgedNames { PurgedNames(core: core) }
    var policies: DirectoryPolicies { DirectoryPolicies(core: core) }
    var containerFolders: ContainerFolders { ContainerFolders(core: core) }
    var selections: PurgeSelections { PurgeSelections(core: core) }
    var lookups: Lookups { Lookups(core: core) }
    var names: NameChanges { NameChanges(core: core) }
    var creation: FileCreation { FileCreation(core: core) }
    var retries: Retries { Retries(core: core) }
    var extendedAttributes: ExtendedAttributes { ExtendedAttributes(core: core) }
}

extension VolumeFamily {
    var store: Store { core.store }
    var root: Node { core.root }
    var untouched: UntouchedTimes { core.untouched }
    var control: ControlTree { core.control }
    var clock: DeviceClock { core.clock }
    var events: EventLog { core.events }
    var port: any KernelPort { core.port }
    var budget: DescriptorBudget { core.budget }
    var kind: BackingKind { core.kind }

    func read<Value, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.read(body) }

    @discardableResult
    func change<Value: ~Copyable, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.change(body) }

    func isDense(_ node: Node) -> Bool { read { $0[node].isDense } }

    /// What is in a directory at this moment. The lock is held only to get the value, however much that is.
    func entries(of directory: Node) -> [Name: Node] { read { $0[directory].entries } }
}
