import Glibc
import PurgeSystem

/// What must hold before anything is mounted, each with what to do where it does not.
enum MountChecks {
    private static let what = "cannot mount"

    static func run(store: String, mountpoint: String, allowsOther: Bool) throws(CommandFailure) {
        try checkMountpoint(mountpoint)
        try checkApart(store: store, mountpoint: mountpoint)
        try checkDevice()
        try checkRights(allowsOther: allowsOther)
    }

    /// For a mount point that `purgefs run` makes itself.
    static func runForCommand(allowsOther: Bool) throws(CommandFailure) {
        try checkDevice()
        try checkRights(allowsOther: allowsOther)
    }

    private static func checkMountpoint(_ path: String) throws(CommandFailure) {
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
                    ? "Remove the link, or make the directory that it points to." : "Make it: mkdir -p \(path)")
        } catch .notConnected {
            throw deadMount(path)
        } catch { throw CommandFailure(what, path: path, error) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure(
                what, path: path, "the mount point is not a directory", advice: "Name an empty directory.")
        }
        if let resolved = Places.resolved(path), MountEntry.container(at: resolved) != nil {
            guard !Places.isDead(resolved) else { throw deadMount(path) }
            throw CommandFailure(
                what, path: path, "a container is mounted there already",
                advice: "Name another directory, or unmount that one first: purgefs unmount \(path)")
        }
        try checkEmpty(path)
    }

    private static func deadMount(_ path: String) -> CommandFailure {
        CommandFailure(
            what, path: path, "a mount is there whose daemon has ended",
            advice: "Take it away first: purgefs unmount \(path)")
    }

    private static func checkEmpty(_ path: String) throws(CommandFailure) {
        let names: [RawText]
        do throws(Errno) {
            names = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY).names()
        } catch { throw CommandFailure(what, path: path, error) }
        guard names.isEmpty else {
            throw CommandFailure(
                what, path: path,
                "the mount point is not empty (\(names.count) \(names.count == 1 ? "entry" : "entries"))",
                advice: "A mount would hide what is in it. Name an empty directory.")
        }
    }

    /// A daemon that serves a directory which lies in its own mount waits for itself.
    private static func checkApart(store: String, mountpoint: String) throws(CommandFailure) {
        guard let point = try absolute(mountpoint), let place = try absolute(store) else { return }
        if place.isPath(point) || place.isPath(below: point) {
            throw CommandFailure(
                what, path: store, "the store lies at or below the mount point", advice: "Keep the two apart.")
        }
        if point.isPath(below: place) {
            throw CommandFailure(
                what, path: mountpoint, "the mount point lies in the store", advice: "Keep the two apart.")
        }
    }

    private static func absolute(_ path: String) throws(CommandFailure) -> String? {
        do throws(Errno) {
            return try System.resolvedOrParent(path)
        } catch .illegalSequence {
            throw CommandFailure(what, path: path, Errno.illegalSequence)
        } catch { return nil }
    }

    private static func checkDevice() throws(CommandFailure) {
        let device = "/dev/fuse"
        do throws(Errno) {
            // Another kind of file may wait for its other end.
            let file = try FileDescriptor.open(device, O_RDWR | O_NONBLOCK)
            guard try System.status(file.raw).st_mode & S_IFMT == S_IFCHR else { throw .noDevice }
        } catch let error where error == .accessDenied {
            throw CommandFailure(
                what, path: device, "\(error)",
                advice: "As root: chmod 666 /dev/fuse, the usual mode (a udev rule keeps it), or run purgefs as root.")
        } catch {
            throw CommandFailure(
                what, path: device, "\(error)",
                advice: "Load the kernel's module as root: modprobe fuse. In a container, start that with "
                    + "--device /dev/fuse --cap-add SYS_ADMIN.")
        }
    }

    private static func checkRights(allowsOther: Bool) throws(CommandFailure) {
        guard geteuid() != 0 else { return }
        guard Places.program("fusermount3") != nil else {
            throw CommandFailure(
                what, path: "fusermount3", "not found in PATH, and only root can mount without it",
                advice: "Install the package fuse3, or run purgefs as root.")
        }
        if allowsOther && !Places.hasLine("user_allow_other", in: "/etc/fuse.conf") {
            throw CommandFailure(
                what, path: "/etc/fuse.conf", "it does not let users mount with --allow-other",
                advice: "As root, add a line user_allow_other there, or leave --allow-other out.")
        }
    }
}
