import PurgeModel
import Testing

@testable import PurgeTree

/// Which files are victims, their order, and the resulting numbers.
struct TreeVictimTests {
    @Test func stepUrgencyUseSizeAndPath() {
        var fixture = TreeFixture()
        fixture.make("Documents/kept", lastUse: 1)
        fixture.make("Documents/low", lastUse: 1)
        fixture.make("Documents/high", lastUse: 1)
        fixture.mark("Documents/low", "low")
        fixture.mark("Documents/high", "high")
        fixture.make("Library/Caches/marked", lastUse: 1)
        fixture.mark("Library/Caches/marked", "medium")
        fixture.make("Library/Caches/new", lastUse: 9)
        fixture.make("Library/Caches/small", lastUse: 5)
        fixture.make("Library/Caches/large", blocks: 2, lastUse: 5)
        fixture.make("Library/Caches/also", lastUse: 5)
        fixture.make("tmp/newest", lastUse: 99)
        expect(
            fixture.popAll(),
            are: [
                "tmp/newest", "Library/Caches/large", "Library/Caches/also", "Library/Caches/small",
                "Library/Caches/new", "Library/Caches/marked", "Documents/low", "Documents/high",
            ])
        #expect(fixture.tiers == [0, 0, 1])
        #expect(fixture.reclaimable == 0)
    }

    @Test func whatIsInUseIsPassedOver() {
        var fixture = TreeFixture()
        for name in ["open", "linked", "outside", "stuck", "empty", "free"] {
            fixture.make("tmp/\(name)", blocks: name == "empty" ? 0 : 1)
        }
        fixture.tree.open(fixture.node("tmp/open"))
        fixture.link("tmp/linked", "tmp/linked too")
        fixture.tree.noteLinkedOutside(fixture.node("tmp/outside"))
        let stuck = fixture.node("tmp/stuck")
        fixture.tree.choose(stuck)
        fixture.tree.reinstate(stuck, isStuck: true)
        #expect(fixture.tiers == [5, 0, 0])
        #expect(fixture.reclaimable == 1)
        expect(fixture.popAll(), are: ["tmp/free"])
        // Without their obstacles, the files are victims again.
        expect(fixture.tree.close(fixture.node("tmp/open")), is: false)
        fixture.unlink("tmp/linked too")
        #expect(fixture.reclaimable == 2)
        expect(fixture.popAll(), are: ["tmp/linked", "tmp/open"])
    }

