import Glibc
import PurgeSystem

extension StoreError {
    /// Returns the error for a failed system call: `what` and the kernel's reason, with advice about that reason.
    public static func failed(_ what: String, path: String, _ errno: Errno) -> StoreError {
        StoreError("\(what): \(errno)", path: path, advice: advice(for: errno))
    }

    /// Returns the error for `NewDirectory.unproven`.
    public static func unproven(_ what: String, path: String) -> StoreError {
        StoreError(
            "\(what) cannot be made safely: \(path.parentPath) lets another user exchange names, and its file system "
                + "does not keep owners and modes",
            path: path, advice: "Name a place in a directory that only you can change.")
    }

    private static func advice(for errno: Errno) -> String {
        switch errno.code {
        case EACCES, EPERM:
            "Use a store that belongs to you, or change the owner or mode of this one."
        case EROFS:
            "A store must be writable: copy it to a file system that is mounted read-write, or remount this one."
        case ENOSPC, EDQUOT:
            "The disk under the store is full: make room there, then try again."
        case EMFILE, ENFILE:
            "Raise the limit of open files (ulimit -n 4096), or close some, and try again."
        case ENAMETOOLONG, ELOOP, ENOTDIR, ENOENT:
            "Check the path."
        case EILSEQ:
            "purgefs accepts only paths in UTF-8: rename the file or folder (mv)."
        case EIO:
            "The disk under the store reports errors: check it (dmesg), and copy the store elsewhere."
        default:
            "Check the file system of the store, then try again."
        }
    }
}

extension Errno {
    /// Whether the disk under the store is full, or its owner's quota is used up.
    var isForLackOfRoom: Bool { code == ENOSPC || code == EDQUOT }

    /// Whether this error means that an attribute does not fit into its file or onto the disk.
    public var meansNoRoomForAttribute: Bool { [ENOSPC, EDQUOT, E2BIG, ERANGE].contains(code) }
}
