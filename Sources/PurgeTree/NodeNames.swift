import PurgeModel

/// The properties that a file gets from one of its names.
package struct NamePlace: Equatable {
    package var tier: Tier
    package var isExcluded: Bool

    package init(tier: Tier, isExcluded: Bool) {
        self.tier = tier
        self.isExcluded = isExcluded
    }
}

/// The names of a file that has several, counted by the properties that they give it, so that adding, removing or
/// moving one costs the same however many there are.
package struct NodeNames {
    private var places: [Dentry: NamePlace] = [:]
    private var temporary = 0
    private var caches = 0
    private var persistent = 0
    private var excluded = 0

    package init() {}

    package var count: Int { places.count }
    package var any: Dentry? { places.first?.key }
    /// The most durable tier of any name.
    package var tier: Tier { persistent > 0 ? .persistent : caches > 0 ? .caches : .temporary }
    /// Whether each name is in an excluded place.
    package var isExcluded: Bool { excluded == places.count }

    package mutating func set(_ dentry: Dentry, to place: NamePlace) {
        if let old = places.updateValue(place, forKey: dentry) { count(old, -1) }
        count(place, 1)
    }

    package mutating func remove(_ dentry: Dentry) {
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
