import Glibc

/// The name of a directory entry: any bytes except zero, stored with a terminating zero.
public struct Name: Hashable, Sendable {
    @usableFromInline let bytes: [CChar]
    /// The longest name in bytes (NAME_MAX), the same on every store.
    public static let maximumLength = 255
    /// Length in bytes, without the terminating zero.
    public var length: Int { bytes.count - 1 }

    public init(_ name: UnsafePointer<CChar>) {
        bytes = Array(UnsafeBufferPointer(start: name, count: strlen(name) + 1))
    }

    public init(utf8 name: some Sequence<UInt8>) { bytes = name.map { CChar(bitPattern: $0) } + [0] }

    public init(_ text: StaticString) {
        bytes = text.withUTF8Buffer { $0.map { CChar(bitPattern: $0) } } + [0]
    }

    // Uses memcmp, because the methods of [CChar] compare element by element.
    public static func == (left: Name, right: Name) -> Bool {
        left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in
                guard left.count == right.count, let first = left.baseAddress, let second = right.baseAddress
                else { return left.count == right.count }
                return memcmp(first, second, left.count) == 0
            }
        }
    }

    /// Returns whether the name precedes `other` when paths are compared byte by byte. `goesOn` and `otherGoesOn` tell whether
    /// the respective path continues after the name, with a slash. No name contains a slash or a zero byte.
    public func precedes(_ other: Name, goesOn: Bool = false, otherGoesOn: Bool = false) -> Bool {
        bytes.withUnsafeBytes { mine in
            other.bytes.withUnsafeBytes { theirs in
                let common = min(mine.count, theirs.count) - 1
                if common > 0, let first = mine.baseAddress, let second = theirs.baseAddress {
                    let order = memcmp(first, second, common)
                    if order != 0 { return order < 0 }
                }
                func next(of name: UnsafeRawBufferPointer, _ goesOn: Bool) -> UInt8 {
                    name[common] == 0 && goesOn ? UInt8(ascii: "/") : name[common]
                }
                return next(of: mine, goesOn) < next(of: theirs, otherGoesOn)
            }
        }
    }

    public func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }

    /// Calls `body` with the name as a C string. Specialized at each use, because every access to the store goes through it.
    @inlinable public func withCName<Result, Failure: Error>(
        _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A zero-terminated array of CChar is a C string.
        try body(bytes)
    }

    public func isEqual(to text: StaticString) -> Bool {
        text.withUTF8Buffer { other in
            other.count == bytes.count - 1 && zip(other, bytes).allSatisfy { CChar(bitPattern: $0) == $1 }
        }
    }

    /// The bytes without the terminating zero.
    public var utf8: some Sequence<UInt8> { bytes.dropLast().lazy.map { UInt8(bitPattern: $0) } }

    /// Appends the bytes without the terminating zero.
    public func append(to text: inout [UInt8]) {
        bytes.withUnsafeBytes { text.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
    }

    /// The name as text, with U+FFFD for bytes that are not UTF-8.
    public var text: String { String(decoding: utf8.map { $0 }, as: UTF8.self) }
}
