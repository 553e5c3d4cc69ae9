import Glibc
import PurgeModel

/// A file's birth time in 32 bits, which is enough to distinguish two files with one inode number and takes no extra
/// memory in a node. 0 stands for an unknown birth time.
public enum BirthMark {
    public static func of(_ birth: Int64?) -> UInt32 {
        guard let birth else { return 0 }
        // Birth times advance in steps of some milliseconds.
        return max(1, UInt32(truncatingIfNeeded: birth / 1_000_000))
    }

    /// For a file that has just been made: the kernel uses one time for its birth and its modification.
    public static func of(new status: stat) -> UInt32 { of(Instant(status.st_mtim).nanoseconds) }

    /// Whether the record and the file both have a birth time.
    public static func isKnown(_ recorded: Int64, _ birth: Int64?) -> Bool { recorded != 0 && birth != nil }

    /// Whether the journal's record may belong to the file.
    public static func isSame(_ recorded: Int64, _ birth: Int64?) -> Bool {
        recorded == 0 || birth == nil || recorded == Int64(of(birth))
    }
}
