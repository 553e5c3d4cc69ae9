import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

/// The mount of a container that is to be unmounted.
struct Unmounting {
    /// The path as the kernel knows it: absolute, without symbolic links.
    let mountpoint: String

    var isMounted: Bool { MountEntry.container(at: mountpoint) != nil }

    enum Outcome: Equatable {
        case done
        case busy
        case refused(Errno?)
        /// This process may not unmount anything.
        case unable(MountRights.Objection)

        var isUnable: Bool { if case .unable = self { true } else { false } }
    }

    /// Makes one attempt. With `detaching`, processes that still use the mount keep their open files until they close them, and
    /// no other process finds the mount.
    func attempt(detaching: Bool = false) -> Outcome {
        do throws(Errno) {
            try System.unmount(mountpoint, detaching: detaching)
            return .done
        } catch .busy {
            return .busy
        } catch .notPermitted {
            return askFusermount(detaching: detaching)
        } catch {
            return isMounted ? .refused(error) : .done
        }
    }

    /// Makes attempts every 100 ms while the mount is busy and `isHopeful` returns true, for `milliseconds` at most.
    func attempt(for milliseconds: Int, while isHopeful: () -> Bool = { true }) -> Outcome {
        let deadline = System.uptime() + Int64(milliseconds) * 1_000_000
        while true {
            let outcome = attempt()
            guard outcome == .busy, System.uptime() < deadline, isHopeful() else { return outcome }
            usleep(100_000)
        }
    }

    /// Has the setuid program fusermount3 unmount, for users other than root.
    private func askFusermount(detaching: Bool) -> Outcome {
        if let objection = MountRights.current().objection { return .unable(objection) }
        do throws(Errno) {
            if try System.unmountAsUser(mountpoint, detaching: detaching) || !isMounted { return .done }
            return MountEntry.container(at: mountpoint)?.owner == getuid() ? .busy : .refused(.notPermitted)
        } catch {
            return .refused(error)
        }
    }

    /// Returns the users that keep the mount busy, one line for each.
    func users() -> [String] {
        let processes = ProcessTable.users(of: mountpoint).map { user in
            "\(user.name): \(VisibleText.of(user.path)) is \(user.manner)"
        }
        let mounts = MountEntry.all().filter { $0.mountpoint.isPath(below: mountpoint) }
        return processes + mounts.map { "a mount of type \($0.type) at \($0.mountpoint)" }
    }

    /// Whether the mount is busy, but only with users of the control files. Readers of these files get end of file when the
    /// daemon ends.
    func isBusyWithControlFilesOnly() -> Bool {
        ProcessTable.isUsedOnly(below: "\(mountpoint)/\(ControlFile.directory)", of: mountpoint)
            && !ProcessTable.users(of: mountpoint).isEmpty
            && !MountEntry.all().contains { $0.mountpoint.isPath(below: mountpoint) }
    }
}
