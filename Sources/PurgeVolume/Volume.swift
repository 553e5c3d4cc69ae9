import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The live file system over one store: the tree, the ledger, and the operations on them, by
/// family in `Volume+….swift`. Knows nothing of FUSE.
public final class Volume: Sendable {
    let store: Store
    let mountpoint: String?
    let untouched: UntouchedTimes
    public let root: Node
    public let control: ControlTree
    public let events: EventLog
    let journal: Journal
    /// Guards the state and every Node and Handle. Never held across I/O, a reply or a notification.
    let state: Mutex<VolumeState>
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
    let hooks: VolumeHooks
    /// Wakes the thread that keeps the journal: to end, or since somebody waits for it.
    let journalGate = Gate()
    /// Held while device.json is written, so that an older state never replaces a newer one.
    let savingSettings = Mutex(())
    /// What device.json holds.
    let savedDevice: Mutex<Device>
    /// Whether it has been reported that device.json cannot be written.
    let settingsAreFailing = Atomic<Bool>(false)
    /// Whether the journal's failure has been reported.
    let journalIsFailing = Atomic<Bool>(false)
    let threads = Mutex<[WorkThread]>([])
    let findings = Mutex(ScanFindings())
    /// Renames and unlinks: a name that was read while none was under way, and since when none
    /// has begun, is right.
    let moves = Atomic<UInt64>(0)
    let movesEnded = Atomic<UInt64>(0)
    let isEnding = Atomic<Bool>(false)
    let reclaimerIsBusy = Atomic<Bool>(false)
    /// Calls that failed because the disk under the store has no room.
    let hostRefusals = Atomic<Int>(0)
    /// Calls that returned before the kernel had been told of the names that they had purged.
    let lateAnnouncements = Atomic<Int>(0)
    /// Whether the store's file system keeps POSIX access control lists.
    public let keepsAccessControlLists: Bool
    let kind: BackingKind
    /// The number of the device that the container lies on.
    let backingDevice: UInt64
    /// Whether a file that has been passed through can be asked whether it is still mapped.
    let tellsMappings: Bool
    public let budget: DescriptorBudget
    /// Milliseconds for which a write waits for files that are being changed.
    let patience: Int64

    /// Opens and scans: the ledger is right when this returns.
    public init(
        store: Store, device settings: Device, journal: Journal, mountpoint: String?,
        untouched: UntouchedTimes = [], hooks: VolumeHooks = VolumeHooks(), patience: Int64 = Volume.patience,
        progress: (Int) -> Void = { _ in }
    ) throws(StoreError) {
        self.patience = patience
        self.store = store
        self.journal = journal
        self.mountpoint = mountpoint
        self.untouched = untouched
        self.hooks = hooks
        events = EventLog(journal: journal) { [journalGate] in journalGate.advance() }
        budget = DescriptorBudget(limit: System.descriptorLimit())
        savedDevice = Mutex(settings.asSaved)
        state = Mutex(VolumeState(device: settings, descriptorLimit: budget.directories))
        do throws(Errno) {
            kind = BackingKind(fileSystemType: try System.fileSystemType(store.container.raw))
            let status = try System.status(store.container.raw)
            backingDevice = UInt64(status.st_dev)
            root = Node(inode: UInt64(status.st_ino), kind: .directory, parent: nil, name: Name(""))
            keepsAccessControlLists = Self.keepsAccessControlLists(store)
            tellsMappings = mountpoint != nil && geteuid() == 0 && System.tellsMappings(in: store.container.raw)
        } catch {
            throw StoreError("\(error)", path: store.path + "/container", advice: "Check that it can be read.")
        }
        control = ControlTree(owner: getuid(), group: getgid())
        root.ensuredIO.descriptor = store.container
        try scan(progress: progress)
        change { _ in }
    }

    private static func keepsAccessControlLists(_ store: Store) -> Bool {
        do throws(Errno) {
            _ = try store.attribute(of: store.container.raw, nil, "system.posix_acl_access")
            return true
        } catch { return false }
    }

