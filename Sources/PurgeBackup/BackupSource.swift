import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// The files to read: a mounted container, `container/` of a store, or an ordinary directory.
struct BackupSource: Sendable {
    let root: FileDescriptor
    /// The path of `root`, for messages.
    let path: String
    /// The device of a store, needed to translate attributes and times as a mount does; nil for a mount or an ordinary
    /// directory.
    let device: Device?
    var isInStore: Bool { device != nil }
    private let mayOpenUp: Bool

    /// Reads through a mount, so the device's state and the protection classes can refuse access, as for any program.
    init(mount: String) throws(StoreError) {
        do throws(Errno) {
            root = try FileDescriptor.open(mount, O_RDONLY | O_DIRECTORY)
        } catch { throw .failed("the container cannot be read", path: mount, error) }
        (path, device, mayOpenUp) = (mount, nil, true)
    }

    /// Reads an ordinary directory. No modes are changed in it to make entries readable.
    init(directory: String) throws(StoreError) {
        do throws(Errno) {
            root = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
        } catch { throw .failed("the directory cannot be read", path: directory, error) }
        (path, device, mayOpenUp) = (directory, nil, false)
    }

    /// Reads a store whose lock the caller holds.
    init(_ store: Store, _ device: Device) {
        (root, path, self.device, mayOpenUp) = (store.container, store.path + "/container", device, true)
    }

    func pathOf(_ inner: [UInt8]) -> String { inner.isEmpty ? path : "\(path)/\(PathForm.text(inner))" }

    func failure(_ what: String, _ inner: [UInt8], _ error: Errno) -> StoreError {
        var failure = StoreError.failed(what, path: pathOf(inner), error)
        switch error {
        case .notPermitted where !isInStore:
            failure.advice =
                "The device may be locked: unlock it (`purgefs device unlock`), or unmount the container first."
        case .accessDenied:
            failure.advice = "Make it readable for its owner (chmod u+rX) and run this as that user, or as root."
        case .tryAgain:
            failure.what = "\(what): another process holds a lease on it (fcntl F_SETLEASE)"
            failure.advice =
                "That process was asked to give it up, and loses it within a minute (fs.lease-break-time): try again."
        case .tooManyOpenFiles:
            failure.advice = "Folders are nested too deeply: raise the limit of open files (ulimit -n)."
        default: break
        }
        return failure
    }

    func changed(_ inner: [UInt8]) -> StoreError {
        StoreError(
            "it changed while it was being read", path: pathOf(inner),
            advice: "No part of the backup was kept. Try again when no program writes to it, or unmount the container.")
    }

    /// In a mount, writes back the pages of an open file that a program has changed through a mapping. Only this write-back
    /// makes such changes update the modification time and fill holes, so that they can be detected.
    func settle(_ file: FileDescriptor) throws(Errno) {
        if !isInStore { try System.sync(file.raw) }
    }

    /// Runs `body`, and turns its error into a message for the user.
    func reading<Result>(
        _ inner: [UInt8], _ body: () throws(Errno) -> Result
    ) throws(StoreError) -> Result {
        do throws(Errno) { return try body() } catch { throw failure("it cannot be read", inner, error) }
    }

    /// Opens an entry of a folder for reading.
    func open(_ name: RawText, in folder: FileDescriptor, _ status: FileStatus) throws(Errno) -> FileDescriptor {
        let flags = O_RDONLY | O_NONBLOCK | (status.isDirectoryFile ? O_DIRECTORY : 0)
        return try Self.open(name, in: folder, flags)
    }

    static func openFolder(_ name: UnsafePointer<CChar>, in folder: FileDescriptor) throws(Errno) -> FileDescriptor {
        try open(name, in: folder, O_RDONLY | O_DIRECTORY)
    }

    /// Opens an entry so that reading it does not change its access time, if this process may do so.
    private static func open(
        _ name: UnsafePointer<CChar>, in folder: FileDescriptor, _ flags: Int32
    ) throws(Errno) -> FileDescriptor {
        do throws(Errno) {
            return try folder.open(name, flags | System.openNoAccessTime)
        } catch .notPermitted {
            return try folder.open(name, flags)
        }
    }
}

// Users may have removed their own permission to read an entry. While the entry is opened or read, the owner's permission is
// restored: for files in mounts and stores, but for folders only in stores, because an app would see the changed mode of a
// folder in a mount.
extension BackupSource {
    /// Runs `body`, which reads an entry by its name. If that fails with EACCES and the entry may be opened up, makes the entry
    /// readable, runs `body` again, and restores the mode.
    func withAccess<Result>(
        to name: RawText, in folder: FileDescriptor, _ status: FileStatus, _ body: () throws(Errno) -> Result
    ) throws(Errno) -> Result {
        let mode: mode_t
        do throws(Errno) {
            return try body()
        } catch {
            guard error == .accessDenied, let open = openMode(of: status) else { throw error }
            mode = open
        }
        try System.changeMode(at: folder.raw, name, mode)
        defer { close(name, in: folder, status) }
        return try body()
    }

    /// Opens an entry of a folder for reading, and first makes it readable if necessary. Destroying the result restores the
    /// entry's mode.
    func openUp(
        _ name: RawText, in folder: FileDescriptor, _ status: FileStatus
    ) throws(Errno) -> OpenedEntry {
        guard geteuid() != 0, let mode = openMode(of: status), mode != status.st_mode & 0o7777 else {
            return OpenedEntry(try open(name, in: folder, status))
        }
        try System.changeMode(at: folder.raw, name, mode)
        do throws(Errno) {
            return OpenedEntry(try open(name, in: folder, status), closesTo: status.st_mode & 0o7777)
        } catch {
            close(name, in: folder, status)
            throw error
        }
    }

    /// Whether `openUp` changes the entry's mode.
    func isClosed(_ status: FileStatus) -> Bool {
        geteuid() != 0 && openMode(of: status).map { $0 != status.st_mode & 0o7777 } ?? false
    }

    /// Returns the entry's mode with access for the owner added; nil if the entry may not be opened up.
    private func openMode(of status: FileStatus) -> mode_t? {
        guard status.st_uid == geteuid(), mayOpenUp else { return nil }
        let mode = status.st_mode & 0o7777
        switch status.kind {
        case S_IFREG: return mode | S_IRUSR
        case S_IFDIR where isInStore: return mode | S_IRUSR | S_IXUSR
        default: return nil
        }
    }

    private func close(_ name: RawText, in folder: FileDescriptor, _ status: FileStatus) {
        // Not refused: this process owns the entry and has just changed its mode.
        do throws(Errno) { try System.changeMode(at: folder.raw, name, status.st_mode & 0o7777) } catch {}
    }
}

/// An open entry. If the entry's mode was changed to open it, deinit restores the mode.
final class OpenedEntry {
    let descriptor: FileDescriptor
    private let mode: mode_t?

    init(_ descriptor: FileDescriptor, closesTo mode: mode_t? = nil) {
        (self.descriptor, self.mode) = (descriptor, mode)
    }

    deinit {
        guard let mode else { return }
        // Not refused: this process owns the entry and has just changed its mode.
        do throws(Errno) { try System.changeMode(descriptor.raw, mode) } catch {}
    }
}
