/// A name of a node: an entry `name` in `directory`.
public struct Dentry: Hashable, Sendable {
    public var directory: Node
    public var name: Name

    public init(directory: Node, name: Name) {
        self.directory = directory
        self.name = name
    }

    /// The node that the entry refers to; nil if the directory has no such entry.
    var node: Node? { directory.part?.entries[name] }

    public static func == (a: Dentry, b: Dentry) -> Bool { a.directory === b.directory && a.name == b.name }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(directory))
        hasher.combine(name)
    }
}
