import Glibc
import PurgeStore
import PurgeSystem

/// The temporary directory of one `purgefs run`: the mount point, and the store if none was named. `run`
/// removes it; if `run` was killed its daemon does, and if both were killed, the next `run`.
struct RunArea {
    static let prefix = "purgefs-run."
    static let containers = ["Containers", "Data", "Application"]

    /// Absolute.
    let root: String
    /// Locked for as long as the run lasts, so that no other run takes it for abandoned.
    private var directory: FileDescriptor?

    init(root: String) { self.root = root }

    var store: String { root + "/store" }
    func mountpoint(container: String) -> String { ([root] + Self.containers + [container]).joined(separator: "/") }

    /// Directories that are fit for temporary files, the best first. One inside a container or a store is
    /// not, because files there may be purged.
    static func candidates() -> [String] {
        let named = getenv("TMPDIR").flatMap { String(validatingCString: $0) } ?? ""
        let surroundings = Surroundings(mounts: MountEntry.all())
        return [named, "/tmp", "/var/tmp"].filter { !$0.isEmpty }.compactMap(Places.resolved).filter { path in
            surroundings.container(holding: path) == nil && surroundings.store(holding: path) == nil
        }
    }

    /// A new directory that only this user can access.
    static func make(in directory: String) throws(CommandFailure) -> RunArea {
        do throws(Errno) {
            var area = RunArea(root: try System.makeTemporaryDirectory(prefix: "\(directory)/\(prefix)"))
            let opened = try FileDescriptor.open(area.root, O_RDONLY | O_DIRECTORY)
            try System.lockExclusively(opened.raw)
            area.directory = opened
            markAsOwn(opened)
            return area
        } catch {
            throw CommandFailure(
                "cannot make a temporary directory", path: directory, "\(error)",
                advice: "Set TMPDIR to a directory that can be written.")
        }
    }

    func makeMountpoint(container: String) throws(CommandFailure) -> String {
        var path = root
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

    /// For a mount that lets other users in: they may pass through the directories above it, and see nothing in them. The
    /// store has a mode of its own.
    func admitOthers() throws(CommandFailure) {
        for count in 0...Self.containers.count {
            let path = ([root] + Self.containers.prefix(count)).joined(separator: "/")
            do throws(Errno) {
                try System.changeMode(at: AT_FDCWD, path, 0o711)
            } catch { throw CommandFailure("cannot let other users in", path: path, error) }
        }
    }

    /// How often it is tried: a process that COMMAND has left may make folders there after the unmount.
    private static let attempts = 20

    /// Removes everything in it, including the store; does nothing if it is gone already. Whatever is still mounted there
    /// is left alone.
    func remove() throws(CommandFailure) {
        guard root.split(separator: "/").last?.hasPrefix(Self.prefix) == true else {
            throw CommandFailure("will not remove", path: root, "`purgefs run` did not make it", advice: "")
        }
        do throws(Errno) {
            guard let area = try Self.open(root) else { return }
            for attempt in 1...Self.attempts {
                do throws(Errno) {
                    try removeMountpoint()
                    try TreeRemoval.run("store", in: area)
                    return try Self.removeDirectory(Array(root.utf8CString), in: nil)
                } catch .notEmpty {
                    // Nothing is mounted there.
                    try TreeRemoval.run("store", in: area)
                    if attempt == Self.attempts { throw .notEmpty }
                }
            }
        } catch {
            throw CommandFailure(
                "cannot remove the temporary directory", path: root, "\(error)",
                advice: "Remove it by hand: rm -rf \(root)")
        }
    }

    private func removeMountpoint() throws(Errno) {
        if let data = try Self.open(([root] + Self.containers).joined(separator: "/")) {
            for name in try data.names() { try Self.remove(name, in: data) }
        }
        for count in (1...Self.containers.count).reversed() {
            let path = ([root] + Self.containers.prefix(count)).joined(separator: "/")
            try Self.removeDirectory(Array(path.utf8CString), in: nil)
        }
    }

    /// A directory where something is mounted is not "not empty", but busy.
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

    private static func removeDirectory(_ name: RawText, in directory: FileDescriptor?) throws(Errno) {
        do throws(Errno) {
            try System.removeDirectory(at: directory?.raw ?? AT_FDCWD, name)
        } catch .noEntry {}
    }
}
