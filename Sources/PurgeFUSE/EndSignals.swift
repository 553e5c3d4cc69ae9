import CFuseShims
import Glibc
import PurgeSystem
import Synchronization

/// Signals that tell the process to end and unmount in an orderly way; SIGUSR1 asks for the census.
enum EndSignals {
    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in SignalSet.ending.union(SignalSet(SIGUSR1)).numbers { sigaddset(&set, signal) }
        return set
    }

    /// Blocks the signals, and ignores SIGPIPE and SIGXFSZ. Called before any thread is started, so that all threads inherit
    /// the mask.
    static func block() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)  // a write past the daemon's file size limit then only fails
    }

    /// The number of the signal that was fetched; 0 if there was none.
    private static let fetched = Atomic<Int32>(0)

    /// The signal to end, if one has arrived, whether or not the signal thread has fetched it; otherwise nil.
    static var received: Int32? {
        let number = fetched.load(ordering: .acquiring)
        return number == 0 ? System.endSignal() : number
    }

    /// How many milliseconds programs with open files may continue once the mount point is free.
    private static let patience: Int64 = 1000

    /// Unmounts when a signal arrives: at once if nothing is open, otherwise lazily, so that the mount point is free. Programs
    /// that do not close their files in time are cut off. `ended` advances when serving has ended.
    static func watch(
        _ mountpoint: String, ended: Gate, census: @escaping @Sendable () -> Void
    ) throws(Errno) {
        let device = device(at: mountpoint)
        _ = try WorkThread(name: "signals") {
            let seen = ended.generation
            var set = set
            var number: Int32 = 0
            repeat {
                sigwait(&set, &number)
                if number == SIGUSR1 { census() }
            } while number == SIGUSR1
            fetched.store(number, ordering: .releasing)
            // If our mount is already gone, another may have taken its place.
            if let device, Self.device(at: mountpoint) == device {
                if unmount(mountpoint, lazily: false) { return }
                _ = unmount(mountpoint, lazily: true)
            }
            if ended.wait(while: seen, milliseconds: patience) { return }
            MountService.note("purgefs: \(mountpoint): ended by a signal; programs still had files open in it")
            Channel.stop()
        }
    }

    static func device(at path: String) -> Int64? {
        do throws(Errno) { return try System.device(at: AT_FDCWD, path) } catch { return nil }
    }

    /// Removes the mount even if it is in use, provided that the mount at this path still has this device.
    static func detach(_ mountpoint: String, device: Int64?) {
        if let device, Self.device(at: mountpoint) == device { _ = unmount(mountpoint, lazily: true) }
    }

    private static func unmount(_ mountpoint: String, lazily: Bool) -> Bool {
        do throws(Errno) {
            guard geteuid() == 0 else { return try System.unmountAsUser(mountpoint, detaching: lazily) }
            try System.unmount(mountpoint, detaching: lazily)
            return true
        } catch { return false }
    }
}
