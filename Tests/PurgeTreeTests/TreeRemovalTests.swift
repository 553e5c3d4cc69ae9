import PurgeModel
import Testing

@testable import PurgeTree

/// Names that the volume removes on its own.
struct TreeRemovalTests {
    @Test func nothingElseGetsItMeanwhile() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        fixture.tree.hold(file, isGoing: true)
        #expect(file.isGoing && file.isBusy)
        #expect(fixture.tiers == [3, 0, 0] && fixture.reclaimable == 3 && fixture.held == 3)
        #expect(fixture.tree.device.capacity.reclaimable == ByteCount(blocks: 3))
        #expect(fixture.popAll().isEmpty)
        expect(fixture.tree.unhold(file), is: false)
        #expect(!file.isBusy && !file.isGoing && fixture.held == 0 && fixture.reclaimable == 3)
        expect(fixture.popAll(), are: ["tmp/f"])
    }

    @Test func aFileThatNothingUsesIsGone() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        fixture.tree.hold(file, isGoing: true)
        fixture.unlink("tmp/f")
        expect(fixture.tree.unhold(file), is: true)
        #expect(fixture.tiers == [0, 0, 0] && fixture.reclaimable == 0 && fixture.held == 0)
    }

    @Test func anOpenFileStaysCharged() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        fixture.tree.open(file)
        fixture.tree.hold(file, isGoing: true)
        fixture.unlink("tmp/f")
        expect(fixture.tree.unhold(file), is: false)
        #expect(fixture.tiers == [3, 0, 0] && fixture.reclaimable == 0)
        expect(fixture.tree.close(file), is: true)
        #expect(fixture.tiers == [0, 0, 0])
    }

    @Test func aFurtherNameStays() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        fixture.link("tmp/f", "Library/Caches/g")
        fixture.tree.hold(file, isGoing: true)
        fixture.unlink("tmp/f")
        expect(fixture.tree.unhold(file), is: false)
        #expect(fixture.tiers == [0, 3, 0] && fixture.reclaimable == 3 && fixture.held == 0)
        expect(fixture.popAll(), are: ["Library/Caches/g"])
    }
}
