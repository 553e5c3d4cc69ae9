import Glibc
import PurgeSystem

extension StoreError {
    /// A system call said no: `what` and the kernel's reason, with what to do about that reason.
    public static func failed(_ what: String, path: String, _ errno: Errno) -> StoreError {
        StoreError("\(what): \(errno)", path: path, advice: advice(for: errno))
    }

    private static func advice(for errno: Errno) -> String {
        switch errno.code {
        case EACCES, EPERM:
            "Take a store that belongs to you, or change the owner or mode of this one."
        case EROFS:
            "A store must be writable: copy it to a file system that is mounted read-write, or remount this one."
        case ENOSPC, EDQUOT:
            "The disk under the store is full: make room there, then try again. Nothing in the store was changed."
        case EMFILE, ENFILE:
            "Raise the limit of open files (ulimit -n 4096), or close some, and try again."
        case ENAMETOOLONG, ELOOP, ENOTDIR, ENOENT:
            "Check the path."
        case EILSEQ:
            "purgefs takes only paths that are UTF-8: rename what is not (mv), also of the folders above it."
        case EIO:
            "The disk under the store reports errors: check it (dmesg), and copy the store elsewhere."
        default:
            "Check the file system that the store lies on, then try again."
        }
    }
}

extension Errno {
    /// The disk under the store is full, or its owner's quota.
    var isForLackOfRoom: Bool { code == ENOSPC || code == EDQUOT }
}
