import PurgeModel

/// Properties that a file gets from one of its names.
public struct NamePlace: Equatable {
    public var tier: Tier
    public var isExcluded: Bool

    public init(tier: Tier, isExcluded: Bool) {
        self.tier = tier
        self.isExcluded = isExcluded
    }
}

/// The names of a hard-linked file. The names are counted by their properties, so that adding, removing or moving one takes
/// constant time.
public struct NodeNames {
    private var places: [Dentry: NamePlace] = [:]
    private var temporary = 0
    private var caches = 0
    private var persistent = 0
    private var excluded = 0

    public init() {}

    public var count: Int { places.count }
    public var any: Dentry? { places.first?.key }
    /// The most durable tier of any name.
    public var tier: Tier { persistent > 0 ? .persistent : caches > 0 ? .caches : .temporary }
    /// Whether every name is in an excluded place.
    public var isExcluded: Bool { excluded == places.count }

    public mutating func set(_ dentry: Dentry, to place: NamePlace) {
        if let old = places.updateValue(place, forKey: dentry) { count(old, -1) }
        count(place, 1)
    }

    public mutating func remove(_ dentry: Dentry) {
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
