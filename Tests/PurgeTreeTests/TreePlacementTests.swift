import PurgeModel
import Testing

@testable import PurgeTree

/// Tier, mark and exclusion follow from a file's names (docs/RULES.md).
struct TreePlacementTests {
    /// A step, and the resulting blocks in tmp, in Library/Caches and elsewhere.
    private typealias Row = (step: (inout TreeFixture) -> Void, tiers: [Int64])

    private func run(_ fixture: inout TreeFixture, _ rows: [Row], _ location: SourceLocation = #_sourceLocation) {
        for (number, row) in rows.enumerated() {
            row.step(&fixture)
            #expect(fixture.tiers == row.tiers, "row \(number)", sourceLocation: location)
        }
    }

    @Test func aFileMovesToTheTierOfItsNewPlace() {
        var fixture = TreeFixture()
        fixture.make("f", blocks: 2)
        run(
            &fixture,
            [
                ({ $0.rename("f", "tmp/f") }, [2, 0, 0]),
                ({ $0.rename("tmp/f", "Library/Caches/f") }, [0, 2, 0]),
                ({ $0.rename("Library/Caches/f", "Library/f") }, [0, 0, 2]),
                // A place's name counts only at the root, even for a file.
                ({ $0.rename("Library/f", "Documents/tmp") }, [0, 0, 2]),
                (
                    {
                        $0.unlink("tmp"); $0.rename("Documents/tmp", "tmp")
                    }, [2, 0, 0]
                ),
            ])
    }

    @Test func libraryTakesItsCachesAlong() {
        var fixture = TreeFixture()
        fixture.makeDirectory("Library/Caches/a")
        fixture.make("Library/Caches/a/f", blocks: 3)
        fixture.make("Library/g", blocks: 1)
        run(
            &fixture,
            [
                ({ $0.rename("Library", "Other") }, [0, 0, 4]),
                ({ $0.rename("Other", "Library") }, [0, 3, 1]),
                ({ $0.rename("Library", "Documents/Library") }, [0, 0, 4]),
                ({ $0.rename("Documents/Library", "tmp/Library") }, [4, 0, 0]),
                ({ $0.rename("tmp/Library", "Library") }, [0, 3, 1]),
                ({ $0.rename("Library/Caches", "Library/caches") }, [0, 0, 4]),
                ({ $0.rename("Library/caches", "Library/Caches") }, [0, 3, 1]),
                ({ $0.rename("Library/Caches", "tmp/Caches") }, [3, 0, 1]),
            ])
    }

    @Test func placesChangePlaces() {
        var fixture = TreeFixture()
        fixture.make("Library/Caches/f", blocks: 3)
        fixture.make("tmp/g", blocks: 1)
        run(
            &fixture,
            [
                ({ $0.tree.exchange($0.dentry("tmp"), $0.dentry("Library/Caches")) }, [3, 1, 0]),
                ({ $0.tree.exchange($0.dentry("tmp"), $0.dentry("Documents")) }, [0, 1, 3]),
                ({ $0.tree.exchange($0.dentry("Library/Caches/g"), $0.dentry("Documents/f")) }, [0, 3, 1]),
            ])
    }

    @Test func hardLinksHaveTheMostDurableTier() {
        var fixture = TreeFixture()
        fixture.make("tmp/f", blocks: 2)
        fixture.makeDirectory("Documents/a")
        run(
            &fixture,
            [
                ({ $0.link("tmp/f", "Library/Caches/f") }, [0, 2, 0]),
                ({ $0.link("tmp/f", "Documents/a/f") }, [0, 0, 2]),
                // One of the file's names moves with a directory.
                ({ $0.rename("Documents/a", "tmp/a") }, [0, 2, 0]),
                ({ $0.unlink("Library/Caches/f") }, [2, 0, 0]),
                ({ $0.rename("tmp/a", "Documents/a") }, [0, 0, 2]),
                // rename(2) of one name of a file onto another leaves both.
                ({ $0.rename("Documents/a/f", "tmp/f") }, [0, 0, 2]),
                ({ $0.unlink("tmp/f") }, [0, 0, 2]),
                ({ $0.rename("Documents/a/f", "tmp/f") }, [2, 0, 0]),
            ])
    }

