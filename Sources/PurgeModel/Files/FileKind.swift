/// What a file seems to be, by its name alone: opening it would count as a use, and change what is purged.
public enum FileKind {
    private static let databases: Set<String> = [
        "sqlite", "sqlite3", "sqlitedb", "db", "db3", "realm", "store", "mdb",
    ]
    /// The system's own cache of answers from the web, which is meant to be purged.
    private static let systemCaches: Set<String> = ["cache.db"]
    /// How the names of the files beside a database end.
    private static let companions = ["-wal", "-shm", "-journal"]
    /// Whole names, or their endings.
    private static let markers: Set<String> = ["lock", "log", "__init__.py", "py.typed"]
    /// What only a user makes, wherever it is. (`key` is more often a key than a presentation, and `raw` any data.)
    private static let documents: Set<String> = [
        "doc", "docx", "odt", "pages", "rtf", "rtfd", "xls", "xlsx", "ods", "numbers", "ppt", "pptx", "odp", "psd",
        "sketch",
    ]
    private static let cameraFormats: Set<String> = ["heic", "heif", "dng", "mov"]
    private static let pictures: Set<String> = ["jpg", "jpeg", "png", "mp4", "m4v"]
    /// What cameras begin names with.
    private static let cameraPrefixes = ["img_", "dsc", "dscf", "dcim", "pxl_", "vid_", "mov_"]

    /// A database, but none of the files beside one, such as `-wal`.
    public static func isDatabase(_ path: String) -> Bool {
        let name = Self.name(path)
        return databases.contains(Self.ending(name)) && !systemCaches.contains(name) && !isOfSystem(path)
    }

    /// Whether it is empty most of the time, and means nothing by it: what a database keeps beside it, markers, locks, and
    /// logs in which nothing was written yet.
    static func isOftenEmpty(_ path: String) -> Bool {
        let name = Self.name(path)
        return name.hasPrefix(".") || companions.contains { name.hasSuffix($0) }
            || markers.contains(name) || markers.contains(Self.ending(name))
    }

    /// In a folder that the system keeps in Library/Caches for itself, such as com.apple.nsurlsessiond.
    private static func isOfSystem(_ path: String) -> Bool {
        let folders = path.split(separator: "/").dropLast()
        return folders.starts(with: ["Library", "Caches"])
            && folders.dropFirst(2).contains { $0.hasPrefix("com.apple.") }
    }

    /// What looks as if a user had made it. In Documents that is more than elsewhere: pictures in a cache are mostly
    /// thumbnails or downloads, so there they count only if they have the format or the name of a camera.
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

/// What about a name may get in the way elsewhere.
public enum NameProblem: String, Sendable {
    case notUTF8 = "not UTF-8"
    case control = "control characters"
    case forbidden = "a colon or a backslash"
    case blank = "a blank or a dot at its end, or a blank at its beginning"
    case equal = "differs from another name only in case or Unicode form"

    /// The first problem of a name by itself.
    public static func of(_ name: some BidirectionalCollection<UInt8>) -> NameProblem? {
        if name.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return .control }
        if name.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\\") }) { return .forbidden }
        if name.first == UInt8(ascii: " ") || name.last == UInt8(ascii: " ") { return .blank }
        if name.last == UInt8(ascii: ".") { return .blank }
        return String(validating: Array(name), as: UTF8.self) == nil ? .notUTF8 : nil
    }
}
