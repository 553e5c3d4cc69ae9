import PurgeModel
import Testing

@Suite struct PlaceTierTests {
    @Test(
        arguments: [
            ("", .root), ("tmp", .temporary), ("tmp/a/b", .temporary), ("tmp/Library/Caches/x", .temporary),
            ("Library", .library), ("Library/x", .persistent), ("Library/tmp", .persistent),
            ("Library/Caches", .caches), ("Library/Caches/x", .caches), ("Library/Caches/tmp/x", .caches),
            ("Library/Library/Caches", .persistent), ("Library/Caches2/x", .persistent),
            ("Library/caches", .persistent), ("Library/Preferences/Caches", .persistent),
            ("Documents", .persistent), ("Documents/tmp", .persistent), ("Documents/Library/Caches/x", .persistent),
            ("Caches", .persistent), ("TMP", .persistent), ("tmp2", .persistent), (".tmp", .persistent),
            ("library/Caches", .persistent), ("note.txt", .persistent),
        ] as [(String, Place)])
    func placeOfAPath(path: String, place: Place) {
        #expect(Place.at(path: path.utf8) == place)
    }

    @Test(
        arguments: [
            (.root, .persistent), (.library, .persistent), (.persistent, .persistent), (.caches, .caches),
            (.temporary, .temporary),
        ] as [(Place, Tier)])
    func tierOfAPlace(place: Place, tier: Tier) {
        #expect(place.tier == tier)
    }

    /// Names are compared by bytes: a name that is not UTF-8 has no special meaning, even if it begins with the name of a
    /// place.
    @Test func bytesThatAreNoTextHaveNoMeaning() {
        #expect(Place.root.entry(named: [0x74, 0x6D, 0x70, 0xFF]) == .persistent)
        #expect(Place.library.entry(named: [0xFF, 0xFE]) == .persistent)
    }

    @Test func anEntryIsAskedForTheNamesThatMatterAlone() {
        var asked: [String] = []
        _ = Place.root.entry {
            asked.append("\($0)"); return false
        }
        _ = Place.library.entry {
            asked.append("\($0)"); return false
        }
        _ = Place.persistent.entry {
            asked.append("\($0)"); return false
        }
        #expect(asked == ["tmp", "Library", "Caches"])
    }
}