    @Test func marksOfDirectoriesReachAllBelow() {
        var fixture = TreeFixture()
        for path in ["Documents/a", "Documents/a/b", "Documents/c"] { fixture.makeDirectory(path) }
        fixture.make("Documents/a/b/f", blocks: 2)
        fixture.make("Documents/c/g", blocks: 1)
        let rows: [(step: (inout TreeFixture) -> Void, marked: Int64, reclaimable: Int64)] = [
            ({ $0.mark("Documents/a", "high") }, 2, 2),
            // The nearest value wins.
            ({ $0.mark("Documents/a/b", "0") }, 0, 0),
            ({ $0.mark("Documents/a/b/f", "low") }, 2, 2),
            ({ $0.mark("Documents/a/b/f", nil) }, 0, 0),
            ({ $0.mark("Documents/a/b", nil) }, 2, 2),
            ({ $0.rename("Documents/c", "Documents/a/c") }, 3, 3),
            ({ $0.rename("Documents/a/b", "b") }, 1, 1),
            // A hard-linked file has only its own mark.
            ({ $0.link("Documents/a/c/g", "g") }, 0, 0),
            ({ $0.mark("g", "medium") }, 1, 0),
            ({ $0.unlink("g") }, 1, 1),
            ({ $0.mark("", "low") }, 3, 3),
        ]
        for (number, row) in rows.enumerated() {
            row.step(&fixture)
            #expect(fixture.marked == row.marked, "row \(number)")
            #expect(fixture.reclaimable == row.reclaimable, "row \(number)")
            #expect(fixture.tiers == [0, 0, 3], "row \(number)")
        }
    }

    @Test func aFileIsExcludedWhereEachOfItsNamesIs() {
        var fixture = TreeFixture()
        fixture.makeDirectory("Documents/a")
        fixture.makeDirectory("Documents/a/b")
        fixture.make("Documents/a/b/f", blocks: 2)
        let rows: [(step: (inout TreeFixture) -> Void, excluded: Int64)] = [
            ({ $0.tree.set(.exclusion(true), of: $0.node("Documents/a")) }, 2),
            ({ $0.link("Documents/a/b/f", "Documents/f") }, 0),
            ({ $0.rename("Documents/f", "Documents/a/f") }, 2),
            ({ $0.tree.set(.exclusion(false), of: $0.node("Documents/a")) }, 0),
            ({ $0.tree.set(.exclusion(true), of: $0.node("Documents/a/b")) }, 0),
            ({ $0.tree.set(.exclusion(true), of: $0.node("Documents/a/f")) }, 2),
        ]
        for (number, row) in rows.enumerated() {
            row.step(&fixture)
            #expect(fixture.excluded == row.excluded, "row \(number)")
        }
    }

    @Test func whatHasNoNameStaysWhereItWas() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 2)
        fixture.tree.open(file)
        fixture.unlink("tmp/f")
        fixture.rename("tmp", "Documents/old")
        #expect(fixture.tiers == [2, 0, 0])
        #expect(file.standing.writeClass == .opportunistic)
        // linkat(2) gives the open file a name, which determines the tier again.
        fixture.tree.link(file, as: fixture.dentry("Documents/f"))
        #expect(fixture.tiers == [0, 0, 2])
    }

    /// A change to a directory visits a bounded number of entries at a time, however many files it has.
    @Test(arguments: ["mark", "exclusion", "place", "policy", "group"]) func aChangeVisitsFewEntriesAtATime(
        name: String
    ) {
        var fixture = TreeFixture()
        fixture.tree.placement.step = 10
        fixture.makeDirectory("Library/Caches/d")
        fixture.makeDirectory("Library/Caches/d/sub")
        for number in 0..<100 { fixture.make("Library/Caches/d/\(number % 2 == 0 ? "" : "sub/")f\(number)") }
        let directory = fixture.node("Library/Caches/d")
        func visited(_ fixture: borrowing TreeFixture) -> Int {
            switch name {
            case "mark": Int(fixture.ledger.marked.files)
            case "exclusion": Int(fixture.ledger.excluded.files)
            case "place": Int(fixture.ledger.persistent.files)
            case "policy": Int(directory.nearestPolicy?.files ?? 0)
            default: fixture.tree.victims.filter { $0.unit != nil }.reduce(0) { $0 + $1.nodes.count }
            }
        }
        switch name {
        case "mark": fixture.mark("Library/Caches/d", "high")
        case "exclusion": fixture.tree.set(.exclusion(true), of: directory)
        case "place": fixture.rename("Library/Caches/d", "Documents/d")
        case "policy": fixture.tree.set(.policy(DirectoryPolicy(sizeLimit: ByteCount(blocks: 1000))), of: directory)
        default: fixture.tree.set(.behaviour(PurgeBehaviour(isGroup: true)), of: directory)
        }
        var counts = [0, visited(fixture)]
        while !fixture.tree.isPlaced {
            fixture.tree.place()
            counts.append(visited(fixture))
        }
        #expect(counts.last == 100)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { (0...10).contains($1 - $0) }, "\(counts)")
    }
}
