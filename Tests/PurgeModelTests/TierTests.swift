import PurgeModel
import Testing

@Suite struct TierTests {
    private func tier(of name: StaticString, in parent: Tier, root: Bool = false, library: Bool = false) -> Tier {
        let elsewhere: Place =
            switch parent {
            case .temporary: .temporary
            case .caches: .caches
            case .persistent: .persistent
            }
        let place = root ? .root : library ? .library : elsewhere
        return place.entry { $0.description == name.description }.tier
    }

    @Test(
        arguments: [
            ("tmp", .temporary), ("Library", .persistent), ("Documents", .persistent), ("Caches", .persistent),
            ("TMP", .persistent), ("tmp2", .persistent), (".tmp", .persistent), ("note.txt", .persistent),
        ] as [(StaticString, Tier)])
    func entriesOfTheRoot(name: StaticString, expected: Tier) {
        #expect(tier(of: name, in: .persistent, root: true) == expected)
    }

    @Test(
        arguments: [
            ("Caches", .caches), ("caches", .persistent), ("Application Support", .persistent),
            ("Preferences", .persistent),
            ("tmp", .persistent), ("Caches2", .persistent),
        ] as [(StaticString, Tier)])
    func entriesOfLibrary(name: StaticString, expected: Tier) {
        #expect(tier(of: name, in: .persistent, library: true) == expected)
    }

    @Test(arguments: Tier.allCases)
    func elsewhereAnEntryHasItsDirectorysTier(parent: Tier) {
        for name in ["tmp", "Caches", "Library", "x"] as [StaticString] {
            #expect(tier(of: name, in: parent) == parent)
        }
    }

    @Test func namesAreThoseOfTheContract() {
        #expect(Tier.allCases.map(\.rawValue) == ["temporary", "caches", "persistent"])
    }
}
