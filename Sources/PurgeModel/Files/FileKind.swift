/// Guesses the kind of a file from its path alone, because opening the file would count as a use and so change the order of
/// purging.
public enum FileKind {
    private static let databases: Set<String> = [
        "sqlite", "sqlite3", "sqlitedb", "db", "db3", "realm", "store", "mdb",
    ]
    /// The system's own cache of web responses, which is meant to be purged.
    private static let systemCaches: Set<String> = ["cache.db"]
    /// The suffixes of the files that SQLite keeps beside a database.
    private static let companions = ["-wal", "-shm", "-journal"]
    /// The names or extensions of markers, locks and logs.
    private static let markers: Set<String> = ["lock", "log", "__init__.py", "py.typed"]
    /// The extensions of formats that only users create, in any folder. `key` is missing because it is more often a key than a
    /// presentation, and `raw` because it can be any data.
    private static let documents: Set<String> = [
        "doc", "docx", "odt", "pages", "rtf", "rtfd", "xls", "xlsx", "ods", "numbers", "ppt", "pptx", "odp", "psd",
        "sketch",
    ]
    private static let cameraFormats: Set<String> = ["heic", "heif", "dng", "mov"]
    private static let pictures: Set<String> = ["jpg", "jpeg", "png", "mp4", "m4v"]
    /// The prefixes that cameras give to file names.
    private static let cameraPrefixes = ["img_", "dsc", "dscf", "dcim", "pxl_", "vid_", "mov_"]

    /// Returns whether the file is a database, as opposed to a file beside one, such as `-wal`. The system's own databases in
    /// Library/Caches do not count.
    public static func isDatabase(_ path: String) -> Bool {
        let name = Self.name(path)
        return databases.contains(Self.ending(name)) && !systemCaches.contains(name) && !isOfSystem(path)
    }

    /// Returns whether files of this kind are often empty without being damaged: hidden files, files beside a database,
    /// markers, locks, and logs that have no entries yet.
    static func isOftenEmpty(_ path: String) -> Bool {
        let name = Self.name(path)
        return name.hasPrefix(".") || companions.contains { name.hasSuffix($0) }
            || markers.contains(name) || markers.contains(Self.ending(name))
    }

    /// Returns whether the file is in a system folder below Library/Caches, such as com.apple.nsurlsessiond.
    private static func isOfSystem(_ path: String) -> Bool {
        let folders = path.split(separator: "/").dropLast()
        return folders.starts(with: ["Library", "Caches"])
            && folders.dropFirst(2).contains { $0.hasPrefix("com.apple.") }
    }

    /// Returns whether a user seems to have created the file. Pictures in Documents count. Pictures elsewhere are mostly
    /// thumbnails or downloads, and count only with a camera's format or file name. Videos need such a format or file name in
    /// every folder, even in Documents.
    public static func isUserContent(_ path: String) -> Bool {
        if UserContent.isLike(path: path) { return true }
        let name = Self.name(path)
        let ending = Self.ending(name)
        if documents.contains(ending) || cameraFormats.contains(ending) { return true }
        return pictures.contains(ending) && cameraPrefixes.contains { isCamera(name, $0) }
    }

    private static func isCamera(_ name: String, _ prefix: String) -> Bool {
        name.hasPrefix(prefix) && name.dropFirst(prefix.count).first?.isNumber == true
    }

    private static func name(_ path: String) -> String {
        path.split(separator: "/").last?.lowercased() ?? ""
    }

    private static func ending(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return "" }
        return String(name[name.index(after: dot)...])
    }
}

/// A property of a name that can cause trouble on other systems.
public enum NameProblem: String, Sendable {
    case notUTF8 = "not UTF-8"
    case control = "control characters"
    case forbidden = "a colon or a backslash"
    case blank = "a blank or a dot at its end, or a blank at its beginning"
    case equal = "differs from another name only in case or Unicode form"

    /// Returns the first problem that a name has by itself.
    public static func of(_ name: some BidirectionalCollection<UInt8>) -> NameProblem? {
        if name.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return .control }
        if name.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\\") }) { return .forbidden }
        if name.first == UInt8(ascii: " ") || name.last == UInt8(ascii: " ") { return .blank }
        if name.last == UInt8(ascii: ".") { return .blank }
        return String(validating: Array(name), as: UTF8.self) == nil ? .notUTF8 : nil
    }
}
