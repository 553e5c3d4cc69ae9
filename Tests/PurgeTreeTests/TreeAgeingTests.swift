import PurgeModel
import Testing

@testable import PurgeTree

/// The age of files in tmp, by which profile `device` purges.
struct TreeAgeingTests {
    private static func use(_ day: Int64) -> Int64 { day * 86_400_000_000_000 }
    private static func moment(_ seconds: Int64) -> Instant { Instant(seconds: seconds, nanoseconds: 0) }

    private func makeFixture() throws -> TreeFixture {
        var fixture = TreeFixture()
        var settings = SettingsChange()
        settings.profile = .device
        try fixture.tree.accounts.change { try $0.take(settings) }
        return fixture
    }

    /// Compares the reclaimable blocks: aged, the rest of tmp, Caches.
    private func check(
        _ fixture: borrowing TreeFixture, _ expected: [Int64], _ location: SourceLocation = #_sourceLocation
    ) {
        let bytes = fixture.ledger.reclaimableByClass
        #expect(
            [bytes[.aged], bytes[.temporary], bytes[.caches]].map(\.wholeBlocks) == expected, sourceLocation: location)
    }

    @Test func countsWhatIsAgedAsItIsTold() throws {
        var fixture = try makeFixture()
        fixture.make("tmp/old", blocks: 3, lastUse: Self.use(1))
        fixture.make("tmp/new", blocks: 5, lastUse: Self.use(2))
        fixture.make("Library/Caches/c", blocks: 7, lastUse: Self.use(1))
        check(fixture, [0, 8, 7])
        expect(fixture.tree.advance(to: Self.moment(4 * 86400 - 1)), is: false)
        check(fixture, [0, 8, 7])
        expect(fixture.tree.isSettled(at: Self.moment(4 * 86400)), is: false)
        expect(fixture.tree.advance(to: Self.moment(4 * 86400)), is: false)
        check(fixture, [3, 5, 7])
        // A use makes the file young again. While open or in another place, a file does not count as aged.
        fixture.tree.noteUse(fixture.node("tmp/old"), at: Self.moment(4 * 86400))
        check(fixture, [0, 8, 7])
        expect(fixture.tree.advance(to: Self.moment(7 * 86400)), is: false)
        check(fixture, [8, 0, 7])
        fixture.rename("tmp/old", "Library/Caches/old")
        fixture.tree.open(fixture.node("tmp/new"))
        check(fixture, [0, 0, 10])
        fixture.rename("Library/Caches/old", "tmp/old")
        _ = fixture.tree.close(fixture.node("tmp/new"))
        check(fixture, [8, 0, 7])
    }

    /// A file becomes aged by itself, however recently other files of its group were used.
    @Test func filesOfAGroupBecomeAged() throws {
        var fixture = try makeFixture()
        for folder in ["tmp/g", "tmp/h"] {
            fixture.makeDirectory(folder)
            fixture.tree.set(.behaviour(PurgeBehaviour(isGroup: true)), of: fixture.node(folder))
        }
        fixture.make("tmp/g/old", blocks: 3, lastUse: Self.use(1))
        fixture.make("tmp/g/new", blocks: 5, lastUse: Self.use(4))
        fixture.make("tmp/h/middle", blocks: 7, lastUse: Self.use(2))
        expect(fixture.tree.isSettled(at: Self.moment(4 * 86400 - 1)), is: true)
        expect(fixture.tree.isSettled(at: Self.moment(4 * 86400)), is: false)
        expect(fixture.tree.advance(to: Self.moment(4 * 86400)), is: false)
        check(fixture, [3, 12, 0])
        fixture.tree.noteUse(fixture.node("tmp/g/old"), at: Self.moment(4 * 86400))
        check(fixture, [0, 15, 0])
        expect(fixture.tree.advance(to: Self.moment(5 * 86400)), is: false)
        check(fixture, [7, 8, 0])
        expect(fixture.tree.advance(to: Self.moment(7 * 86400)), is: false)
        check(fixture, [15, 0, 0])
        // The files are still one group.
        expect(fixture.popAll(), are: ["tmp/h/middle", "tmp/g/new", "tmp/g/old"])
    }

    @Test func stepsAreBounded() throws {
        var fixture = try makeFixture()
        for number in 0..<10 { fixture.make("tmp/\(number)", lastUse: Self.use(1)) }
        let now = Self.moment(9 * 86400)
        for step in 1...3 {
            expect(fixture.tree.advance(to: now, limit: 4), is: step < 3)
            check(fixture, [min(10, Int64(step) * 4), max(0, 10 - Int64(step) * 4), 0])
        }
        expect(fixture.tree.isSettled(at: now), is: true)
    }

    @Test func inTheOtherProfileOnlyIfItIsAskedFor() throws {
        var fixture = TreeFixture()
        fixture.make("tmp/b", lastUse: Self.use(1))
        expect(fixture.tree.advance(to: Self.moment(9 * 86400)), is: false)
        check(fixture, [0, 1, 0])
        expect(fixture.tree.advance(to: Self.moment(9 * 86400), ages: true), is: false)
        check(fixture, [1, 0, 0])
        // In profile `documented`, ages do not affect the order.
        fixture.make("tmp/a", lastUse: Self.use(8))
        fixture.make("tmp/c", lastUse: Self.use(0))
        expect(fixture.popAll(), are: ["tmp/c", "tmp/b", "tmp/a"])
    }

    /// A held file keeps its old rank until it is released.
    @Test func aHeldFileIsAgedAfterwards() throws {
        var fixture = try makeFixture()
        let file = fixture.make("tmp/f", blocks: 2, lastUse: Self.use(1))
        fixture.tree.hold(file)
        expect(fixture.tree.advance(to: Self.moment(9 * 86400)), is: false)
        check(fixture, [0, 2, 0])
        expect(fixture.held == 2, is: true)
        _ = fixture.tree.unhold(file)
        expect(fixture.tree.advance(to: Self.moment(9 * 86400)), is: false)
        check(fixture, [2, 0, 0])
        expect(fixture.held == 0, is: true)
    }
}
