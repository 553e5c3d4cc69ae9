/// The folders that every container has.
public enum StandardFolders {
    /// Below the container, each after its parent.
    public static let paths = [
        "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
    ]

    /// How many names a path has at most.
    public static let depth = 2

    private static let names = Set(paths.map { $0.split(separator: "/").map { Array($0.utf8) } })

    /// Whether the names lead to one of them.
    public static func include(_ path: [[UInt8]]) -> Bool { names.contains(path) }
}
