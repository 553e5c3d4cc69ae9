import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// The live file system over one store: a facade over the families of operations, which share `VolumeCore`. It does not
/// depend on FUSE.
public final class Volume: VolumeFamily {
    let core: VolumeCore
    let keeper: StoreKeeper
    let threads = VolumeThreads()
    /// The scan of the store at mount, with the problems that it found.
    public let scan: StoreScan

    public var root: Node { core.root }
    /// Whether the store's file system keeps POSIX access control lists.
    public var keepsAccessControlLists: Bool { core.keepsAccessControlLists }
    /// Whether the store is on overlayfs, itself a file system over another one.
    public var isOnOverlay: Bool { core.kind == .overlay }
    public var events: EventLog { core.events }
    public var budget: DescriptorBudget { core.budget }

    public var controlFiles: ControlFiles {
        ControlFiles(core: core, keeper: keeper, deviceChanges: deviceChanges, deviceTimer: deviceTimer)
    }
    var deviceChanges: DeviceChanges { DeviceChanges(core: core, keeper: keeper) }
    var deviceTimer: DeviceTimer { DeviceTimer(core: core, deviceChanges: deviceChanges) }
    public var directories: Directories { Directories(core: core) }
    public var extendedAttributes: ExtendedAttributes { ExtendedAttributes(core: core) }
    public var openFileMarks: OpenFileMarks { OpenFileMarks(core: core) }
    /// Whether calls can meet a fault. Asked for each request.
    public var areFaultsSet: Bool { core.faults.isWatching }
    public var faultyCalls: FaultyCalls { FaultyCalls(core: core, deviceChanges: deviceChanges) }
    public var retries: Retries { Retries(core: core) }
    /// Whether `retries` may keep a file open for any call.
    public var areRetries: Bool { core.areRetries.load(ordering: .acquiring) }
    var reclaimer: Reclaimer { Reclaimer(core: core) }

    /// The longest time, in milliseconds, that a call waits for files being changed, if no others can give it room.
    public static let patience: Int64 = 30_000

    /// Scans the store, which is already open. The ledger is correct when this returns.
    public init(
        store: Store, device settings: Device, journal: Journal, mountpoint: String?,
        untouched: UntouchedTimes = [], port: any KernelPort, patience: Int64 = Volume.patience,
        progress: (Int) -> Void = { _ in }
    ) throws(StoreError) {
        let clock = DeviceClock(of: settings)
        let wakeKeeper = Gate()
        let events = EventLog(journal: journal, clock: clock, isRecording: settings.journal.recordsEvents) {
            wakeKeeper.advance()
        }
        do throws(Errno) {
            core = try VolumeCore(
                store: store, device: settings, clock: clock, events: events, mountpoint: mountpoint,
                untouched: untouched, port: port, patience: patience)
        } catch {
            throw StoreError("\(error)", path: store.path + "/container", advice: "Check that it can be read.")
        }
        keeper = StoreKeeper(core: core, journal: journal, wake: wakeKeeper, device: settings)
        scan = StoreScan(core: core)
        if !store.isForReading {
            // What cannot be removed is out of reach, and not counted.
            do { try store.purged.remove(WholeFolder.allCases.map(\.hiddenName)) } catch { port.report(error) }
        }
        try scan.run(lastUses: try journal.lastUses(), progress: progress)
        change { state in
            state.isScanned = true
            // No further effect needs to be carried out: the change is saved with the settings of this mount, or soon after,
            // and the kernel has nothing cached yet.
            _ = deviceChanges.step(&state) { device, now in
                // With no day yet, this only begins to count days; otherwise the ageing thread checks tmp as soon as it runs.
                device.proceed(to: now) + (device.ageing.day == nil ? device.age(to: now) : [])
            }
        }
    }

    /// Finishes work that an earlier mount or command began and did not finish. Called before anyone uses this volume. Does
    /// nothing if the store is open only for reading. The events of that work are in the journal afterwards.
    public func finishInterruptedWork() throws(StoreError) {
        try deviceChanges.finishInterrupted()
        events.flush()
    }

    public var device: Device { read { $0.device } }
}
