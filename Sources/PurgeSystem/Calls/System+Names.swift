import CSystemShims
import Glibc

// Names.
extension System {
    public static func makeDirectory(at dir: Int32, _ name: CName, mode: mode_t) throws(Errno) {
        try SystemCall.done(.mkdirat) { shim_mkdirat(dir, name, mode) }
    }
    public static func makeNode(at dir: Int32, _ name: CName, mode: mode_t, device: dev_t) throws(Errno) {
        try SystemCall.done(.mknodat) { shim_mknodat(dir, name, mode, device) }
    }
    public static func makeSymbolicLink(to target: CName, at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done(.symlinkat) { shim_symlinkat(target, dir, name) }
    }
    /// Returns the target, without a terminating zero.
    public static func readLink(at dir: Int32, _ name: CName) throws(Errno) -> [CChar] {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = try SystemCall.run(.readlinkat) { shim_readlinkat(dir, name, &target, target.count) }
        return Array(target[..<length])
    }
    public static func unlink(at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done(.unlinkat) { shim_unlinkat(dir, name, 0) }
    }
    public static func removeDirectory(at dir: Int32, _ name: CName) throws(Errno) {
        try SystemCall.done(.unlinkat) { shim_unlinkat(dir, name, AT_REMOVEDIR) }
    }
    public static func rename(
        at from: Int32, _ name: CName, to: Int32, _ newName: CName, flags: UInt32 = 0
    ) throws(Errno) {
        try SystemCall.done(.renameat2) { shim_renameat2(from, name, to, newName, flags) }
    }
    public static func link(at from: Int32, _ name: CName, to: Int32, _ newName: CName) throws(Errno) {
        try SystemCall.done(.linkat) { shim_linkat(from, name, to, newName, 0) }
    }
    /// Gives an open file a new name. The file may have been opened with O_TMPFILE, and then has no other name.
    public static func link(_ fd: Int32, to: Int32, _ newName: CName) throws(Errno) {
        try SystemCall.done(.linkat) { shim_linkat(AT_FDCWD, "/proc/self/fd/\(fd)", to, newName, AT_SYMLINK_FOLLOW) }
    }
    /// Makes one getdents64(2) call. Returns the number of bytes in `buffer`, which is 0 at the end.
    public static func directoryEntries(
        _ fd: Int32, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try SystemCall.run(.getdents64) { shim_getdents(fd, buffer.baseAddress, buffer.count) }
    }
}
