import PurgeSystem

/// The full name of an extended attribute: any bytes except zero.
public struct AttributeKey: Hashable, Sendable {
    /// The name with its terminating zero, so it can be passed as a C string.
    @usableFromInline let bytes: RawText
    /// XATTR_NAME_MAX.
    public static let maximumLength = 255
    public var length: Int { bytes.count - 1 }

    public init(_ name: CName) { bytes = System.rawText(name) }
    private init(bytes: RawText) { self.bytes = bytes }

    public init(utf8 name: some Sequence<UInt8>) { bytes = name.map { CChar(bitPattern: $0) } + [0] }

    @inlinable public func withCName<Result, Failure: Error>(
        _ body: (CName) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(bytes) }

    public func hasPrefix(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { other in utf8.starts(with: other) }
    }

    /// Returns the name without `prefix`, which it must have.
    public func dropping(_ prefix: StaticString) -> AttributeKey {
        AttributeKey(bytes: Array(bytes.dropFirst(prefix.utf8CodeUnitCount)))
    }

    public func prefixed(by prefix: StaticString) -> AttributeKey {
        AttributeKey(bytes: prefix.withUTF8Buffer { $0.map { CChar(bitPattern: $0) } } + bytes)
    }

    public func isEqual(to text: StaticString) -> Bool {
        length == text.utf8CodeUnitCount && hasPrefix(text)
    }

    public var utf8: some Sequence<UInt8> { bytes.dropLast().lazy.map { UInt8(bitPattern: $0) } }
    /// The name as text. Bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: utf8.map { $0 }, as: UTF8.self) }
}
