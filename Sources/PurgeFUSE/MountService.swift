import CFuse
import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// Serves one mount from this process.
public enum MountService {
    /// Opens the store, mounts, and calls `whenReady` once the mount is ready. Returns after the unmount, for example by
    /// `fusermount3 -u` or a signal of `SignalSet.ending` to this process.
    public static func serve(_ request: MountRequest, whenReady: () -> Void) throws(StoreError) {
        EndSignals.block()
        System.raiseDescriptorLimit()  // each open file of the app takes one of the daemon's descriptors
        let mountpoint = try resolve(request.mountpoint)
        let store = try open(request)
        var isReady = false
        do throws(StoreError) {
            try serve(request, store, at: mountpoint) {
                isReady = true
                whenReady()
            }
        } catch {
            if !isReady || request.isAwaited() { store.withdraw() }
            throw error
        }
    }

    /// Opens the store. An unwritable store is opened for reading if the mount is read-only.
    private static func open(_ request: MountRequest) throws(StoreError) -> Store {
        do throws(StoreError) {
            return try Store.open(
                request.storePath, creating: true, start: request.start, expected: request.expectedStore)
        } catch {
            guard error.isForLackOfWriting, request.isReadOnly else { throw error }
            return try Store.openForReading(request.storePath, expected: request.expectedStore)
        }
    }

    private static func serve(
        _ request: MountRequest, _ store: Store, at mountpoint: String, whenReady: () -> Void
    ) throws(StoreError) {
        handleCrashes(store)
        let journal =
            try store.isForReading
            ? Journal.openForReading(in: store)
            : Journal.open(in: store, toleratingFullDisk: true, replacingDamaged: true)
        // Runs even if the mount fails, because closing the journal frees its reserve on the disk.
        defer { if !request.isStoreDiscarded { journal.close() } }
        if let failure = journal.openingFailure { note("purgefs: warning: \(failure)") }
        let known = try installed(loadSettings(request, store, journal), request)
        var settings = known
        try settings.apply(request.settings)
        warnOfFullDevice(settings, request.settings)
        if !store.isForReading { try store.makePrivate() }

        let kernel = Kernel(mountpoint: mountpoint)
        let volume = try Volume(
            store: store, device: settings, journal: journal, mountpoint: mountpoint,
            untouched: request.untouchedTimes, port: kernel, progress: ScanProgress().report)
        for warning in volume.unreportedDamage { note("purgefs: warning: \(warning)") }
        for warning in volume.scan.takeRecordWarnings() { note("purgefs: warning: \(warning)") }
        if request.warnsOfSmallDisk { warnOfSmallDisk(volume, store) }
        let server = Server(volume: volume, kernel: kernel, request)
        do throws(Errno) {
            try kernel.start()
            try server.commands.start(name: "commands")
        } catch { throw StoreError("no thread could be started: \(error)", path: mountpoint, advice: "See: ulimit -u") }
        if request.isReadOnly { warnOfUnfinishedWork(volume, store) }
        guard interruption == nil else { throw .interrupted(store.path) }
        let (channel, rings) = try mount(request, at: mountpoint, store, server)
        do throws(StoreError) {
            try save(volume, settings, insteadOf: known, in: store, isReadOnly: request.isReadOnly)
        } catch {
            fuse_session_unmount(channel.session)
            throw error
        }
        try run(channel, server, rings, mountpoint, request, whenReady)
    }

    /// Returns the store's settings. If the mount is not read-only, a separate volume first finishes interrupted work. That
    /// volume has none of the new settings, so they are not saved if the mount fails.
    private static func loadSettings(
        _ request: MountRequest, _ store: Store, _ journal: Journal
    ) throws(StoreError) -> Device {
        let known = try store.loadSettings()
        guard known.unfinished != nil, !request.isReadOnly else { return known }
        let volume = try Volume(
            store: store, device: known, journal: journal, mountpoint: nil, untouched: request.untouchedTimes,
            port: NoKernel())
        try volume.finishInterruptedWork()
        return try store.loadSettings()
    }

    /// The signal that asked this process to end; nil if none has arrived.
    public static var interruption: Int32? { EndSignals.received }

    /// Saves the settings once the mount exists, because a failed mount must leave the settings unchanged. Also saves changes
    /// to the device that have become due meanwhile.
    private static func save(
        _ volume: Volume, _ settings: Device, insteadOf known: Device, in store: Store, isReadOnly: Bool
    ) throws(StoreError) {
        if store.isForReading {
            if settings == known { return }
            throw StoreError(
                "the store cannot be written, so settings cannot be kept in it", path: store.path,
                advice: "Leave out --total and other settings, or copy the store to a writable place.")
        }
        var kept = 0
        if settings.protection != known.protection, store.before.hasSettings {
            if isReadOnly {
                throw StoreError(
                    "the default class cannot change in a mount with -o ro: it is stored with each file",
                    path: store.path,
                    advice: "Leave --protection or -o ro out.")
            }
            kept = try volume.scan.keepClasses(of: known.protection)
        }
        do throws(StoreError) {
            try store.saveSettings(volume.device)
        } catch {
            // On a full disk, deleting files through a mount is the way out. So the mount continues unless it was given new
            // settings.
            guard settings == known else {
                var failure = error
                if kept > 0 { failure.advice += " " + StoreScan.unchanged(storedWith: kept) }
                throw failure
            }
            note("purgefs: warning: \(error)")
        }
    }

    private static func resolve(_ mountpoint: String) throws(StoreError) -> String {
        do throws(Errno) {
            return try System.resolved(mountpoint)
        } catch {
            throw StoreError(
                "the mount point cannot be used: \(error)", path: mountpoint,
                advice: "It must be an existing, empty directory: mkdir -p \(ShellWord.of(mountpoint))")
        }
    }

    static func note(_ message: String) {
        do throws(Errno) {
            _ = try System.write(STDERR_FILENO, Array((message + "\n").utf8))
        } catch {}  // there is no other place to report it
    }
}
