import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeSystem

extension RunArea {
    /// The minimum age in nanoseconds. Younger directories may not have been locked yet.
    private static let least: Int64 = 10_000_000_000

    /// Removes dead mounts and temporary stores from `directory` that earlier runs of this user have left because they were
    /// killed together with their daemons, for example by a CI system. A failure to remove one is no failure of this run.
    static func removeAbandoned(in directory: String) {
        do throws(Errno) {
            let parent = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
            // There may be thousands of other entries.
            let beginning = Array(prefix.utf8CString.dropLast())
            let names = try parent.names { strncmp($0, beginning, beginning.count) == 0 }
            for name in names where isName(Places.text(name)) {
                if System.endSignal() != nil { return }
                let area = RunArea(root: directory + "/" + Places.text(name))
                do throws(Errno) { try area.removeIfAbandoned(name, in: parent) } catch {}
            }
        } catch {}
    }

    private func removeIfAbandoned(_ name: RawText, in parent: FileDescriptor) throws(Errno) {
        let opened = try parent.open(name, O_RDONLY | O_DIRECTORY)  // not through a symbolic link
        guard try Self.isOld(opened), try Self.isOwn(opened) else { return }
        try System.lockExclusively(opened.raw)  // fails while the run lasts
        do throws(Errno) {
            let store = try opened.open("store", O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(store.raw)  // fails while the daemon has it
        } catch .noEntry {
            // The earlier run used a store that its user had named.
        }
        for mount in MountEntry.containers() where mount.mountpoint.isPath(below: root) {
            // The daemon is looked for first, because a stopped one would never answer.
            guard ProcessTable.daemons(of: mount.source).isEmpty, Places.isDead(mount.mountpoint) else { return }
            _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true)
        }
        do throws(CommandFailure) { try remove() } catch {}
    }
}

extension RunArea {
    /// Whether the directory belongs to this user and is so old that its run, if it still lasts, has locked it.
    static func isOld(_ directory: FileDescriptor) throws(Errno) -> Bool {
        let status = try System.status(directory.raw)
        let modified = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
        return status.st_uid == geteuid() && System.now() - modified > least
    }
}

// Distinguishes the area of a run from a copy of the area, which may be all that is left of the data.
extension RunArea {
    private static let markName = "user.purgefs.run"

    /// Whether the name has the form that mkdtemp(3) gives it.
    private static func isName(_ name: String) -> Bool {
        name.hasPrefix(prefix) && name.utf8.count == prefix.utf8.count + 6
    }

    /// Stores the directory's inode number in an attribute of the directory. A copy of the directory keeps the attribute, but
    /// has another inode number. Where the file system keeps no attributes, the area of a killed run is not removed.
    static func markAsOwn(_ directory: FileDescriptor) {
        do throws(Errno) {
            try System.setAttribute(at: directory.raw, nil, markName, mark(of: directory))
        } catch {}
    }

    /// Whether the directory has the mark of `markAsOwn`, and contains only entries that a run creates.
    private static func isOwn(_ directory: FileDescriptor) throws(Errno) -> Bool {
        let found = try System.attribute(at: directory.raw, nil, markName, limit: 64)
        guard try found == mark(of: directory) else { return false }
        return try directory.names().map(Places.text).allSatisfy { $0 == "store" || $0 == containers[0] }
    }

    private static func mark(of directory: FileDescriptor) throws(Errno) -> [UInt8] {
        Array(String(try System.status(directory.raw).st_ino).utf8)
    }
}
