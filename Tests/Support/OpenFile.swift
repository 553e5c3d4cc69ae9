import Glibc
import PurgeSystem

/// An open file of a test, closed at the latest on release. Children do not inherit it.
public final class OpenFile {
    public private(set) var descriptor: Int32

    public init(_ path: String, _ flags: Int32 = O_RDWR | O_CREAT, mode: mode_t = 0o644) throws(Errno) {
        descriptor = try System.open(at: AT_FDCWD, path, flags | O_CLOEXEC, mode: mode)
    }
    deinit { close() }

    public func close() {
        if descriptor >= 0 { _ = Glibc.close(descriptor) }
        descriptor = -1
    }

    /// Calls write(2) once, and returns the number of bytes written.
    public func write(_ count: Int) throws(Errno) -> Int {
        try System.write(descriptor, Self.pattern(count))
    }
    public func write(_ count: Int, at offset: Int64) throws(Errno) -> Int {
        try write(Self.pattern(count), at: offset)
    }
    /// Returns bytes other than zero, so that data differs from a hole.
    private static func pattern(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xA7, count: count) }
    /// Writes `count` bytes, at most `piece` at a time. After an error, the caller must determine how much was written.
    public func fill(_ count: Int, piece: Int = 1 << 20) throws(Errno) {
        var left = count
        while left > 0 { left -= try write(min(left, piece)) }
    }
    public func writeAll(_ bytes: [UInt8]) throws(Errno) {
        try System.writeAll(descriptor, bytes)
    }
    public func write(_ bytes: [UInt8], at offset: Int64) throws(Errno) -> Int {
        try Result<Int, any Error> {
            try bytes.withUnsafeBytes { try System.pwrite(descriptor, $0, offset: offset) }
        }.mapErrno()
    }
    public func read(_ count: Int, at offset: Int64 = 0) throws(Errno) -> [UInt8] {
        try System.read(descriptor, count, at: offset)
    }

    public func truncate(_ size: Int64) throws(Errno) { try System.truncate(descriptor, size) }
    public func allocate(_ mode: Int32, _ offset: Int64, _ length: Int64) throws(Errno) {
        try System.allocate(descriptor, mode: mode, offset: offset, length: length)
    }
    public func sync() throws(Errno) { try System.sync(descriptor) }
    public func seek(_ offset: Int64, _ whence: Int32) throws(Errno) -> Int64 {
        try System.seek(descriptor, offset, whence)
    }
    public func status() throws(Errno) -> FileStatus { try System.status(descriptor) }
}

/// Constants that Glibc's module hides: modes of fallocate(2), whence of lseek(2), and flags of renameat2(2).
public enum Allocate {
    public static let plain: Int32 = 0
    public static let keepSize: Int32 = 1
    public static let punchHole: Int32 = 3  // with KEEP_SIZE, which is required
    public static let zeroRange: Int32 = 16
    public static let zeroRangeKeepSize: Int32 = 17
}
public enum Seek {
    public static let data: Int32 = 3
    public static let hole: Int32 = 4
}
public enum RenameFlag {
    public static let noReplace: UInt32 = 1
    public static let exchange: UInt32 = 2
}

extension Result where Failure == any Error {
    /// Restores the type of an error that passed through a closure; everything here throws Errno.
    func mapErrno() throws(Errno) -> Success {
        switch self {
        case .success(let value): return value
        case .failure(let error as Errno): throw error
        case .failure: throw Errno.invalid
        }
    }
}
