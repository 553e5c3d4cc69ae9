/// A property of a backup that a developer should look at (docs/BACKUP.md, Findings).
public struct BackupFinding: Hashable, Codable, Sendable {
    /// The rules, worst first.
    public enum Rule: String, CaseIterable, Codable, Sendable {
        case largeBackup, userContentExcluded, hugeDocuments, largeDocuments, largeFile, reusedCache, emptyFile,
            redundantExclusion
    }

    public var rule: Rule
    /// The path; nil for a finding about the whole backup.
    public var path: String?
    public var bytes: ByteCount?
    /// The number of files, if it may be more than one.
    public var files: Int64?

    public init(rule: Rule, path: String?, bytes: ByteCount? = nil, files: Int64? = nil) {
        (self.rule, self.path, self.bytes, self.files) = (rule, path, bytes, files)
    }
}

extension BackupFinding: Comparable {
    /// Orders by rule, the worst first; then by bytes, the most first; then by path.
    public static func < (a: BackupFinding, b: BackupFinding) -> Bool {
        let (left, right) = (a.rank, b.rank)
        if left != right { return left < right }
        let (mine, theirs) = (a.bytes ?? .zero, b.bytes ?? .zero)
        if mine != theirs { return mine > theirs }
        return (a.path ?? "") < (b.path ?? "")
    }

    private var rank: Int { Rule.allCases.firstIndex(of: rule) ?? Rule.allCases.count }
}

extension BackupFinding.Rule {
    /// The problem in a few words.
    public var title: String {
        switch self {
        case .largeBackup: "the backup is over 500 MB"
        case .userContentExcluded: "user content that is not backed up"
        case .hugeDocuments: "over 1 GB of Documents in the backup"
        case .largeDocuments: "over 100 MB of Documents in the backup"
        case .largeFile: "files over 10 MB in the backup"
        case .reusedCache: "files in tmp or Library/Caches that the app keeps using"
        case .emptyFile: "empty files"
        case .redundantExclusion: "exclusions that have no effect"
        }
    }

    /// The remedy.
    public var advice: String {
        switch self {
        case .largeBackup: "Exclude data that can be downloaded again, or keep it in Library/Caches."
        case .userContentExcluded: "It is lost with the device. Include it, unless it is also kept elsewhere."
        case .hugeDocuments: "Tell the user how much space it takes, and how to make it smaller."
        case .largeDocuments:
            "Look for files that can be downloaded again: exclude them or move them to Library/Caches."
        case .largeFile: "If they can be downloaded again, exclude them or move them to Library/Caches."
        case .reusedCache: "They may be purged at any time. Files that cannot be recreated belong elsewhere."
        case .emptyFile: "A failed write may have left them. Check for empty files when opening them."
        case .redundantExclusion: "Items in tmp, Library/Caches or an excluded folder need no flag."
        }
    }
}

/// Recognizes files that a user seems to have created.
public enum UserContent {
    /// The extensions of documents and pictures, and of films in a camera's format. Music and other films are mostly downloads.
    private static let extensions: Set<String> = [
        "pdf", "doc", "docx", "odt", "pages", "rtf", "rtfd", "txt", "md", "tex", "xls", "xlsx", "ods", "numbers", "csv",
        "ppt", "pptx", "odp", "key", "epub", "jpg", "jpeg", "heic", "png", "gif", "tif", "tiff", "raw", "dng", "svg",
        "psd", "sketch", "mov",
    ]

    /// Returns whether a path is in Documents and has one of `extensions`, ignoring case.
    public static func isLike(path: String) -> Bool {
        guard path.hasPrefix("Documents/"), let name = path.split(separator: "/").last,
            let dot = name.lastIndex(of: "."), dot != name.startIndex
        else { return false }
        return extensions.contains(name[name.index(after: dot)...].lowercased())
    }
}
