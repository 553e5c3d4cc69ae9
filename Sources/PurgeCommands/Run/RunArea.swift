import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeStore
import PurgeSystem

/// The temporary directories of one `purgefs run`: one that has the store, unless the user named one, and one for the mount
/// point. They are one directory unless the mount point has a better place. `run` removes them. If `run` was killed, its daemon
/// removes them; if both were killed, the next `run` does.
struct RunArea {
    static let prefix = "purgefs-run."
    static let containers = ["Containers", "Data", "Application"]

    /// The absolute path of the temporary directory.
    let root: String
    /// The absolute path of the directory above the mount point.
    private(set) var mountRoot: String
    /// Locked while the run lasts, so that no other run takes the directories for abandoned.
    private var directories: [FileDescriptor] = []

    init(root: String) { (self.root, mountRoot) = (root, root) }

    /// Describes the area of another process, which has created this mount point.
    init(root: String, mountpoint: String) {
        self.root = root
        mountRoot = (Self.containers + [""]).reduce(mountpoint) { path, _ in path.parentPath }
    }

    var store: String { root + "/store" }

    /// Returns directories suitable for temporary files, the best first. For root, directories whose path only root can change
    /// come first. A directory inside a container or a store is not suitable, because files there may be purged.
    static func candidates(_ surroundings: Surroundings) -> [String] {
        let named = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? ""
        let fit = [named, "/tmp", "/var/tmp"].filter { !$0.isEmpty }.compactMap(Places.resolved).filter { path in
            surroundings.container(holding: path) == nil && surroundings.store(holding: path) == nil
        }
        return System.isRoot ? fit.filter(keepsNames) + fit.filter { !keepsNames($0) } : fit
    }

    /// Whether only root can exchange entries that root creates in the directory, and the directories above it. This matters
    /// because the daemon and COMMAND reach the run's directories only by path.
    private static func keepsNames(_ path: String) -> Bool {
        do throws(Errno) {
            return try FileDescriptor.open(path, System.openPath | O_DIRECTORY).keepsNames
        } catch { return false }
    }

    /// Creates a new directory that only this user can access, and another one for the mount point in the first of `places`
    /// that allows it.
    static func make(in directory: String, mountingIn places: [String] = []) throws(CommandFailure) -> RunArea {
        do throws(Errno) {
            let (root, opened) = try NewDirectory.makeTemporary(prefix: "\(directory)/\(prefix)")
            try System.lockExclusively(opened.raw)
            var area = RunArea(root: root)
            area.directories = [opened]
            markAsOwn(opened)
            for place in places where area.mountRoot == area.root { area.mount(in: place) }
            return area
        } catch {
            throw CommandFailure(
                "cannot make a temporary directory", path: directory, "\(error)",
                advice: "Set TMPDIR to a directory that can be written.")
        }
    }

    private static func locked(_ path: String) throws(Errno) -> FileDescriptor {
        let opened = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        try System.lockExclusively(opened.raw)
        return opened
    }

    /// Creates the directory for the mount point on a best-effort basis. It may fail, as in a system container whose /run is
    /// read-only or full.
    private mutating func mount(in place: String) {
        do throws(Errno) {
            let path = try System.makeTemporaryDirectory(prefix: "\(place)/\(Self.mountPrefix)")
            do throws(Errno) {
                let opened = try Self.locked(path)
                try Self.makeContainers(in: path)
                directories.append(opened)
                mountRoot = path
            } catch { try Self.removeContainers(from: path) }
        } catch {}
    }

    private static func makeContainers(in path: String) throws(Errno) {
        for count in 1...containers.count {
            let folder = ([path] + containers.prefix(count)).joined(separator: "/")
            try System.makeDirectory(at: AT_FDCWD, folder, mode: 0o700)
        }
    }

    /// Removes the folders `containers` below `path`, and then `path` itself. All of them must be empty.
    static func removeContainers(from path: String) throws(Errno) {
        for count in (0...containers.count).reversed() {
            let folder = ([path] + containers.prefix(count)).joined(separator: "/")
            try removeDirectory(Array(folder.utf8CString), in: nil)
        }
    }

