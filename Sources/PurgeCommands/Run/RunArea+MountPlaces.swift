import Glibc
import PurgeContainers
import PurgeSystem

// Some apps take a file for temporary if its path contains /tmp/. So the mount point is not beside the store if there is
// another place that only this user can write to.
extension RunArea {
    static let mountPrefix = "purgefs."
    /// The longest place in bytes. The address of a Unix socket has room for 107 bytes. If the place were longer, the path of
    /// the container's tmp would leave too few of these bytes for the name of a socket.
    private static let longestPlace = 16

    /// Whether the mount point may be in one of `mountPlaces`: the user has not set TMPDIR, and other users, if admitted, can
    /// reach the mount. They cannot pass through an ordinary user's own directory, but they can pass through /run.
    static func mayChoosePlace(allowsOther: Bool) -> Bool {
        if getenv("TMPDIR").map({ $0.pointee != 0 }) ?? false { return false }
        return geteuid() == 0 || !allowsOther
    }

    /// Returns the places where a mount point may be created, or where earlier runs may have created theirs.
    static func mountPlaces(_ surroundings: Surroundings) -> [String] {
        let runtime = getenv("XDG_RUNTIME_DIR").flatMap { String(validatingCString: $0) } ?? ""
        let place = geteuid() == 0 ? "/run" : runtime
        guard place.utf8.first == UInt8(ascii: "/"), let path = Places.resolved(place),
            path.utf8.count <= longestPlace, !"\(path)/".contains("/tmp/"), isOwn(path),
            surroundings.container(holding: path) == nil, surroundings.store(holding: path) == nil
        else { return [] }
        return [path]
    }

    /// Whether the path is a directory of this user in which no other user can create entries.
    private static func isOwn(_ path: String) -> Bool {
        do throws(Errno) {
            let status = try System.status(ofPath: path)
            return status.isDirectoryFile && status.st_uid == geteuid() && status.st_mode & 0o022 == 0
        } catch { return false }
    }

    /// Removes mount points of earlier runs that were killed together with their daemons, but only empty ones.
    static func removeAbandonedMounts(in place: String) {
        do throws(Errno) {
            let parent = try FileDescriptor.open(place, O_RDONLY | O_DIRECTORY)
            let beginning = Array(mountPrefix.utf8CString.dropLast())
            for name in try parent.names(where: { strncmp($0, beginning, beginning.count) == 0 }) {
                if System.endSignal() != nil { return }
                guard Places.text(name).utf8.count == mountPrefix.utf8.count + 6 else { continue }
                do throws(Errno) {
                    try removeIfAbandoned(parent.open(name, O_RDONLY | O_DIRECTORY), "\(place)/\(Places.text(name))")
                } catch {}
            }
        } catch {}
    }

    private static func removeIfAbandoned(_ opened: FileDescriptor, _ path: String) throws(Errno) {
        guard try isOld(opened) else { return }
        try System.lockExclusively(opened.raw)  // fails while the run lasts
        for mount in MountEntry.containers() where mount.mountpoint.isPath(below: path) {
            // The daemon is looked for first, because a stopped one would never answer.
            guard ProcessTable.daemons(of: mount.source).isEmpty, Places.isDead(mount.mountpoint) else { return }
            _ = Unmounting(mountpoint: mount.mountpoint).attempt(detaching: true)
        }
        let folder = ([path] + containers).joined(separator: "/")
        do throws(Errno) {
            let data = try FileDescriptor.open(folder, O_RDONLY | O_DIRECTORY)
            for name in try data.names() { try removeDirectory(name, in: data) }
        } catch .noEntry {}
        try removeContainers(from: path)
    }
}
