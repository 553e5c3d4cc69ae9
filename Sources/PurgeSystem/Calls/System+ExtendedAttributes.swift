import CSystemShims
import Glibc

// Extended attributes of `name` in `dir`, or of `dir` itself if `name` is nil.
extension System {
    /// Returns the length of the value, and stores the value in `buffer` unless that is empty; ERANGE if the value does not
    /// fit.
    public static func attribute(
        at dir: Int32, _ name: CName?, _ key: CName, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> Int {
        try SystemCall.run(.getxattr) { shim_getxattr(dir, name, key, buffer.baseAddress, buffer.count) }
    }
    /// Returns the value; ERANGE if it is longer than `limit` bytes.
    public static func attribute(
        at dir: Int32, _ name: CName?, _ key: CName, limit: Int
    ) throws(Errno) -> [UInt8] {
        var value = [UInt8](repeating: 0, count: limit)
        let count = try SystemCall.run(.getxattr) { shim_getxattr(dir, name, key, &value, limit) }
        return Array(value[..<count])
    }
    public static func setAttribute(
        at dir: Int32, _ name: CName?, _ key: CName, _ value: [UInt8], flags: Int32 = 0
    ) throws(Errno) {
        try SystemCall.done(.setxattr) { shim_setxattr(dir, name, key, value, value.count, flags) }
    }
    /// Returns the length of the list of names, each terminated by a zero, and stores the list in `buffer` unless that is
    /// empty; ERANGE if the list does not fit.
    public static func attributeNames(
        at dir: Int32, _ name: CName?, into buffer: UnsafeMutableBufferPointer<CChar>
    ) throws(Errno) -> Int {
        try SystemCall.run(.listxattr) { shim_listxattr(dir, name, buffer.baseAddress, buffer.count) }
    }
    public static func removeAttribute(at dir: Int32, _ name: CName?, _ key: CName) throws(Errno) {
        try SystemCall.done(.removexattr) { shim_removexattr(dir, name, key) }
    }
}
