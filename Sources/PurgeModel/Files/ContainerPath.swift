/// A path into the data container of an app, `/.../Containers/Data/Application/UUID/...`, or a file URL of one. The part before
/// `Containers` may be anything: it differs between devices, simulators and runs.
public struct ContainerPath: Hashable, Sendable {
    /// The UUID of the container, in capital letters.
    public let container: String
    /// The path relative to the container, byte for byte; empty for the container itself.
    public let inner: [UInt8]

    /// The number of bytes of a text that may be part of a path (PATH_MAX), with room for a URL's percent signs.
    public static let longest = 3 * 4096
    private static let longestBeginning = 1024
    private static let uuidLength = 36
    private static let slash = UInt8(ascii: "/")
    private static let mark = Array("/Containers/Data/Application/".utf8)

    /// Parses a text that begins with such a path. Returns nil for any other text.
    public init?(_ text: ArraySlice<UInt8>) {
        let isURL = text.starts(with: "file:/".utf8)
        let path = isURL ? Self.path(ofURL: text) : text
        guard path.first == Self.slash, let start = Self.markStart(path) else { return nil }
        let rest = path[start...].dropFirst(Self.mark.count)
        let uuid = String(decoding: rest.prefix(Self.uuidLength), as: UTF8.self)
        let end = rest.dropFirst(Self.uuidLength)
        guard DeviceFault.isUUID(uuid), end.first ?? Self.slash == Self.slash, end.count <= Self.longest,
            !end.contains(0), let inner = Self.inner(isURL ? Self.decoded(end) : end)
        else { return nil }
        (container, self.inner) = (uuid.uppercased(), inner)
    }

    /// Returns the index at which `mark` begins; nil if more than `longestBeginning` bytes or a control character come before
    /// it.
    private static func markStart(_ path: ArraySlice<UInt8>) -> Int? {
        var rest = path.prefix(longestBeginning + mark.count)
        while let byte = rest.first, byte >= 0x20 {
            if byte == slash, rest.starts(with: mark) { return rest.startIndex }
            rest = rest.dropFirst()
        }
        return nil
    }

    private static func path(ofURL text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let rest = text.dropFirst("file:".utf8.count)
        guard rest.starts(with: "//".utf8) else { return rest }
        let host = "localhost".utf8
        let path = rest.dropFirst(2)
        return path.starts(with: host) ? path.dropFirst(host.count) : path
    }

    /// Decodes the percent signs of a URL. One without two hexadecimal digits stands for itself.
    private static func decoded(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var (decoded, rest): ([UInt8], ArraySlice<UInt8>) = ([], text)
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, digits.first != UInt8(ascii: "+"),
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), code != 0
            {
                decoded.append(code)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded[...]
    }

    /// Resolves `.` and `..`. Returns nil if the path leads out of the container.
    private static func inner(_ path: ArraySlice<UInt8>) -> [UInt8]? {
        var names: [ArraySlice<UInt8>] = []
        for name in path.split(separator: slash) where !name.elementsEqual(".".utf8) {
            if !name.elementsEqual("..".utf8) {
                names.append(name)
            } else if names.popLast() == nil {
                return nil
            }
        }
        return Array(names.joined(separator: [slash]))
    }
}
