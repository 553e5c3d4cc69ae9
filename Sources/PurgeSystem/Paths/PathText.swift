/// Compares and splits paths by their bytes, as the kernel does. Swift finds strings equal although their bytes differ (an
/// accented letter can be written in two ways), and does not recognize a slash before a combining mark.
extension String {
    public func isPath(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// A hash of the path's bytes. An accidental collision is less likely than a disk error.
    public var pathHash: Int {
        var hasher = Hasher()
        var path = self
        path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    /// Returns whether this absolute path is inside `directory`, which is absolute too.
    public func isPath(below directory: String) -> Bool {
        if directory.isPath("/") { return utf8.first == UInt8(ascii: "/") && utf8.count > 1 }
        return utf8.starts(with: directory.utf8) && utf8.dropFirst(directory.utf8.count).first == UInt8(ascii: "/")
    }

    /// Returns the rest of this absolute path after `directory`: empty for the directory itself, otherwise beginning with a
    /// slash; nil if the path is not inside.
    public func pathRest(after directory: String) -> String? {
        if isPath(directory) { return "" }
        if directory.isPath("/") { return self }
        return isPath(below: directory) ? String(Substring(utf8.dropFirst(directory.utf8.count))) : nil
    }

    /// The components of the path.
    public var pathNames: [String] { utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

    /// The parent of the path, ignoring trailing slashes; `.` for a single name.
    public var parentPath: String {
        let slash = UInt8(ascii: "/")
        var rest = utf8[...]
        while rest.last == slash { rest.removeLast() }
        guard let end = rest.lastIndex(of: slash) else { return rest.isEmpty && !isEmpty ? "/" : "." }
        rest = rest[..<end]
        while rest.last == slash { rest.removeLast() }
        return rest.isEmpty ? "/" : String(Substring(rest))
    }

    /// Creates a string from valid UTF-8; nil for other bytes, which would otherwise be altered.
    public init?(path bytes: some Sequence<UInt8>) { self.init(validating: Array(bytes), as: UTF8.self) }
}
