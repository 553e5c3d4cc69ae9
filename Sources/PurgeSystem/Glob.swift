import Glibc

/// A pattern of fnmatch(3) for paths, byte by byte; its `*` matches a slash too.
public struct Glob: Sendable {
    private let pattern: RawText

    public init(_ bytes: some Sequence<UInt8>) { pattern = bytes.map { CChar(bitPattern: $0) } + [0] }
    public init(_ text: String) { self.init(text.utf8) }

    public func matches(_ path: some Sequence<UInt8>) -> Bool {
        fnmatch(pattern, path.map { CChar(bitPattern: $0) } + [0], 0) == 0
    }

    /// Whether a text has anything special for fnmatch(3) in it.
    public static func isPattern(_ text: String) -> Bool { text.utf8.contains(where: isSpecial) }

    /// A pattern that matches exactly this path.
    public static func literal(_ path: String) -> String {
        isPattern(path)
            ? String(decoding: path.utf8.flatMap { isSpecial($0) ? [UInt8(ascii: "\\"), $0] : [$0] }, as: UTF8.self)
            : path
    }

    /// Whether this byte has a special meaning in a pattern.
    public static func isSpecial(_ byte: UInt8) -> Bool { "*?[]\\".utf8.contains(byte) }
}
