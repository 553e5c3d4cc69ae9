import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The live file system over one store: a facade over the families of operations, which share
/// `VolumeCore`. It is independent of FUSE.
public final class Volume: VolumeFamily {
    let core: VolumeCore
    let keeper: StoreKeeper
    let threads = VolumeThreads()
    /// The problems that the scan found in the store.
    public let scan: StoreScan

    public var root: Node { core.root }
    /// Whether the store's file system keeps POSIX access control lists.
    public var keepsAccessControlLists: Bool { core.keepsAccessControlLists }
    public var control: ControlTree { core.control }
    public var events: EventLog { core.events }
    public var budget: DescriptorBudget { core.budget }
    var mountpoint: String? { core.mountpoint }

    public var controlFiles: ControlFiles {
        ControlFiles(core: core, keeper: keeper, deviceChanges: deviceChanges)
    }
    var deviceChanges: DeviceChanges { DeviceChanges(core: core, keeper: keeper) }
    public var directories: Directories { Directories(core: core) }
    public var extendedAttributes: ExtendedAttributes { ExtendedAttributes(core: core) }
    var reclaimer: Reclaimer { Reclaimer(core: core) }

    /// How many milliseconds a call that is short of room only because files are being changed waits for them at most.
    public static let patience: Int64 = 30_000

    /// Opens and scans: the ledger is right when this returns.
    public init(
        store: Store, device settings: Device, journal: Journal, mountpoint: String?,
        untouched: UntouchedTimes = [], hooks: VolumeHooks = VolumeHooks(), patience: Int64 = Volume.patience,
        progress: (Int) -> Void = { _ in }
    ) throws(StoreError) {
        let clock = DeviceClock(of: settings)
        let wakeKeeper = Gate()
        let events = EventLog(journal: journal, clock: clock) { wakeKeeper.advance() }
        do throws(Errno) {
            core = try VolumeCore(
                store: store, device: settings, clock: clock, events: events, mountpoint: mountpoint,
                untouched: untouched, hooks: hooks, patience: patience)
        } catch {
            throw StoreError("\(error)", path: store.path + "/container", advice: "Check that it can be read.")
        }
        keeper = StoreKeeper(core: core, journal: journal, wake: wakeKeeper, device: settings)
        scan = StoreScan(core: core)
        try scan.run(lastUses: try journal.lastUses(), progress: progress)
        change { $0.isScanned = true }
    }

    public var device: Device { read { $0.device } }
    public var capacity: Capacity { read { $0.capacity } }
}

/// What the volume needs from the code that serves it; the defaults are for a store that is not mounted.
public struct VolumeHooks: Sendable {
    /// The thread is about to do something slow: another one should take its place at the source
    /// of requests.
    public var beforeSlowWork: @Sendable () -> Void = {}
    /// Tells the kernel about purged names, on a thread of its own.
    public var announce: @Sendable (Announcement) -> Void = { $0.finish() }
    /// The kernel thread id of the thread that announces; 0 if there is none.
    public var announcer: @Sendable () -> pid_t = { 0 }
    /// Has the kernel ask again for the attributes of these nodes, which it knows by their nodeids. Called without any
    /// lock, and not by a thread that serves requests.
    public var forgetAttributes: @Sendable (_ nodes: [UInt64]) -> Void = { _ in }
    /// Reports a failure for which no caller is waiting.
    public var report: @Sendable (StoreError) -> Void = { _ in }

    public init() {}

    /// The kernel's nodeid of the root.
    static let rootID: UInt64 = 1
}

/// Purged names on their way to the kernel.
public struct Announcement: Sendable {
    public let removals: [Removal]
    /// Where the directory of one of them is now, for a name that was not found where it had been; nil if it has been
    /// removed.
    public let whereabouts: @Sendable (Removal) -> PurgedName?
    /// To be called once the kernel has been told about all of them.
    public let told: @Sendable () -> Void
    /// To be called once, after that, or before it if the kernel cannot be told in time (`isLate`): a caller waits for
    /// it. nil if none does.
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
    /// In a directory that the kernel does not know, it has cached no names, and there are no watchers.
    public let concernsKernel: Bool

    /// Its name and path.
    public var purgedName: PurgedName { PurgedName(name: name, path: path, isDirectory: node.isDirectory) }
    /// The kernel's nodeid of the directory.
    public var directoryID: UInt64 { path.count == 1 ? VolumeHooks.rootID : directory.address }
}

/// What the kernel is told. It holds no node, because releasing the last reference to one closes descriptors, which the
/// thread that tells the kernel does not have.
public struct PurgedName: Sendable {
    private let name: Name
    private let path: [Name]
    /// Whether rmdir(2) removes it, and not unlink(2).
    public let isDirectory: Bool

    init(name: Name, path: [Name], isDirectory: Bool) {
        self.name = name
        self.path = path
        self.isDirectory = isDirectory
    }

    /// The path of the directory, below the mount point.
    public var directoryPath: [UInt8] { Array(path.dropLast()).bytes }
    public func withName<Result>(_ body: (CName) throws(Errno) -> Result) throws(Errno) -> Result {
        try name.withCName(body)
    }
}

/// File systems that need special treatment for an exact block count (docs/INTERNALS.md, Charged blocks).
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

/// Access times that reading does not change (mount(8): noatime, nodiratime).
public struct UntouchedTimes: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let files = UntouchedTimes(rawValue: 1)
    public static let directories = UntouchedTimes(rawValue: 2)

    /// For the open(2) of a backing file.
    var fileFlags: Int32 { contains(.files) ? System.openNoAccessTime : 0 }
    var directoryFlags: Int32 { contains(.directories) ? System.openNoAccessTime : 0 }
}
