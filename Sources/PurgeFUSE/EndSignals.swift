import Glibc
import PurgeSystem

/// SIGTERM, SIGINT and SIGHUP end the mount in an orderly way.
enum EndSignals {
    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Before any thread is started, so that all inherit it.
    static func block() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Unmounts when one comes: at once if nothing is open, else lazily, so that the name is free
    /// and the last user's close ends the daemon. A second signal cuts the last users off.
    static func watch(_ mountpoint: String) throws(Errno) {
        _ = try WorkThread(name: "signals") {
            var set = set
            var number: Int32 = 0
            sigwait(&set, &number)
            if !unmount(mountpoint, lazily: false) { _ = unmount(mountpoint, lazily: true) }
            sigwait(&set, &number)
            MountService.note("purgefs: \(mountpoint): ended by a second signal while files were open")
            exit(1)
        }
    }

    private static func unmount(_ mountpoint: String, lazily: Bool) -> Bool {
        if geteuid() == 0 {
            return umount2(mountpoint, lazily ? Int32(MNT_DETACH) : 0) == 0
        }
        let arguments = ["fusermount3", "-u", "-q"] + (lazily ? ["-z"] : []) + ["--", mountpoint]
        var argv: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for argument in argv { free(argument) } }
        var pid = pid_t()
        guard posix_spawnp(&pid, "fusermount3", nil, nil, &argv, environ) == 0 else { return false }
        var status: Int32 = 0
        return waitpid(pid, &status, 0) == pid && status == 0
    }
}
