import PurgeModel
import Testing

@testable import PurgeTree

/// The protection class of a node, and the files that only their descriptors lead to.
struct TreeProtectionTests {
    @Test func anyClassOrNoneIsKept() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f", blocks: 3)
        #expect(file.protection == nil)
        for protection in FileProtection.allCases {
            fixture.tree.set(.protection(protection), of: file)
            #expect(file.protection == protection)
        }
        fixture.tree.set(.protection(nil), of: file)
        #expect(file.protection == nil)
    }

    /// They share a number with the flags.
    @Test func flagsAndClassLeaveEachOtherAlone() {
        var flags: NodeFlags = [.counted, .ownExclusion, .onOtherDevice]
        flags.protection = .completeWhenUserInactive
        #expect(flags.contains([.counted, .ownExclusion, .onOtherDevice]) && !flags.contains(.unlinked))
        flags.insert(.unlinked)
        flags.remove(.counted)
        #expect(flags.protection == .completeWhenUserInactive)
        flags.protection = nil
        #expect(flags == [.ownExclusion, .onOtherDevice, .unlinked])
    }

    @Test func aNewEntryHasWhatIsKnownAboutIt() {
        var fixture = TreeFixture()
        let node = Node(inode: 99, kind: .regular, name: Name("f"))
        fixture.tree.insert(node, in: fixture.node("tmp"), EntryFacts(protection: .completeUnlessOpen))
        #expect(node.protection == .completeUnlessOpen && node.flags.contains(.counted))
    }

    private func expectNameless(_ fixture: borrowing TreeFixture, _ nodes: Node...) {
        let found = Set(fixture.tree.nameless.values.map { ObjectIdentifier($0) })
        #expect(found == Set(nodes.map { ObjectIdentifier($0) }))
    }

    @Test func anOpenFileIsFoundWithoutAName() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f")
        fixture.tree.open(file)
        expectNameless(fixture)
        fixture.unlink("Documents/f")
        expectNameless(fixture, file)
        expect(fixture.tree.close(file), is: true)
        expectNameless(fixture)
    }

    @Test func soIsOneThatAnotherHasReplaced() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f")
        fixture.make("Documents/g")
        fixture.tree.open(file)
        fixture.rename("Documents/g", "Documents/f")
        expectNameless(fixture, file)
    }

    @Test func aFurtherNameLeadsToIt() {
        var fixture = TreeFixture()
        let file = fixture.make("Documents/f")
        fixture.link("Documents/f", "Documents/g")
        fixture.tree.open(file)
        fixture.unlink("Documents/f")
        expectNameless(fixture)
        fixture.unlink("Documents/g")
        expectNameless(fixture, file)
    }

    @Test func aFileThatWasMadeWithoutANameMayGetOne() {
        var fixture = TreeFixture()
        let file = Node(inode: 99, kind: .regular, name: Name(""))
        fixture.tree.insertNameless(file, asIn: fixture.node("tmp"), EntryFacts(opens: 1))
        expectNameless(fixture, file)
        fixture.tree.link(file, as: fixture.dentry("tmp/f"))
        expectNameless(fixture)
    }

    @Test func whatNobodyHasOpenIsGone() {
        var fixture = TreeFixture()
        fixture.make("Documents/f")
        fixture.unlink("Documents/f")
        expectNameless(fixture)
    }
}
