import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The state that all families of operations share: the store and its constants, the lock over everything that changes, and
/// the gates at which threads wait for a change.
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
    /// The number of the host's device that holds the container.
    let backingDevice: UInt64
    /// Whether the volume can detect that a passed-through file is still mapped.
    let tellsMappings: Bool
    /// Whether the store's file system keeps POSIX access control lists.
    let keepsAccessControlLists: Bool
    /// The longest time, in milliseconds, that a write waits for files being changed.
    let patience: Int64
    /// Guards the state, and with it everything that changes in nodes and handles, except a handle's mode. Never held across
    /// I/O, a reply or a notification.
    private let state: Mutex<VolumeState>
    /// Advances when the purge of a file, a whole purge or a hold with `isGoing` has ended, and when the reclaimer has looked
    /// for work.
    let purges = Gate()
    /// Advances when a reclaimable file is no longer held, or a held file is no longer reclaimable.
    let released = Gate()
    /// Held while a call chooses more victims than fit in one step. Locked before `state`.
    let makingMuchRoom = Mutex(())
    /// Held while the mode of an entry is changed, by chmod(2) or for a moment (`StoreAccess.asOwner`).
    let permissions = Mutex(())
    /// Held while isPurgeable of an entry is stored and noted. The kernel does not lock the inode for an ioctl that sets
    /// isPurgeable, so the ioctl may run beside a setxattr. Locked before `permissions`.
    let marking = Mutex(())
    /// Advances, if any thread waits, when a call has ended its turn with a file or a passed-through file has been closed.
    let turns = Gate()
    /// Whether any directory has, or had, a policy.
    let hasPolicies = Atomic<Bool>(false)
    /// The number of threads that wait at `turns`.
    let turnsAreAwaited = Atomic<Int>(0)
    /// Advances when the reclaimer may have work.
    let reclaimerGate = Gate()
    let reclaimerIsBusy = Atomic<Bool>(false)
    let reclaimerRuns = Atomic<Bool>(false)
    /// How many purges the reclaimer's thread has carried out.
    let reclaimerRounds = Atomic<Int>(0)
    /// The number of calls that wait for a batch of the reclaimer.
    let reclaimerFollowers = Atomic<Int>(0)
    /// Advances when the device has changed, so that something else may be due next, and when a thread wants due work done at
    /// once.
    let deviceGate = Gate()
    /// Advances when due work, or any change of the device, has been carried out.
    let deviceSettled = Gate()
    let deviceTimerRuns = Atomic<Bool>(false)
    /// Whether data of some class is out of reach in the device's present state. Changes with that state, under the lock;
    /// read without it, so that an unlocked device costs nothing.
    let restrictsData: Atomic<Bool>
    /// How often the device has entered a state in which the data of all classes is within reach.
    let unlocks = Atomic<Int>(0)
    /// How many drops of the pages of refused writes (`RefusedPages`) have been requested and not finished. `deviceSettled`
    /// advances after each.
    let refusedDrops = Atomic<Int>(0)
    /// How many changes of the lock state are being carried out, while the kernel may still have pages that are out of reach.
    /// `deviceSettled` advances after each.
    let lockStateChanges = Atomic<Int>(0)
    /// Whether the volume's threads are to end.
    let isEnding = Atomic<Bool>(false)
    /// Counts renames, removals and batches of purges that have begun. A name is right if none was under way when it was read
    /// and none has begun since.
    let moves = Atomic<UInt64>(0)
    let movesEnded = Atomic<UInt64>(0)
    /// Advances, under the lock, when purges have emptied files that keep their names.
    let filesEmptied = Atomic<Int>(0)
    let strays = Strays()
    /// The folders outside of every path to which folders that are purged as a whole are moved. Locked before `state`.
    let hiddenFolders = Mutex<[WholeFolder: Node]>([:])
    /// How many folders have been moved to hidden folders.
    let foldersMoved = Atomic<Int>(0)
    /// How many purges of a whole folder are under way that a command has named.
    let namedFolderPurges = Atomic<Int>(0)
    /// Retried calls by calling thread, with the files kept open for them. Locked before `state`.
    let retries = Mutex<[pid_t: Retries.Retry]>([:])
    /// Whether `retries` has any entry.
    let areRetries = Atomic<Bool>(false)
    let app = AppProcesses()
    let faults = Faults()
    /// How often the system has terminated the app.
    let appTerminations = Atomic<Int>(0)
    /// Calls that failed because the disk under the store has no room.
    let hostRefusals = Atomic<Int>(0)
    /// How many calls returned before the kernel had been told which names they purged or made.
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
        tellsMappings = mountpoint != nil && geteuid() == 0 && System.tellsMappings(in: store.container.raw)
        keepsAccessControlLists = Self.keepsAccessControlLists(store)
        control = ControlTree(owner: getuid(), group: getgid(), made: Instant(nanoseconds: System.now()))
        state = Mutex(VolumeState(device: device, descriptorLimit: budget.directories))
        state.withLock { $0[root].io.descriptor = store.container }
    }

    /// Closes the directories that are kept open. Nothing else would, because the nodes of a tree refer to each other.
    deinit {
        let hidden = hiddenFolders.withLock { Array($0.values) }
        state.withLock { state in
            for folder in hidden { state[folder].io.descriptor = nil }
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
    func read<Value: Sendable, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { (state) throws(Failure) in
            state.noteAcquisition()
            return try body(state)
        }
    }

    /// Changes the state; nothing else does. At the end, judges pressure. Once the lock is free, passes on new events and wakes
    /// threads that wait for the change.
    @discardableResult
    func change<Value: ~Copyable & Sendable, Failure: Error>(
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

    /// Brings all entries below changed directories in line with them, some entries at a time. The call that changed the
    /// directories returns after that, so its caller finds exact numbers.
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

    /// Notes the device's new lock state, in the same step as the change (`VolumeState.take`).
    func note(_ state: LockState) {
        restrictsData.store(state.restrictsData, ordering: .relaxed)
        if !state.restrictsData { unlocks.add(1, ordering: .relaxed) }
    }

    /// Replaces the thread in `pressureCause`, as FUSE reports it, with the thread's process. Does nothing if the thread no
    /// longer exists.
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
    /// How often the lock has been taken for a change.
    var changes: Int { state.withLock { $0.changes } }
    #endif
}

/// Work left after a change. All of it is done once the lock is free, except for the point on the curve, which is noted under
/// the lock.
struct ChangeEffects: ~Copyable {
    /// New events; nil if there are none.
    var events: [Event]?
    var ends: Ends
    /// Whether the reclaimer may have work.
    var shouldReclaim: Bool
    /// Whether the curve of the device's numbers gets a new point, under the lock.
    let isPointDue: Bool

    init(_ ends: Ends = [], _ end: EndOfChange? = nil, shouldReclaim: Bool = false) {
        (self.ends, self.shouldReclaim) = (ends, shouldReclaim)
        isPointDue = end?.isPointDue ?? false
    }

    mutating func note(_ endings: TreeEndings) {
        if endings.contains(.hold) { ends.insert(.hold) }
        if endings.contains(.purge) { ends.insert(.purge) }
    }

    /// Whether an event concerns storage, not only names. The curve gets a point at each such event, however small the
    /// change.
    var hasEventOfStorage: Bool { events?.contains { !$0.type.isOfApp } ?? false }

    var isNone: Bool { ends.isEmpty && events == nil && !shouldReclaim }

    /// Things that have ended, and that threads may have waited for.
    struct Ends: OptionSet {
        let rawValue: UInt8

        /// The hold on a reclaimable file.
        static var hold: Ends { Ends(rawValue: 1) }
        /// The purge of a file, a whole purge, or a hold with `isGoing`.
        static var purge: Ends { Ends(rawValue: 2) }
        /// A turn with a file.
        static var turn: Ends { Ends(rawValue: 4) }
        /// The stay at a pressure level: the device has reached another one.
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

    func read<Value: Sendable, Failure: Error>(
        _ body: (borrowing VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.read(body) }

    @discardableResult
    func change<Value: ~Copyable & Sendable, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value { try core.change(body) }

    func isDense(_ node: Node) -> Bool { read { $0[node].isDense } }

    /// Returns the entries of a directory at this moment. The lock is held for the same short time, however large the directory
    /// is.
    func entries(of directory: Node) -> [Name: Node] { read { $0[directory].entries } }
}
