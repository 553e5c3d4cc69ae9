import Glibc
import PurgeModel
import Testing

@testable import PurgeTree

/// A node must stay small, because a store's tree has one for each entry.
struct NodeSizeTests {
    private typealias UsableSize = @convention(c) (UnsafeMutableRawPointer) -> Int

    @Test func aNodeTakesOneBlockOf112Bytes() throws {
        // Glibc's module hides malloc_usable_size(3).
        let usableSize = unsafeBitCast(try #require(dlsym(nil, "malloc_usable_size")), to: UsableSize.self)
        let node = Node(inode: 2, kind: .regular, name: Name("f"))
        let address = try #require(UnsafeMutableRawPointer(bitPattern: UInt(node.address)))
        // glibc rounds up to 16 bytes and keeps 8 of them for itself.
        #expect(usableSize(address) == 104)
    }

    @Test func aFileThatIsMerelyThereHasNothingElse() {
        var fixture = TreeFixture()
        let file = fixture.make("tmp/f", blocks: 3)
        #expect(file.part == nil)
        #expect(file.attachment == nil)
    }
}
