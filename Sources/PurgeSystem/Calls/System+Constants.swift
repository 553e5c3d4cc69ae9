import CSystemShims

// Constants of <fcntl.h>, <unistd.h>, <stdio.h> and <sys/xattr.h> that Glibc's module hides.
extension System {
    /// O_PATH, O_NOATIME, O_DIRECT and O_TMPFILE of open(2).
    public static let openPath = SHIM_O_PATH
    public static let openNoAccessTime = SHIM_O_NOATIME
    public static let openDirect = SHIM_O_DIRECT
    public static let openTemporary = SHIM_O_TMPFILE

    /// SEEK_DATA and SEEK_HOLE of lseek(2).
    public static let seekData = SHIM_SEEK_DATA
    public static let seekHole = SHIM_SEEK_HOLE

    /// FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE and FALLOC_FL_ZERO_RANGE of fallocate(2).
    public static let allocateKeepSize = SHIM_FALLOC_FL_KEEP_SIZE
    public static let allocatePunchHole = SHIM_FALLOC_FL_PUNCH_HOLE
    public static let allocateZeroRange = SHIM_FALLOC_FL_ZERO_RANGE

    /// RENAME_NOREPLACE and RENAME_EXCHANGE of renameat2(2).
    public static let renameNoReplace = SHIM_RENAME_NOREPLACE
    public static let renameExchange = SHIM_RENAME_EXCHANGE

    /// XATTR_REPLACE of setxattr(2).
    public static let attributeReplace = SHIM_XATTR_REPLACE

    /// UTIME_NOW and UTIME_OMIT of utimensat(2), for `tv_nsec`.
    public static let timeNow = Int(SHIM_UTIME_NOW)
    public static let timeOmit = Int(SHIM_UTIME_OMIT)
}