    @Test func whatIsHeldCountsAndIsNotChosen() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        fixture.tree.hold(file)
        fixture.tree.hold(file)
        #expect(fixture.reclaimable == 3 && fixture.held == 3)
        let none = fixture.tree.popVictim(step: nil)
        #expect(none == nil)
        expect(fixture.tree.unhold(file), is: false)
        #expect(fixture.held == 3)
        expect(fixture.tree.takeEndings().contains(.hold), is: false)
        expect(fixture.tree.unhold(file), is: false)
        #expect(fixture.held == 0)
        expect(fixture.tree.takeEndings().contains(.hold), is: true)
        expect(fixture.tree.takeEndings().contains(.hold), is: false)
        expect(fixture.popAll(), are: ["tmp/f"])
    }

    @Test func whatIsNotPurgedAfterAllCountsAgain() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        expect(fixture.popAll(), are: ["tmp/f"])
        #expect(fixture.tiers == [0, 0, 0])
        #expect(file.isGoing)
        fixture.tree.reinstate(file)
        #expect(fixture.tiers == [3, 0, 0])
        #expect(fixture.reclaimable == 3)
        expect(fixture.popAll(), are: ["tmp/f"])
        fixture.tree.detach(file, from: fixture.dentry("tmp/f"))
        #expect(fixture.find("tmp/f") == nil)
        #expect(file.isUnlinked && !file.isGoing && file.blocks == 0)
    }

    @Test func theEndOfAPurgeIsNoted() {
        var fixture = TreeFixture()
        let (kept, gone) = (fixture.make("tmp/kept"), fixture.make("tmp/gone"))
        expect(fixture.popAll(), are: ["tmp/gone", "tmp/kept"])
        expect(fixture.tree.takeEndings().isEmpty, is: true)
        fixture.tree.reinstate(kept)
        expect(fixture.tree.takeEndings() == .purge, is: true)
        fixture.tree.detach(gone, from: fixture.dentry("tmp/gone"))
        expect(fixture.tree.takeEndings() == .purge, is: true)
        expect(fixture.tree.takeEndings().isEmpty, is: true)
    }

    @Test func whatIsSetAsideCountsWhereItIsNeeded() throws {
        var fixture = TreeFixture()
        fixture.make("tmp/f", blocks: 3)
        try fixture.tree.addContainer(root: Node(inode: 500, kind: .directory, name: Name("")))
        expect(fixture.popAll(), are: ["tmp/f"])
        fixture.tree.accounts.setAside(ByteCount(blocks: 3), in: 1)
        #expect(fixture.tree.device.ledgers.map { $0.used.bytes / 4096 } == [0, 3])
        #expect(fixture.tree.device.capacity.used == ByteCount(blocks: 3))
        fixture.tree.accounts.returnSetAside(ByteCount(blocks: 3), in: 1)
        #expect(fixture.tree.device.capacity.used == .zero)
    }

    /// Time alone can change a file's rank after the file was offered. The queue removes the file from its position, not from
    /// where the new rank would put it.
    @Test func aFileWhoseRankHasChangedIsTakenFromWhereItStands() {
        for victim in ["a", "b", "c", "d", "e"] {
            var fixture = TreeFixture()
            for (use, name) in ["a", "b", "c", "d", "e"].enumerated() {
                fixture.make("Library/Caches/\(name)", lastUse: Int64(use))
                fixture.make("Documents/\(name)", lastUse: Int64(use))
                fixture.mark("Documents/\(name)", "low")
            }
            let file = fixture.node("Library/Caches/\(victim)")
            file.standing = Standing(place: .persistent, mark: .purgeable(.high), isExcluded: false)
            fixture.tree.counted.queue.remove(file)
            #expect(file.heapIndex == -1)
            let rest = ["a", "b", "c", "d", "e"].filter { $0 != victim }.map { "Library/Caches/\($0)" }
            var order: [String] = []
            while let next = fixture.tree.popVictim(step: nil) { order.append(next.file.path().text) }
            #expect(order == rest + ["a", "b", "c", "d", "e"].map { "Documents/\($0)" })
        }
    }

    @Test func whatHasReachedAnAgeGoesWhereItBelongs() {
        var fixture = TreeFixture()
        for (name, creation) in [("a", 50), ("b", 10), ("c", 50)] {
            fixture.make("Library/Caches/\(name)", blocks: 2, creation: Int64(creation))
        }
        let policy = DirectoryPolicy(purgeAfter: TimeSpan(seconds: 30))
        fixture.tree.set(.policy(policy), of: fixture.node("Library/Caches"))
        while fixture.tree.advance(to: Instant(seconds: 40, nanoseconds: 0)) {}
        #expect(fixture.reclaimable == 6)
        var order: [String] = []
        while let next = fixture.tree.popVictim(step: nil) { order.append(next.file.name.text) }
        #expect(order == ["b", "a", "c"])
    }

    @Test func aRenamedDirectoryKeepsItsVictims() {
        var fixture = TreeFixture()
        for folder in ["b", "a"] {
            fixture.makeDirectory("tmp/\(folder)")
            fixture.make("tmp/\(folder)/f")
        }
        fixture.rename("tmp/b", "tmp/0")
        expect(fixture.popAll(), are: ["tmp/0/f", "tmp/a/f"])
    }
}
