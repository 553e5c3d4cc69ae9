import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeStore
import PurgeSystem

/// Checks before a mount. Each failure says what to do about it.
enum MountChecks {
    private static let what = "cannot mount"

    /// Runs the checks for `purgefs mount`. `outputs` are the files that the daemon writes. Returns the store's directory as
    /// found before the checks, so that the caller can insist on it; nil if there was none.
    static func run(
        store: String, mountpoint: String, outputs: [(path: String, what: String)], allowsOther: Bool
    ) throws(CommandFailure) -> KnownDirectory? {
        let known = find(store, what)
        try checkProcess()
        try checkMountpoint(mountpoint, of: store)
        let places = PlaceChecks(Surroundings(mounts: MountEntry.all()))
        try places.check(store: store)
        if let failure = MountCopy.failure(what, store: store) { throw failure }
        try places.check(mountpoint: mountpoint, of: store)
        for output in outputs { try places.check(output: output.path, output.what, of: store, at: mountpoint) }
        try checkDevice()
        try checkRights(allowsOther: allowsOther)
        return try known.get()
    }

    /// Runs the checks for `purgefs run`, which creates the mount point itself. `store` is the one that the user named, and
    /// `outputs` are the files that the run writes while COMMAND runs. Returns the store's directory as `run` does.
    static func runForCommand(
        store: String?, outputs: [(path: String, what: String)], allowsOther: Bool
    ) throws(CommandFailure) -> KnownDirectory? {
        let known = store.map { find($0, "cannot open the store") }
        try checkProcess()
        if store != nil || !outputs.isEmpty {
            let places = PlaceChecks(Surroundings(mounts: MountEntry.all()))
            if let store { try places.check(store: store) }
            for output in outputs { try places.check(output: output.path, output.what, of: store) }
        }
        try checkDevice()
        try checkRights(allowsOther: allowsOther)
        return try known?.get()
    }

    /// Finds the directory of a store. A failure is reported only after the checks, whose messages say more.
    private static func find(_ store: String, _ what: String) -> Result<KnownDirectory?, CommandFailure> {
        do throws(StoreError) { return .success(try KnownDirectory.ofStore(store)) } catch {
            return .failure(CommandFailure(what, error))
        }
    }

    private static func checkProcess() throws(CommandFailure) {
        try Places.requireProc(what)
        try checkLimits()
    }

    private static func checkMountpoint(_ path: String, of store: String) throws(CommandFailure) {
        guard !path.isEmpty else {
            throw CommandFailure(
                what, path: path, "the name of the mount point is empty", advice: "Name an empty directory.")
        }
        let status: FileStatus
        do throws(Errno) {
            status = try System.status(ofPath: path)
        } catch .noEntry {
            let isLink = Places.isLink(path)
            throw CommandFailure(
                what, path: path,
                isLink ? "is a symbolic link to something that does not exist" : "the mount point does not exist",
                advice: isLink
                    ? "Remove the link, or make the directory that it points to."
                    : (isOtherDirectory(store)
                        ? "The store comes first. If this is the right order, make it: " : "Make it: ")
                        + "mkdir -p \(ShellWord.of(path))")
        } catch .socketNotConnected {
            throw deadMount(path)
        } catch { throw CommandFailure(what, path: path, error) }
        guard status.isDirectoryFile else {
            throw CommandFailure(
                what, path: path, "the mount point is not a directory", advice: "Name an empty directory.")
        }
        if let resolved = Places.resolved(path), MountEntry.container(at: resolved) != nil {
            guard !Places.isDead(resolved) else { throw deadMount(path) }
            throw CommandFailure(
                what, path: path, "a container is mounted there already",
                advice: "Name another directory, or unmount that one first: purgefs unmount \(ShellWord.of(path))")
        }
        try checkEmpty(path)
        try checkOwnMountpoint(path, status)
    }

    /// Whether a directory is there that is no store, so that it may have been meant as the mount point.
    private static func isOtherDirectory(_ path: String) -> Bool {
        do throws(Errno) {
            return try System.status(ofPath: path).isDirectoryFile && !Target.isStore(path)
        } catch { return false }
    }

    private static func deadMount(_ path: String) -> CommandFailure {
        CommandFailure(
            what, path: path, "a mount whose daemon has ended is still there",
            advice: "Remove it first: purgefs unmount \(ShellWord.of(path))")
    }

