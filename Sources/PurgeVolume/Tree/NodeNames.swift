import PurgeModel

/// A name of a node: an entry `name` in `directory`.
struct Dentry: Hashable {
    var directory: Node
    var name: Name

    static func == (a: Dentry, b: Dentry) -> Bool { a.directory === b.directory && a.name == b.name }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(directory))
        hasher.combine(name)
    }
}

/// What a name alone gives the file that has it.
struct NamePlace: Equatable {
    var tier: Tier
    var isExcluded: Bool
}

/// The names of a file that has several, counted by what they give it, so that one more, one less or
/// another place for one costs the same however many there are.
struct NodeNames {
    private var places: [Dentry: NamePlace] = [:]
    private var temporary = 0
    private var caches = 0
    private var persistent = 0
    private var excluded = 0

    var count: Int { places.count }
    var any: Dentry? { places.first?.key }
    /// The most durable tier of any name.
    var tier: Tier { persistent > 0 ? .persistent : caches > 0 ? .caches : .temporary }
    /// Whether each name is in an excluded place.
    var isExcluded: Bool { excluded == places.count }

    mutating func set(_ dentry: Dentry, to place: NamePlace) {
        if let old = places.updateValue(place, forKey: dentry) { count(old, -1) }
        count(place, 1)
    }

    mutating func remove(_ dentry: Dentry) {
        if let old = places.removeValue(forKey: dentry) { count(old, -1) }
    }

    private mutating func count(_ place: NamePlace, _ difference: Int) {
        switch place.tier {
        case .temporary: temporary += difference
        case .caches: caches += difference
        case .persistent: persistent += difference
        }
        if place.isExcluded { excluded += difference }
    }
}
