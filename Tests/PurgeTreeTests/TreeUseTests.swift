import PurgeModel
import Testing

@testable import PurgeTree

/// When a file is gone, and what the kernel and the journal learn about it.
struct TreeUseTests {
    @Test func aFileIsGoneWithItsLastUse() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f", blocks: 2)
        fixture.tree.open(file)
        fixture.tree.hold(file)
        fixture.unlink("Documents/f")
        #expect(fixture.tiers == [0, 0, 2])
        expect(fixture.tree.close(file), is: false)
        #expect(fixture.tiers == [0, 0, 2])
        expect(fixture.tree.unhold(file), is: true)
        #expect(fixture.tiers == [0, 0, 0])
        let told = fixture.tree.uses.take()
        #expect(told.gone == [file.inode])
    }

    @Test func aFileWithoutANameBeginsAsAnEntryWould() {
        var fixture = TreeFixture()
        let file = Node(inode: 99, kind: .regular, name: Name(""))
        fixture.tree.insertNameless(file, asIn: fixture.node("Library/Caches"), EntryFacts(opens: 1))
        fixture.tree.charge(file, 0..<3)
        #expect(fixture.tiers == [0, 3, 0])
        expect(fixture.tree.close(file), is: true)
        #expect(fixture.tiers == [0, 0, 0])
    }

    @Test func blocksOfASparseFile() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f", blocks: 4)
        fixture.tree.makeSparse(file)
        fixture.tree.charge(file, 10..<12)
        #expect(file.missing(in: 0..<12) == 6)
        fixture.tree.recharge(file, 1..<3)
        #expect(file.extents?.runs == [0..<1, 3..<4, 10..<12])
        #expect(fixture.tiers == [0, 0, 4])
        fixture.tree.recharge(file, 0..<10, as: [2..<3])
        #expect(file.extents?.runs == [2..<3, 10..<12])
        #expect(fixture.tiers == [0, 0, 3])
        fixture.tree.resize(file, toBlocks: 100)  // affects dense files only
        #expect(fixture.tiers == [0, 0, 3])
    }

    @Test func aUseThatCameToNothingIsTakenBack() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", lastUse: 5)
        fixture.tree.open(file)
        fixture.tree.noteUse(file, at: Instant(nanoseconds: 9))
        fixture.tree.takeBackUse(of: file, at: Instant(nanoseconds: 8), before: Instant(nanoseconds: 1))
        #expect(file.lastUse == Instant(nanoseconds: 9))
        fixture.tree.takeBackUse(of: file, at: Instant(nanoseconds: 9), before: Instant(nanoseconds: 5))
        #expect(file.lastUse == Instant(nanoseconds: 5))
    }

    @Test func usesAreToldOnce() {
        var fixture = TreeFixture()
        let (one, two) = (fixture.make("tmp/one"), fixture.make("tmp/two"))
        for node in [one, two, one] { fixture.tree.noteUse(node, at: Instant(nanoseconds: 3)) }
        let taken = fixture.tree.uses.take()
        #expect(taken.used.map(\.inode) == [one.inode, two.inode])
        let none = fixture.tree.uses.take()
        #expect(none.used.isEmpty)
        // The uses could not be written, and one file was used again meanwhile.
        fixture.tree.noteUse(two, at: Instant(nanoseconds: 4))
        fixture.tree.uses.restore(gone: [7], used: taken.used)
        let again = fixture.tree.uses.take()
        #expect(again.used.map(\.inode) == [two.inode, one.inode])
        #expect(again.gone == [7])
    }

    @Test func usesOfFilesThatAreGoneAreDropped() {
        var fixture = TreeFixture()
        let files = (0..<4).map { fixture.make("tmp/\($0)") }
        for file in files { fixture.tree.noteUse(file, at: Instant(nanoseconds: 3)) }
        for name in ["tmp/0", "tmp/1"] {
            let file = fixture.node(name)
            let none = fixture.tree.uses.dropGone()
            #expect(none.isEmpty)
            fixture.tree.hold(file)
            fixture.unlink(name)
            expect(fixture.tree.unhold(file), is: true)
        }
        let dropped = fixture.tree.uses.dropGone()
        #expect(dropped.map(\.inode) == files[..<2].map(\.inode))
        let left = fixture.tree.uses.take()
        #expect(left.used.map(\.inode) == files[2...].map(\.inode))
    }

    @Test func referencesOfTheKernel() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f")
        expect(fixture.tree.references.grant(file), is: true)
        expect(fixture.tree.references.grant(file), is: false)
        #expect(fixture.tree.references.nodes == 1)
        expect(fixture.tree.references.forget(file, count: 1), is: false)
        expect(fixture.tree.references.forget(file, count: 2), is: false)
        #expect(fixture.tree.references.overdrawn == 1)
        expect(fixture.tree.references.forget(file, count: 1), is: true)
        #expect(fixture.tree.references.nodes == 0)
    }

    /// A tree holds at most 256 containers, each with a ledger.
    @Test func containersAreLimited() throws {
        var fixture = TreeFixture()
        for number in 1..<256 as Range<UInt64> {
            try fixture.tree.addContainer(root: Node(inode: 1000 + number, kind: .directory, name: Name("")))
        }
        do {
            try fixture.tree.addContainer(root: Node(inode: 2000, kind: .directory, name: Name("")))
            Issue.record("256 containers, and one more")
        } catch { #expect(error == TooManyContainers()) }
        #expect(Set(fixture.tree.roots.map(\.container)).count == 256 && fixture.tree.device.ledgers.count == 256)
    }

    @Test func eachContainerHasItsNumbers() throws {
        var fixture = TreeFixture()
        fixture.make("tmp/f", blocks: 2)
        let root = Node(inode: 500, kind: .directory, name: Name(""))
        try fixture.tree.addContainer(root: root)
        let tmp = Node(inode: 501, kind: .directory, name: Name("tmp"))
        fixture.tree.insert(tmp, in: root)
        let file = Node(inode: 502, kind: .regular, name: Name("g"))
        fixture.tree.insert(file, in: tmp)
        fixture.tree.charge(file, 0..<5)
        let ledgers = fixture.tree.device.ledgers
        #expect(ledgers.map { $0.temporary.bytes.bytes / 4096 } == [2, 5])
        #expect(ledgers.map { $0.reclaimable.bytes / 4096 } == [2, 5])
        #expect(fixture.tree.device.capacity.used == ByteCount(blocks: 7))
        // The whole device has one order of victims.
        fixture.tree.noteUse(file, at: Instant(nanoseconds: -1))
        expect(fixture.popAll(), are: ["tmp/g", "tmp/f"])
    }
}