    /// Every change of the ledger goes through here: judges pressure, hands on the events that
    /// came up, and wakes the reclaimer when there is work for it.
    @discardableResult
    func change<Value, Failure: Error>(
        _ body: (inout VolumeState) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        var shouldWake = false
        var levelChanged = false
        var hasReleased = false
        var outbox: [Event] = []
        let result = state.withLock { (state) -> Result<Value, Failure> in
            let result: Result<Value, Failure>
            let (releases, levelChanges) = (state.releases, state.device.levelChanges)
            do throws(Failure) { result = .success(try body(&state)) } catch { result = .failure(error) }
            hasReleased = state.releases != releases
            state.judge()
            levelChanged = state.device.levelChanges != levelChanges
            state.actor = nil
            shouldWake = state.shouldReclaim
            if !state.outbox.isEmpty { swap(&outbox, &state.outbox) }
            return result
        }
        if !outbox.isEmpty { events.append(outbox) }
        if levelChanged {
            control.levelChanged()
            nameCause()
        }
        if hasReleased { released.advance() }
        if shouldWake && !reclaimerIsBusy.load(ordering: .relaxed) { reclaimerGate.advance() }
        return try result.get()
    }

    /// FUSE names the thread that asked, which may be gone when its process is to be named.
    private func nameCause() {
        guard let thread = state.withLock({ $0.pressureCause?.pid }), let process = System.process(ofThread: thread)
        else { return }
        state.withLock { state in
            if state.pressureCause?.pid == thread { state.pressureCause?.pid = process }
        }
    }

    public var device: Device { state.withLock { $0.device } }
    public var capacity: Capacity { state.withLock { $0.capacity } }

}

/// What the volume asks of whoever serves it; the defaults serve a store that is not mounted.
public struct VolumeHooks: Sendable {
    /// The thread is about to do something slow: another one should take its place at the source
    /// of requests.
    public var beforeSlowWork: @Sendable () -> Void = {}
    /// Tells the kernel of purged names, from a thread of its own.
    public var announce: @Sendable (Announcement) -> Void = { $0.finish() }
    /// The thread that announces, by its kernel thread id; 0 where there is none.
    public var announcer: @Sendable () -> pid_t = { 0 }
    /// Something failed that no caller is waiting for.
    public var report: @Sendable (StoreError) -> Void = { _ in }

    public init() {}
}

/// Purged names on their way to the kernel.
public struct Announcement: Sendable {
    public let removals: [Removal]
    /// Where the directory of one of them is now, for a name that was not found where it had been; nil
    /// when it has been removed.
    public let whereabouts: @Sendable (Removal) -> PurgedName?
    /// To be called once the kernel has been told of all of them.
    public let told: @Sendable () -> Void
    /// To be called once, after that, or before it where the kernel cannot be told in time (`isLate`):
    /// somebody waits for it. nil where nobody does.
    public let answer: (@Sendable (_ isLate: Bool) -> Void)?

    /// The kernel has been told.
    public func finish() {
        told()
        answer?(false)
    }
}

/// A purged name.
public struct Removal: Sendable {
    public let directory: Node
    public let node: Node
    let name: Name
    let path: [Name]
    /// Of a directory that the kernel does not know it remembers no name, and nobody watches it.
    public let concernsKernel: Bool

    /// Its name and place.
    public var purgedName: PurgedName { PurgedName(name: name, path: path) }
    /// The kernel's nodeid of the directory.
    public var directoryID: UInt64 { path.count == 1 ? 1 : directory.address }
}

/// What the kernel is told of. It holds no node: the last reference to one closes descriptors, and the thread
/// that tells the kernel has not got them.
public struct PurgedName: Sendable {
    private let name: Name
    private let path: [Name]

    init(name: Name, path: [Name]) {
        self.name = name
        self.path = path
    }

    /// Path of the directory, below the mount point.
    public var directoryPath: [UInt8] { Array(path.dropLast()).bytes }
    public func withName<Result>(_ body: (CName) throws(Errno) -> Result) throws(Errno) -> Result {
        try name.withCName(body)
    }
}

/// File systems whose ways the exact block count depends on (docs/INTERNALS.md, Charged blocks).
enum BackingKind: Sendable {
    case xfs, btrfs, overlay, other

    init(fileSystemType: Int64) {
        switch fileSystemType {
        case 0x5846_5342: self = .xfs
        case 0x9123_683E: self = .btrfs
        case 0x794C_7630: self = .overlay
        default: self = .other
        }
    }
}

/// Access times that reading does not move (mount(8): noatime, nodiratime).
public struct UntouchedTimes: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let files = UntouchedTimes(rawValue: 1)
    public static let directories = UntouchedTimes(rawValue: 2)

    /// For the open(2) of a backing file.
    var fileFlags: Int32 { contains(.files) ? System.openNoAccessTime : 0 }
    var directoryFlags: Int32 { contains(.directories) ? System.openNoAccessTime : 0 }
}
