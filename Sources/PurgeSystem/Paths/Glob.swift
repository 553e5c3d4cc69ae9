import Glibc

/// An fnmatch(3) pattern for paths, matched byte by byte. Its `*` also matches a slash.
public struct Glob: Sendable {
    private let pattern: RawText

    public init(_ bytes: some Sequence<UInt8>) { pattern = bytes.map { CChar(bitPattern: $0) } + [0] }
    public init(_ text: String) { self.init(text.utf8) }

    public func matches(_ path: some Sequence<UInt8>) -> Bool {
        fnmatch(pattern, path.map { CChar(bitPattern: $0) } + [0], 0) == 0
    }

    /// Returns whether a string contains a character that is special to fnmatch(3).
    public static func isPattern(_ text: String) -> Bool { text.utf8.contains(where: isSpecial) }

    /// Returns the only path that a pattern can match, or nil if it may match others or ends in a lone backslash.
    public static func onlyMatch(of pattern: String) -> String? {
        var path: [UInt8] = []
        var bytes = pattern.utf8.makeIterator()
        while let byte = bytes.next() {
            if byte == UInt8(ascii: "\\") {
                guard let next = bytes.next() else { return nil }
                path.append(next)
            } else if isSpecial(byte) {
                return nil
            } else {
                path.append(byte)
            }
        }
        return String(decoding: path, as: UTF8.self)
    }

    /// Returns a pattern that matches exactly this path.
    public static func literal(_ path: String) -> String {
        isPattern(path)
            ? String(decoding: path.utf8.flatMap { isSpecial($0) ? [UInt8(ascii: "\\"), $0] : [$0] }, as: UTF8.self)
            : path
    }

    public static func isSpecial(_ byte: UInt8) -> Bool { "*?[]\\".utf8.contains(byte) }
}
