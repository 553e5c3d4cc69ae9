import Glibc
import PurgeSystem

/// Whether this process may mount and unmount, by itself or through fusermount3.
struct MountRights: Hashable {
    /// The program fusermount3, which has the setuid bit.
    enum Helper: Hashable {
        case usable
        case missing
        /// The helper at this path gives no rights.
        case powerless(String)
    }

    var isRoot = false
    /// Whether this process has CAP_SYS_ADMIN over its own mounts.
    var canAdminister = false
    /// Whether the mount namespace belongs to a parent of this process's user namespace.
    var hasMountsOfOthers = false
    /// Whether the helper could have CAP_SYS_ADMIN.
    var canGain = true
    /// Whether PR_SET_NO_NEW_PRIVS is set, so that the helper gets no rights.
    var hasNoNewPrivileges = false
    var helper = Helper.usable
    /// The user's ID, if the helper cannot find the user's name in /etc/passwd or elsewhere.
    var userWithoutName: uid_t?

    struct Objection: Hashable {
        var subject: String
        var reason: String
        var advice: String
    }

    /// How to start a Docker or Podman container in which purgefs can mount.
    static let containerAdvice =
        "In a container: start it with --device /dev/fuse --cap-add SYS_ADMIN "
        + "--security-opt apparmor=unconfined (Docker, Podman)."

    /// Why this process may not mount; nil if no obstacle is known.
    var objection: Objection? {
        if canAdminister { return nil }
        if hasMountsOfOthers {
            return Objection(
                subject: "CAP_SYS_ADMIN", reason: "this user namespace has no mounts of its own",
                advice: "Also create a mount namespace: unshare --user --map-root-user --mount")
        }
        if !canGain || isRoot && hasNoNewPrivileges {
            return Objection(
                subject: "CAP_SYS_ADMIN",
                reason: "mounting needs this capability, which \(isRoot ? "root lacks" : "nobody has") here",
                advice: Self.containerAdvice + " Elsewhere: find the program that dropped it (capsh --print).")
        }
        if hasNoNewPrivileges {
            return Objection(
                subject: "fusermount3",
                reason: "it cannot give this process the right to mount, because no_new_privs is set",
                advice: "Start the process without it (Docker: --security-opt no-new-privileges; systemd: "
                    + "NoNewPrivileges=; setpriv --no-new-privs), or run purgefs as root.")
        }
        if let userWithoutName {
            return Objection(
                subject: "fusermount3", reason: "it needs the user's name, and user \(userWithoutName) has none",
                advice: "Add an entry to /etc/passwd (useradd --uid \(userWithoutName) NAME), or run purgefs as root.")
        }
        switch helper {
        case .usable: return nil
        case .missing:
            return Objection(
                subject: "fusermount3", reason: "not found in PATH, and only root can mount without it",
                advice: "Install the package fuse3 (apt-get install fuse3, dnf install fuse3), or run purgefs as root.")
        case .powerless(let path):
            return Objection(
                subject: path, reason: "it has no setuid bit, or is on a file system that is mounted nosuid",
                advice: "As root: chmod u+s \(ShellWord.of(path)), or reinstall the package fuse3.")
        }
    }
}

extension MountRights {
    /// Returns the rights of this process.
    static func current() -> MountRights {
        MountRights(
            isRoot: geteuid() == 0, canAdminister: System.canAdministerMounts,
            hasMountsOfOthers: System.hasMountsOfOthers, canGain: System.canGainAdministration,
            hasNoNewPrivileges: System.hasNoNewPrivileges, helper: findHelper(),
            userWithoutName: geteuid() != 0 && getpwuid(getuid()) == nil ? getuid() : nil)
    }

    private static func findHelper() -> Helper {
        guard let path = Places.program("fusermount3") else { return .missing }
        if geteuid() == 0 { return .usable }
        do throws(Errno) {
            let file = try FileDescriptor.open(path, System.openPath)
            let isSetuid = try System.status(file.raw).st_mode & S_ISUID != 0
            let flags = try System.fileSystemStatus(file.raw).f_flag
            return isSetuid && flags & UInt(ST_NOSUID) == 0 ? .usable : .powerless(path)
        } catch { return .usable }  // the helper itself will say why not
    }
}