    private static func checkEmpty(_ path: String) throws(CommandFailure) {
        let names: [RawText]
        do throws(Errno) {
            names = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY).names()
        } catch { throw CommandFailure(what, path: path, error) }
        guard names.isEmpty else {
            guard !Target.isStore(path) else {
                throw CommandFailure(
                    what, path: path, "it is a store, not a mount point",
                    advice: "The store comes first: purgefs mount STORE MOUNTPOINT.")
            }
            throw CommandFailure(
                what, path: path,
                "the mount point is not empty (\(names.count) \(names.count == 1 ? "entry" : "entries"))",
                advice: "A mount would hide its content. Name an empty directory.")
        }
    }

    private static func advice(onClosed device: String) -> String {
        let opening = "chmod 666 \(device), the usual mode (a udev rule keeps it)"
        guard geteuid() == 0 else { return "As root: \(opening), or run purgefs as root." }
        do throws(Errno) {
            let status = try System.status(ofPath: device)
            if status.st_uid != 0, status.st_mode & 0o006 != 0o006 {
                return
                    "Its owner is outside of this user namespace, so root in here has no rights to it. As root "
                    + "outside: \(opening)."
            }
        } catch {}
        return "Not even root may do this: its file system is mounted nodev, or a security module forbids it."
    }

    private static func checkDevice() throws(CommandFailure) {
        let device = "/dev/fuse"
        do throws(Errno) {
            // Opening another kind of file may wait for its other end.
            let file = try FileDescriptor.open(device, O_RDWR | O_NONBLOCK)
            guard try System.status(file.raw).kind == S_IFCHR else { throw .noDevice }
        } catch .accessDenied {
            throw CommandFailure(
                what, path: device, Errno.accessDenied,
                advice: Self.advice(onClosed: device))
        } catch .notPermitted {
            throw CommandFailure(what, path: device, Errno.notPermitted, advice: MountRights.containerAdvice)
        } catch {
            throw CommandFailure(
                what, path: device, error,
                advice: "As root, load the kernel module: modprobe fuse. " + MountRights.containerAdvice)
        }
    }

    private static func checkRights(allowsOther: Bool) throws(CommandFailure) {
        let rights = MountRights.current()
        if let objection = rights.objection {
            throw CommandFailure(what, path: objection.subject, objection.reason, advice: objection.advice)
        }
        if allowsOther && !rights.isRoot && !Places.hasLine("user_allow_other", in: "/etc/fuse.conf") {
            throw CommandFailure(
                what, path: "/etc/fuse.conf", "it does not let users mount with --allow-other",
                advice: "As root, add the line user_allow_other to it, or leave out --allow-other.")
        }
    }

    /// Checks a mount point for an ordinary user: fusermount3 mounts only where that user may create files.
    private static func checkOwnMountpoint(_ path: String, _ status: FileStatus) throws(CommandFailure) {
        guard geteuid() != 0 else { return }
        do throws(Errno) {
            try System.checkAccess(path, W_OK)
        } catch {
            throw CommandFailure(
                what, path: path, "you may not write there, so fusermount3 would refuse to mount there",
                advice: "Name a directory of your own, or run purgefs as root.")
        }
        guard status.st_mode & S_ISVTX == 0 || status.st_uid == geteuid() else {
            throw CommandFailure(
                what, path: path, "it has the sticky bit and belongs to another user",
                advice: "Name a directory of your own: mkdir \(ShellWord.of(path + "/NAME"))")
        }
    }

    /// The minimum number of descriptors: the daemon's own, and a few for the app.
    private static let leastDescriptors = 64

    private static func checkLimits() throws(CommandFailure) {
        let limit = System.largestDescriptorLimit()
        guard limit < leastDescriptors else { return }
        throw CommandFailure(
            what, path: "RLIMIT_NOFILE",
            "the limit is \(limit) open files, and the mount alone needs \(leastDescriptors)",
            advice: "Raise the limit, and allow for the files that the app opens: ulimit -n 4096")
    }
}

extension Places {
    /// Requires /proc, which shows mounts, processes and this program's own file.
    static func requireProc(_ what: String) throws(CommandFailure) {
        let table = "/proc/self/mountinfo"
        do throws(Errno) {
            _ = try FileDescriptor.open(table, O_RDONLY)
        } catch .noEntry {
            throw CommandFailure(
                what, path: table, Errno.noEntry, advice: "As root, mount /proc first: mount -t proc proc /proc")
        } catch {}  // the code that needs it reports the error
    }
}
