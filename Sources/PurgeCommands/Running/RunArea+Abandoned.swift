import Glibc
import PurgeSystem

extension RunArea {
    /// In nanoseconds: younger directories may not have been locked yet.
    private static let least: Int64 = 10_000_000_000

    /// Removes what earlier runs of this user have left in `directory` because they were killed
    /// together with their daemons, as a CI system kills a job: dead mounts and temporary stores.
    /// What cannot be removed stays, and is no failure of this run.
    static func removeAbandoned(in directory: String) {
        do throws(Errno) {
            let parent = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
            for name in try parent.names() where Places.text(name).hasPrefix(prefix) {
                if System.endSignal() != nil { return }
                let area = RunArea(root: directory + "/" + Places.text(name))
                do throws(Errno) { try area.removeIfAbandoned(name, in: parent) } catch {}
            }
        } catch {}
    }

    private func removeIfAbandoned(_ name: RawText, in parent: FileDescriptor) throws(Errno) {
        let opened = try parent.open(name, O_RDONLY | O_DIRECTORY)  // not through a symbolic link
        let status = try System.status(opened.raw)
        let changed = Int64(status.st_ctim.tv_sec) * 1_000_000_000 + Int64(status.st_ctim.tv_nsec)
        guard status.st_uid == geteuid(), System.now() - changed > Self.least else { return }
        try System.lockExclusively(opened.raw)  // fails while the run lasts
        do throws(Errno) {
            let store = try opened.open("store", O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(store.raw)  // fails while the daemon has it
        } catch .noEntry {
            // That run used a store that the user had named.
        }
        for mount in MountEntry.containers() where mount.mountpoint.isPath(below: root) {
            guard Places.isDead(mount.mountpoint) else { return }
            _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true)
        }
        do throws(CommandFailure) { try remove() } catch {}
    }
}
