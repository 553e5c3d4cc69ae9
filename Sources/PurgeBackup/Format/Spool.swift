import Glibc
import PurgeStore
import PurgeSystem

/// A file without a name, which exists only while it is open. It holds a manifest.
enum Spool {
    /// FUSE_SUPER_MAGIC of <linux/magic.h>.
    private static let fuse: Int64 = 0x6573_5546

    /// Returns TMPDIR, or /tmp if TMPDIR is not set or is inside a FUSE mount. In `purgefs run`, TMPDIR is in the container,
    /// whose device must not be charged for a spool.
    static func directory() throws(StoreError) -> String {
        let given = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        guard !given.isEmpty else { return "/tmp" }
        do throws(Errno) {
            let folder = try FileDescriptor.open(given, O_RDONLY | O_DIRECTORY)
            return try System.fileSystemType(folder.raw) == fuse ? "/tmp" : given
        } catch { throw failure("no temporary file can be made", given, error) }
    }

    static func make() throws(StoreError) -> FileDescriptor {
        let directory = try directory()
        do throws(Errno) {
            return try FileDescriptor.open(directory, O_RDWR | System.openTemporary, mode: 0o600)
        } catch { throw failure("no temporary file can be made", directory, error) }
    }

    static func failure(_ what: String, _ directory: String, _ error: Errno) -> StoreError {
        var failure = StoreError.failed(what, path: directory, error)
        failure.advice =
            (error.isForLackOfRoom ? "The disk is full: make room there, or set" : "Set")
            + " TMPDIR to a directory on another file system."
        return failure
    }
}

extension Errno {
    var isForLackOfRoom: Bool { self == .noSpace || self == Errno(EDQUOT) }
}
