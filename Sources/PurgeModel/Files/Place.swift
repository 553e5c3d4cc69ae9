/// The kind of a directory in the container, which determines the tier of its entries. `tmp` at the root and `Library/Caches`
/// each have their own tier, which also applies to everything below them.
public enum Place: UInt8, CaseIterable, Sendable {
    case temporary, caches
    /// A persistent place in which no name is special.
    case persistent
    case root, library

    public var tier: Tier {
        switch self {
        case .temporary: .temporary
        case .caches: .caches
        case .persistent, .root, .library: .persistent
        }
    }

    /// Returns the place of an entry in a directory of this place. `isNamed` tells whether the entry has a given name.
    public func entry(isNamed: (StaticString) -> Bool) -> Place {
        switch self {
        case .temporary, .caches, .persistent: self
        case .root: isNamed("tmp") ? .temporary : isNamed("Library") ? .library : .persistent
        case .library: isNamed("Caches") ? .caches : .persistent
        }
    }

    /// Returns the place of an entry with this UTF-8 name.
    public func entry(named name: some Sequence<UInt8>) -> Place {
        entry { text in text.withUTF8Buffer { name.elementsEqual($0) } }
    }

    /// Returns the place of a path in the container with components separated by slashes.
    public static func at(path: some Sequence<UInt8>) -> Place {
        path.split(separator: UInt8(ascii: "/")).reduce(.root) { $0.entry(named: $1) }
    }
}