    func makeMountpoint(container: String) throws(CommandFailure) -> String {
        var path = mountRoot
        for name in Self.containers + [container] {
            path += "/" + name
            do throws(Errno) {
                try System.makeDirectory(at: AT_FDCWD, path, mode: 0o700)
            } catch .exists {
                continue
            } catch { throw CommandFailure("cannot make the mount point", path: path, error) }
        }
        return path
    }

    /// Lets other users into the mount: they can pass through the directories above it, but not list them. The mode of the
    /// store does not change.
    func admitOthers() throws(CommandFailure) {
        for count in 0...Self.containers.count {
            let path = ([mountRoot] + Self.containers.prefix(count)).joined(separator: "/")
            do throws(Errno) {
                try System.changeMode(at: AT_FDCWD, path, 0o711)
            } catch { throw CommandFailure("cannot let other users in", path: path, error) }
        }
    }

    /// The number of attempts to remove the area. A process that COMMAND left behind may create folders there after the
    /// unmount.
    private static let attempts = 20

    /// Removes the whole area with the store; does nothing if it is already gone. Anything still mounted there is left alone.
    func remove() throws(CommandFailure) {
        for (path, prefix) in [(root, Self.prefix), (mountRoot, mountRoot == root ? Self.prefix : Self.mountPrefix)] {
            guard path.split(separator: "/").last?.hasPrefix(prefix) != true else { continue }
            throw CommandFailure("will not remove", path: path, "`purgefs run` did not make it", advice: "")
        }
        do throws(Errno) {
            let area = try Self.open(root)
            for attempt in 1...Self.attempts {
                do throws(Errno) {
                    try removeMountpoint()
                    if let area { try TreeRemoval.run("store", in: area) }
                    for path in [mountRoot, root] { try Self.removeDirectory(Array(path.utf8CString), in: nil) }
                    return
                } catch .notEmpty {
                    // The error is not EBUSY, so nothing is mounted there.
                    if let area { try TreeRemoval.run("store", in: area) }
                    if attempt == Self.attempts { throw .notEmpty }
                }
            }
        } catch {
            throw CommandFailure(
                "cannot remove the temporary directory", path: root, "\(error)",
                advice: "Remove it by hand: rm -rf \(ShellWord.of(root))"
                    + (mountRoot == root ? "" : " \(ShellWord.of(mountRoot))"))
        }
    }

    /// Removes the mount point and the directories above it as far as they are empty. The mount should be gone, but its daemon
    /// may still be writing to the store.
    func removeEmpty(mountpoint: String) {
        var path = mountpoint
        do throws(Errno) {
            while path != mountRoot {
                try System.removeDirectory(at: AT_FDCWD, path)
                path = path.parentPath
            }
            if mountRoot != root { try System.removeDirectory(at: AT_FDCWD, mountRoot) }
        } catch {}  // `remove` tries again, and reports the reason if it fails too
    }

    private func removeMountpoint() throws(Errno) {
        if let data = try Self.open(([mountRoot] + Self.containers).joined(separator: "/")) {
            for name in try data.names() { try Self.remove(name, in: data) }
        }
        for count in (1...Self.containers.count).reversed() {
            let path = ([mountRoot] + Self.containers.prefix(count)).joined(separator: "/")
            try Self.removeDirectory(Array(path.utf8CString), in: nil)
        }
    }

    /// Removes a folder with its content. If something is mounted on it, the kernel answers "busy" instead of "not empty".
    private static func remove(_ name: RawText, in data: FileDescriptor) throws(Errno) {
        for attempt in 1...attempts {
            do throws(Errno) {
                return try removeDirectory(name, in: data)
            } catch .notEmpty {
                do throws(Errno) {
                    try TreeRemoval.run(Places.text(name), in: data)
                } catch .notEmpty where attempt < attempts {}
            }
        }
    }

    private static func open(_ path: String) throws(Errno) -> FileDescriptor? {
        do throws(Errno) {
            return try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
        } catch .noEntry { return nil }
    }

    static func removeDirectory(_ name: RawText, in directory: FileDescriptor?) throws(Errno) {
        do throws(Errno) {
            try System.removeDirectory(at: directory?.raw ?? AT_FDCWD, name)
        } catch .noEntry {}
    }
}
