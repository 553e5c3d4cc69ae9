import CFuse
import CFuseShims
import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume
import Synchronization

/// Serves one mount from this process.
public enum MountService {
    /// Opens the store, mounts, calls `whenReady` once the mount is ready, and returns when it has
    /// been unmounted (fusermount3 -u, or one of `SignalSet.ending` to this process).
    public static func serve(_ request: MountRequest, whenReady: () -> Void) throws(StoreError) {
        EndSignals.block()
        System.raiseDescriptorLimit()  // each open file of the app is one of ours
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

    /// A store that cannot be written can still be read.
    private static func open(_ request: MountRequest) throws(StoreError) -> Store {
        do throws(StoreError) {
            return try Store.open(request.storePath, creating: true, start: request.start)
        } catch {
            guard error.isForLackOfWriting, request.isReadOnly else { throw error }
            return try Store.openForReading(request.storePath)
        }
    }

    private static func serve(
        _ request: MountRequest, _ store: Store, at mountpoint: String, whenReady: () -> Void
    ) throws(StoreError) {
        handleCrashes(store)
        let known = try store.loadSettings()
        var settings = known
        try settings.apply(request.settings)
        warnOfFullDevice(settings, request.settings)
        let journal =
            try store.isForReading
            ? Journal.openForReading(in: store) : Journal.open(in: store, toleratingFullDisk: true)
        // Also if the mount fails: the room that it has reserved on the disk is free again.
        defer { journal.close() }
        if let failure = journal.openingFailure { note("purgefs: warning: \(failure)") }
        if !store.isForReading { try store.makePrivate() }

        let notifier = Notifier(mountpoint: mountpoint)
        let volume = try Volume(
            store: store, device: settings, journal: journal, mountpoint: mountpoint,
            untouched: request.untouched, hooks: hooks(notifier), progress: ScanProgress().report)
        for warning in volume.scan.takeRecordWarnings() { note("purgefs: warning: \(warning)") }
        if request.warnsOfSmallDisk { warnOfSmallDisk(volume, store) }
        let server = Server(volume: volume, notifier: notifier, commands: WorkQueue())
        do throws(Errno) {
            try notifier.start()
            try server.commands.start(name: "commands")
        } catch { throw StoreError("no thread could be started: \(error)", path: mountpoint, advice: "See: ulimit -u") }
        guard interruption == nil else { throw .interrupted(store.path) }
        let channel = try mount(request, at: mountpoint, store, server)
        do throws(StoreError) {
            try save(settings, insteadOf: known, in: store)
        } catch {
            fuse_session_unmount(channel.session)
            throw error
        }
        try run(channel, server, mountpoint, request, whenReady)
    }

    /// Reports that the last daemon has crashed, and lets this one do so if it crashes.
    private static func handleCrashes(_ store: Store) {
        if let words = store.takeLastWords() {
            note(
                "purgefs: warning: \(store.path): its last daemon crashed; last-words.old.txt there says more:\n  \(words)"
            )
        }
        do throws(Errno) {
            try System.leaveLastWords(at: store.lastWordsPath, owner: System.status(store.directory.raw).st_uid)
        } catch {
            note("purgefs: warning: if the daemon crashes, it will not be able to say why: \(error)")
        }
    }

    /// The signal that has told this process to end.
    public static var interruption: Int32? { EndSignals.received }

    /// Not before the mount is ready: a mount that fails leaves the settings as they were.
    private static func save(
        _ settings: Device, insteadOf known: Device, in store: Store
    ) throws(StoreError) {
        if store.isForReading {
            if settings == known { return }
            throw StoreError(
                "the store cannot be written, so settings cannot be kept in it", path: store.path,
                advice: "Leave out --total and other settings, or copy the store to a writable place.")
        }
        do throws(StoreError) {
            try store.saveSettings(settings)
        } catch {
            // On a full disk files can only be deleted through a mount.
            guard settings == known else { throw error }
            note("purgefs: warning: \(error)")
        }
    }

    private static func hooks(_ notifier: Notifier) -> VolumeHooks {
        var hooks = VolumeHooks()
        hooks.beforeSlowWork = { Worker.willBeSlow() }
        hooks.announce = { notifier.announce($0) }
        hooks.announcer = { notifier.announcer }
        hooks.forgetAttributes = { notifier.forgetAttributes(of: $0) }
        hooks.report = { note("purgefs: error: \($0)") }
        return hooks
    }

    private static func resolve(_ mountpoint: String) throws(StoreError) -> String {
        do throws(Errno) {
            return try System.resolved(mountpoint)
        } catch {
            throw StoreError(
                "the mount point cannot be used: \(error)", path: mountpoint,
                advice: "It must be an existing, empty directory: mkdir -p \(mountpoint)")
        }
    }

    private static func mount(
        _ request: MountRequest, at mountpoint: String, _ store: Store, _ server: Server
    ) throws(StoreError) -> Channel {
        let name = store.absolutePath.replacing("\\", with: "\\\\").replacing(",", with: "\\,")
        var options = ["fsname=\(name)", "subtype=purgefs", "default_permissions"] + request.options
        if request.allowsOther && !options.contains("allow_other") { options.append("allow_other") }
        let words = ["purgefs", "-o", options.joined(separator: ",")]
        var operations = fuse_lowlevel_ops.volume()
        // Unmanaged: never released, since the callbacks have no other reference to the server, and the process ends
        // with its one mount.
        let userdata = Unmanaged.passRetained(server).toOpaque()
        guard
            let session = System.withPointers(
                words.map({ Array($0.utf8CString) }),
                { arguments in
                    shim_session_new(3, arguments, &operations, MemoryLayout<fuse_lowlevel_ops>.size, userdata)
                })
        else {
            throw StoreError(
                "libfuse refused the mount options \(options.joined(separator: ","))", path: mountpoint,
                advice: "purgefs's own settings are given without -o, as in --total SIZE; for the options of -o see "
                    + "man mount.fuse3.")
        }
        guard fuse_session_mount(session, mountpoint) == 0 else {
            fuse_session_destroy(session)
            throw StoreError(
                "could not be mounted", path: mountpoint,
                advice:
                    "The message above says why. If permission was denied or the operation not permitted: "
                    + "a container forbids mounting unless it was started with --cap-add SYS_ADMIN and, where AppArmor "
                    + "is in use, --security-opt apparmor=unconfined (SELinux: label=disable).")
        }
        // The FUSE mount is one level above the store's file system, two above an overlay's.
        let depth: UInt32 = (try? System.fileSystemType(store.container.raw)) == 0x794C_7630 ? 2 : 1
        do throws(Errno) { return try Channel(session, stackDepth: depth) } catch {
            fuse_session_unmount(session)
            throw StoreError(
                "the connection to the kernel cannot be used: \(error)", path: mountpoint, advice: "Mount it again.")
        }
    }

    /// Serves until the mount has ended, and leaves the store complete.
    private static func run(
        _ channel: Channel, _ server: Server, _ mountpoint: String, _ request: MountRequest,
        _ whenReady: () -> Void
    ) throws(StoreError) {
        let device = EndSignals.device(at: mountpoint)
        let isInterrupted: Bool
        do throws(Errno) {
            let serving = try startServing(channel, server, mountpoint)
            let recording = request.eventSink.map { (server.volume.events.addRecorder(), $0) }
            try server.volume.startThreads()
            isInterrupted = interruption != nil
            if !isInterrupted { whenReady() }
            if let (recorder, send) = recording { try recorder.start(send) }
            serving.join()
        } catch {
            fuse_session_unmount(channel.session)
            throw StoreError("the mount could not be served: \(error)", path: mountpoint, advice: "Mount it again.")
        }
        let failure = Channel.failure
        if failure != nil { EndSignals.detach(mountpoint, device: device) }
        // The notifier may be in a call through the mount that is no longer served, and both of these
        // wait for it.
        channel.cutOff()
        let loss = end(server)
        fuse_session_unmount(channel.session)
        fuse_session_destroy(channel.session)
        if let failure {
            throw StoreError(
                "the mount has ended, the connection to the kernel failed: \(failure)", path: mountpoint,
                advice: "Mount it again; `dmesg` may say more.")
        }
        if isInterrupted || (interruption != nil && request.isAwaited()) { throw .interrupted(mountpoint) }
        if let loss { throw loss }
    }

    /// Starts the threads of a mount except the volume's own. Returns the one that ends when the mount has ended.
    private static func startServing(
        _ channel: Channel, _ server: Server, _ mountpoint: String
    ) throws(Errno) -> WorkThread {
        let pool = WorkerPool(
            source: KernelRequests(channel: channel, server: server), limit: server.volume.budget.workers)
        let ended = Gate()
        let serving = try WorkThread(name: "serving") {
            do throws(Errno) { try pool.run() } catch { note("purgefs: error: no worker thread: \(error)") }
            ended.advance()
        }
        try EndSignals.watch(mountpoint, ended: ended) {
            note("purgefs: census: \(server.volume.census().line)")
        }
        try server.notifier.begin(session: channel.session)
        let events = server.volume.events
        try MountWatch.start(mountpoint) { events.endReaders() }
        return serving
    }

    /// Returns what could not be written to the store and is lost.
    private static func end(_ server: Server) -> StoreError? {
        server.retries.end()
        server.commands.end()
        let loss = server.volume.end()
        server.notifier.end()
        warnOfLosses(server.volume.census())
        return loss
    }

    /// Only if sizes were given now; a device may well be meant to be full.
    private static func warnOfFullDevice(_ settings: Device, _ given: SettingsChange) {
        guard given.total != nil || given.others != nil, settings.others >= settings.total else { return }
        note(
            "purgefs: warning: --others \(settings.others.inWords) leaves nothing of --total \(settings.total.inWords)\n"
                + "  Writes fail with ENOSPC unless purging makes room. Use a larger --total or a smaller --others.")
    }

    /// The app would get EIO although the simulated device has room.
    private static func warnOfSmallDisk(_ volume: Volume, _ store: Store) {
        guard let disk = try? System.fileSystemStatus(store.container.raw) else { return }
        let (bytes, overflow) = disk.f_bavail.multipliedReportingOverflow(by: disk.f_frsize)
        let room = ByteCount(overflow ? .max : Int64(clamping: bytes))
        let free = ByteCount(volume.statistics(at: volume.root).available * 4096)
        if room < free {
            note(
                "purgefs: warning: \(store.path): the disk under the store has \(room.inWords) left, "
                    + "the simulated device \(free.inWords)\n"
                    + "  Writes beyond the real disk fail with EIO. Use a smaller --total or another disk.")
        }
    }

    /// What the kernel still holds means nothing: once it has begun to unmount, it sends no FORGET,
    /// and not every RELEASE.
    private static func warnOfLosses(_ census: Census) {
        guard census.unclosed != 0 || census.overdrawn != 0 else { return }
        note("purgefs: warning: files were not closed, or references miscounted: \(census.line)")
    }

    static func note(_ message: String) {
        let line = Array((message + "\n").utf8)
        do throws(Errno) {
            try line.withUnsafeBytes { bytes in
                Result { () throws(Errno) in _ = try System.write(STDERR_FILENO, bytes) }
            }.get()
        } catch {}  // there is no other place to report it
    }
}

/// Reports the progress of a scan that takes longer than a second.
final class ScanProgress: Sendable {
    private let started = System.uptime()
    private let last = Mutex<Int64>(System.uptime())

    func report(_ count: Int) {
        let now = System.uptime()
        let isDue = last.withLock { last in
            guard now - last > 1_000_000_000 else { return false }
            last = now
            return true
        }
        if isDue {
            MountService.note("purgefs: reading the store: \(count) entries, \((now - started) / 1_000_000_000) s")
        }
    }
}
