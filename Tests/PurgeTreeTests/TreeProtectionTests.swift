import PurgeModel
import Testing

@testable import PurgeTree

/// The protection class of a node.
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

    /// A change to the flags leaves the class alone, and vice versa, although they share an integer.
    @Test func flagsAndClassLeaveEachOtherAlone() {
        var flags: NodeFlags = [.counted, .ownExclusion, .linkedOutside]
        flags.protection = .completeWhenUserInactive
        #expect(flags.contains([.counted, .ownExclusion, .linkedOutside]) && !flags.contains(.unlinked))
        flags.insert(.unlinked)
        flags.remove(.counted)
        #expect(flags.protection == .completeWhenUserInactive)
        flags.protection = nil
        #expect(flags == [.ownExclusion, .linkedOutside, .unlinked])
    }

    @Test func aNewEntryHasWhatIsKnownAboutIt() {
        var fixture = TreeFixture()
        let node = Node(inode: 99, kind: .regular, name: Name("f"))
        fixture.tree.insert(node, in: fixture.node("tmp"), EntryFacts(protection: .completeUnlessOpen))
        #expect(node.protection == .completeUnlessOpen && node.flags.contains(.counted))
    }
}
