import PurgeModel
import Testing

@testable import PurgeTree

/// A hard-linked file has the most durable tier of its names (docs/RULES.md, Places).
struct NodeNamesTests {
    private static let directory = Node(inode: 1, kind: .directory, name: Name(""))

    private func tier(_ tiers: [Tier]) -> Tier {
        var names = NodeNames()
        for (number, tier) in tiers.enumerated() {
            names.set(
                Dentry(directory: Self.directory, name: Name("\(number)")),
                to: NamePlace(tier: tier, isExcluded: false))
        }
        return names.tier
    }

    @Test(
        arguments: [
            (.temporary, .temporary, .temporary), (.temporary, .caches, .caches),
            (.temporary, .persistent, .persistent),
            (.caches, .caches, .caches), (.caches, .persistent, .persistent), (.persistent, .persistent, .persistent),
        ] as [(Tier, Tier, Tier)])
    func severalNamesHaveTheMostDurable(a: Tier, b: Tier, expected: Tier) {
        #expect(tier([a, b]) == expected)
        #expect(tier([b, a]) == expected)
    }
}
