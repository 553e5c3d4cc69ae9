/// To the kernel paths are bytes. To Swift two strings can be equal although their bytes differ (an accented letter
/// can be written in two ways), and a slash before a combining mark is not a slash: so paths are compared and
/// split here.
extension String {
    public func isPath(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Of its bytes. Two paths that have it in common by chance are rarer than any error of the disk.
    public var pathHash: Int {
        var hasher = Hasher()
        var path = self
        path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    /// Whether it is inside `directory`; both are absolute.
    public func isPath(below directory: String) -> Bool {
        utf8.starts(with: directory.utf8) && utf8.dropFirst(directory.utf8.count).first == UInt8(ascii: "/")
    }

    /// The part after `directory`, both being absolute: empty for the directory itself, otherwise beginning with a
    /// slash; nil if it is not inside.
    public func pathRest(after directory: String) -> String? {
        if isPath(directory) { return "" }
        if directory.isPath("/") { return self }
        return isPath(below: directory) ? String(Substring(utf8.dropFirst(directory.utf8.count))) : nil
    }

    /// The parts between slashes.
    public var pathNames: [String] { utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) } }

    /// `.` if it is only a name; slashes at the end do not count.
    public var parentPath: String {
        let slash = UInt8(ascii: "/")
        var rest = utf8[...]
        while rest.last == slash { rest.removeLast() }
        guard let end = rest.lastIndex(of: slash) else { return rest.isEmpty && !isEmpty ? "/" : "." }
        rest = rest[..<end]
        while rest.last == slash { rest.removeLast() }
        return rest.isEmpty ? "/" : String(Substring(rest))
    }

    /// nil for bytes that are not UTF-8, instead of a changed text.
    public init?(path bytes: some Sequence<UInt8>) { self.init(validating: Array(bytes), as: UTF8.self) }
}
