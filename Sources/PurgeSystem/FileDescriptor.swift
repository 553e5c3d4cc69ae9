import CSystemShims
import Glibc

/// An open file, closed when its last owner releases it. It is shared, because a cache may drop a descriptor that a request
/// still uses.
public final class FileDescriptor: Sendable {
    public let raw: Int32
    public init(adopting raw: Int32) { self.raw = raw }
    deinit { _ = shim_close(raw) }  // never retried: Linux has freed the number even on EINTR
}

extension FileDescriptor {
    /// Opens a path relative to the working directory.
    public static func open(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try System.open(at: AT_FDCWD, path, flags | O_CLOEXEC, mode: mode))
    }

    /// Opens an entry of this directory without following a symbolic link.
    public func open(
        _ name: UnsafePointer<CChar>, _ flags: Int32, mode: mode_t = 0
    ) throws(Errno) -> FileDescriptor {
        FileDescriptor(adopting: try System.open(at: raw, name, flags | O_CLOEXEC | O_NOFOLLOW, mode: mode))
    }

    /// Opens an entry of this directory that is a regular file. Throws ELOOP for a symbolic link, EISDIR for a directory to be
    /// written, and EINVAL for any other entry. Does not wait for the other end of a FIFO or for a device, but only for another
    /// process to give up a lease on the file.
    public func openFile(_ name: UnsafePointer<CChar>, _ flags: Int32) throws(Errno) -> FileDescriptor {
        try Self.openFile(name, flags, in: raw)
    }

    public static func openFile(
        _ name: UnsafePointer<CChar>, _ flags: Int32, in directory: Int32
    ) throws(Errno) -> FileDescriptor {
        let file = FileDescriptor(adopting: try System.openWithoutWaiting(at: directory, name, flags))
        guard try System.status(file.raw).isRegularFile else { throw .invalid }
        return file
    }

    /// Reads the whole content of a small file; EFBIG for more than `limit` bytes.
    public func readAll(limit: Int = .max) throws(Errno) -> [UInt8] {
        var content: [UInt8] = []
        var room = 4096
        while true {
            let chunk = try readSome(room, at: Int64(content.count))
            room = min(2 * room, 65536)
            if chunk.isEmpty { return content }
            guard chunk.count <= limit - content.count else { throw .fileTooLarge }
            content += chunk
        }
    }

    /// Writes all bytes, in as many calls as needed.
    public func writeAll(_ bytes: [UInt8]) throws(Errno) { try System.writeAll(raw, bytes) }
}
