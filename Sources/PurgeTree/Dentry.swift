/// A name of a node: an entry `name` in `directory`.
package struct Dentry: Hashable, Sendable {
    package var directory: Node
    package var name: Name

    package init(directory: Node, name: Name) {
        self.directory = directory
        self.name = name
    }

    /// The node with this name.
    package var node: Node? { directory.part?.entries[name] }

    package static func == (a: Dentry, b: Dentry) -> Bool { a.directory === b.directory && a.name == b.name }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(directory))
        hasher.combine(name)
    }
}
