import Glibc
import PurgeModel

/// A file's birth time in 32 bits, which distinguishes files that reuse an inode number and takes no extra memory in a node. 0
/// stands for an unknown birth time.
public enum BirthMark {
    public static func of(_ birth: Int64?) -> UInt32 {
        guard let birth else { return 0 }
        // Birth times advance in steps of several milliseconds, so milliseconds are precise enough.
        return max(1, UInt32(truncatingIfNeeded: birth / 1_000_000))
    }

    /// Returns the mark of a file that was just created. The kernel sets its birth and modification to the same time.
    public static func of(new status: stat) -> UInt32 { of(Instant(status.st_mtim).nanoseconds) }

    /// Whether the birth time is known both in the record and for the file.
    public static func isKnown(_ recorded: Int64, _ birth: Int64?) -> Bool { recorded != 0 && birth != nil }

    /// Whether the journal's record may belong to the file.
    public static func isSame(_ recorded: Int64, _ birth: Int64?) -> Bool {
        recorded == 0 || birth == nil || recorded == Int64(of(birth))
    }
}
