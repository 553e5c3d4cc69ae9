import CFuse
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

// Serving requests, until the mount ends.
extension MountService {
    /// Serves until the mount has ended, and leaves the store complete.
    static func run(
        _ channel: Channel, _ server: Server, _ rings: RingWorkers<Server>?, _ mountpoint: String,
        _ request: MountRequest, _ whenReady: () -> Void
    ) throws(StoreError) {
        let device = EndSignals.device(at: mountpoint)
        let isInterrupted: Bool
        do throws(Errno) {
            let recording = request.eventSink.map { (server.volume.events.addRecorder(), $0) }
            let serving = try startServing(channel, server, rings, mountpoint)
            try startApp(server.volume.controlFiles, request)
            isInterrupted = interruption != nil
            if !isInterrupted {
                whenReady()
                if let (recorder, send) = recording { try recorder.start(send) }
            }
            serving.join()
            request.whenEnding()
        } catch {
            fuse_session_unmount(channel.session)
            throw StoreError("the mount could not be served: \(error)", path: mountpoint, advice: "Mount it again.")
        }
        let failure = Channel.failure
        if failure != nil { EndSignals.detach(mountpoint, device: device) }
        // Shows other processes that the mount is over, although this one still holds the store.
        server.endingMark.set()
        // The notifier may be blocked in a call through the mount, which nobody serves any more. `cutOff` fails that call,
        // because the end of the volume and the unmounting both wait for the notifier.
        channel.cutOff()
        let loss = end(server, request)
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

    private static func startApp(_ files: ControlFiles, _ request: MountRequest) throws(Errno) {
        files.share(request.sharedFolders)
        if request.controlsProcesses, let pid = request.appProcess { files.adoptChildren(of: pid) }
        if let state = request.appState, !request.isReadOnly {
            try files.startApp(in: state, for: request.appProcess ?? 0)
        }
    }

    /// Starts the trace, the threads that serve requests, wait for signals and watch the mount, and the volume's threads.
    /// Returns the serving thread, which ends with the mount.
    private static func startServing(
        _ channel: Channel, _ server: Server, _ rings: RingWorkers<Server>?, _ mountpoint: String
    ) throws(Errno) -> WorkThread {
        // Must come before the first request is served, because a request may purge names, which must then be announced.
        try server.kernel.begin(session: channel.session)
        server.startWatching()
        let (started, ended) = (Gate(), Gate())
        let seen = started.generation
        let serving = try WorkThread(name: "serving") {
            started.wait(while: seen)
            do throws(Errno) { try channel.serve(server, rings, limit: server.volume.budget.workers) } catch {
                note("purgefs: error: no worker thread: \(error)")
                Channel.fail(error)
            }
            ended.advance()
        }
        try EndSignals.watch(mountpoint, ended: ended) {
            note("purgefs: census: \(server.volume.census().line)")
            server.trace?.tellBegun()
        }
        let events = server.volume.events
        let files = server.volume.controlFiles
        try MountWatch.start(mountpoint) {
            events.endReaders()
            files.releaseProcesses()
        }
        // Comes after the threads above, because it records the `mount` event, which must not be recorded if one of them cannot
        // be started. Comes before `started`, because that event must precede the events of requests.
        try server.volume.startThreads()
        started.advance()
        return serving
    }

    /// Ends the volume. Returns an error about state that could not be written to the store and is lost.
    private static func end(_ server: Server, _ request: MountRequest) -> StoreError? {
        let volume = server.volume
        volume.retries.end()
        server.commands.end()
        if let pid = request.appProcess { volume.controlFiles.endApp(of: pid) }
        volume.controlFiles.releaseProcesses()
        let status = volume.status()
        let loss = volume.end(keepingStore: !request.isStoreDiscarded)
        if volume.events.isRecordComplete { request.whenComplete?(status, volume.hostRefusals) }
        server.kernel.end()
        warnOfLosses(server.volume.census())
        return loss
    }
}
