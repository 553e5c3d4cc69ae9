/// The folders that every container has.
public enum StandardFolders {
    /// Paths in the container, each after its parent.
    public static let paths = [
        "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
    ]

    /// The largest number of components in a path.
    public static let depth = 2

    private static let names = Set(paths.map { $0.split(separator: "/").map { Array($0.utf8) } })

    /// Returns whether a path, given as its components, is one of these folders.
    public static func include(_ path: [[UInt8]]) -> Bool { names.contains(path) }
}
