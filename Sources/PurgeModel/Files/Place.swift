/// What a directory of the container means for its entries. Two places have a tier of their own, `tmp` at the root
/// and `Library/Caches`; everything below a place belongs to it.
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

    /// The place of an entry of a directory in this place; `isNamed` returns whether the entry has a certain name.
    public func entry(isNamed: (StaticString) -> Bool) -> Place {
        switch self {
        case .temporary, .caches, .persistent: self
        case .root: isNamed("tmp") ? .temporary : isNamed("Library") ? .library : .persistent
        case .library: isNamed("Caches") ? .caches : .persistent
        }
    }

    /// The same for a name in UTF-8.
    public func entry(named name: some Sequence<UInt8>) -> Place {
        entry { text in text.withUTF8Buffer { name.elementsEqual($0) } }
    }

    /// The place of a path in the container, whose components are separated by slashes.
    public static func at(path: some Sequence<UInt8>) -> Place {
        path.split(separator: UInt8(ascii: "/")).reduce(.root) { $0.entry(named: $1) }
    }
}
