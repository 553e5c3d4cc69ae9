import CSystemShims
import Glibc

// Data.
extension System {
    public static func pread(
        _ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer, offset: Int64
    ) throws(Errno) -> Int {
        try SystemCall.run(.pread) { shim_pread(fd, buffer.baseAddress, buffer.count, offset) }
    }
    public static func pwrite(_ fd: Int32, _ buffer: UnsafeRawBufferPointer, offset: Int64) throws(Errno) -> Int {
        try SystemCall.run(.pwrite) { shim_pwrite(fd, buffer.baseAddress, buffer.count, offset) }
    }
    public static func pwrite(_ fd: Int32, _ bytes: [UInt8], offset: Int64) throws(Errno) -> Int {
        try SystemCall.run(.pwrite) { shim_pwrite(fd, bytes, bytes.count, offset) }
    }
    public static func read(_ fd: Int32, _ buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        try SystemCall.run(.read) { shim_read(fd, buffer.baseAddress, buffer.count) }
    }
    /// Makes one read(2), or pread(2) if there is an offset. The result is empty at the end of the file.
    public static func read(_ fd: Int32, _ limit: Int, at offset: Int64? = nil) throws(Errno) -> [UInt8] {
        var failure: Errno?
        // Uninitialized memory, so that the part beyond the data is not touched.
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            do throws(Errno) {
                count = if let offset { try pread(fd, buffer, offset: offset) } else { try read(fd, buffer) }
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes.count == limit ? bytes : Array(bytes[...])
    }
    public static func write(_ fd: Int32, _ bytes: [UInt8]) throws(Errno) -> Int {
        try SystemCall.run(.write) { shim_write(fd, bytes, bytes.count) }
    }
    /// Writes all bytes, in as many calls as needed.
    public static func writeAll(_ fd: Int32, _ bytes: [UInt8]) throws(Errno) {
        var rest = bytes
        while !rest.isEmpty { rest.removeFirst(try write(fd, rest)) }
    }
    /// With `seekData` or `seekHole`, throws ENXIO if there is no data or hole at or after `offset`.
    public static func seek(_ fd: Int32, _ offset: Int64, _ whence: Int32) throws(Errno) -> Int64 {
        try SystemCall.run(.lseek) { shim_lseek(fd, offset, whence) }
    }
    public static func truncate(_ fd: Int32, _ size: Int64) throws(Errno) {
        try SystemCall.done(.ftruncate) { shim_ftruncate(fd, size) }
    }
    public static func truncate(_ path: CName, _ size: Int64) throws(Errno) {
        try SystemCall.done(.truncate) { shim_truncate(path, size) }
    }
    public static func allocate(_ fd: Int32, mode: Int32, offset: Int64, length: Int64) throws(Errno) {
        try SystemCall.done(.fallocate) { shim_fallocate(fd, mode, offset, length) }
    }
    /// Allocates blocks for `bytes` bytes beginning at `offset`, without changing the file's size or content.
    public static func reserve(_ fd: Int32, from offset: Int64, bytes: Int64) throws(Errno) {
        try allocate(fd, mode: allocateKeepSize, offset: offset, length: bytes)
    }
    public static func dropCache(_ fd: Int32, offset: Int64, length: Int64) throws(Errno) {
        try SystemCall.done(.fadvise) { shim_posix_fadvise_dontneed(fd, offset, length) }
    }
    public static func sync(_ fd: Int32) throws(Errno) { try SystemCall.done(.fsync) { shim_fsync(fd) } }
    public static func syncData(_ fd: Int32) throws(Errno) { try SystemCall.done(.fdatasync) { shim_fdatasync(fd) } }
    /// Syncs the whole file system that holds the file.
    public static func syncFileSystem(_ fd: Int32) throws(Errno) { try SystemCall.done(.syncfs) { shim_syncfs(fd) } }
    public static func copyRange(
        from: Int32, offset: Int64, to: Int32, offset toOffset: Int64, length: Int
    ) throws(Errno) -> Int {
        try SystemCall.run(.copyFileRange) { shim_copy_file_range(from, offset, to, toOffset, length) }
    }
}
