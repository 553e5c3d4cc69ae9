import Glibc
import PurgeSystem

/// Removes a directory and everything in it, at any depth. Non-empty folders further down are first moved to the top, so
/// neither descriptors nor path lengths run out. Follows no symbolic links, and throws EBUSY at a folder on another file
/// system.
public enum TreeRemoval {
    private static let movedPrefix = "purgefs-remove."

    /// Removes the directory `name` in `parent`; does nothing if there is no such entry.
    public static func run(_ name: String, in parent: FileDescriptor) throws(Errno) {
        let top: FileDescriptor
        do throws(Errno) {
            top = try parent.open(name, O_RDONLY | O_DIRECTORY)
        } catch .noEntry { return }
        let device = try System.status(top.raw).st_dev
        var moved = 0
        while try removeLevel(of: top, device: device, &moved) {}
        try System.removeDirectory(at: parent.raw, name)
    }

    /// Removes the files and folders in `top`, but moves non-empty folders inside those folders up to `top`. Returns whether
    /// there may be more to do.
    private static func removeLevel(of top: FileDescriptor, device: dev_t, _ moved: inout Int) throws(Errno) -> Bool {
        var hasFolders = false
        for name in try top.open(".", O_RDONLY | O_DIRECTORY).names() {
            if try removeFile(name, in: top) { continue }
            hasFolders = true
            let folder = try openFolder(name, in: top, device: device)
            for inner in try folder.names() where try !removeFile(inner, in: folder) {
                try move(inner, from: folder, to: top, device: device, &moved)
            }
            try System.removeDirectory(at: top.raw, name)
        }
        return hasFolders
    }

    /// Removes a file or an empty folder. Returns false for a folder that is not empty.
    private static func removeFile(_ name: RawText, in directory: FileDescriptor) throws(Errno) -> Bool {
        do throws(Errno) {
            try System.unlink(at: directory.raw, name)
            return true
        } catch .isDirectory, .notPermitted {
            do throws(Errno) {
                try System.removeDirectory(at: directory.raw, name)
                return true
            } catch .notEmpty, .exists { return false }
        } catch .noEntry { return true }
    }

    private static func move(
        _ name: RawText, from folder: FileDescriptor, to top: FileDescriptor, device: dev_t, _ moved: inout Int
    ) throws(Errno) {
        _ = try openFolder(name, in: folder, device: device)
        while true {
            moved += 1
            do throws(Errno) {
                // A folder can only replace an empty folder, so a clash of names loses nothing.
                return try System.rename(at: folder.raw, name, to: top.raw, "\(movedPrefix)\(moved)")
            } catch .notEmpty, .exists, .notDirectory { continue }
        }
    }

    /// Opens a folder, and restores the owner's permissions if they were removed.
    private static func openFolder(
        _ name: RawText, in directory: FileDescriptor, device: dev_t
    ) throws(Errno) -> FileDescriptor {
        let status = try System.status(at: directory.raw, name)
        if status.st_mode & 0o700 != 0o700 { try System.changeMode(at: directory.raw, name, status.st_mode | 0o700) }
        let folder = try directory.open(name, O_RDONLY | O_DIRECTORY)
        guard try System.status(folder.raw).st_dev == device else { throw .busy }
        return folder
    }
}
