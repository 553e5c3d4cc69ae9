import Glibc
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

struct DescriptorRingTests {
    private static func directory(_ number: Int) -> Node {
        Node(inode: UInt64(number), kind: .directory, name: Name("d"))
    }
    private static func open() throws -> FileDescriptor { try FileDescriptor.open("/", System.openPath | O_DIRECTORY) }
    private static func kept(_ ring: DescriptorRing, _ nodes: [Node]) -> [UInt64] {
        nodes.filter { $0.io?.descriptor != nil }.map(\.inode)
    }

    @Test func keepsNoMoreThanItsLimit() throws {
        var ring = DescriptorRing(limit: 10)
        let nodes = (1...35).map(Self.directory)
        for node in nodes {
            let descriptor = try Self.open()
            ring.insert(descriptor, of: node)
            #expect(ring.descriptor(of: node) === descriptor)
            #expect(Self.kept(ring, nodes).count <= 10)
        }
        #expect(Self.kept(ring, nodes).count == 10)
    }

    @Test func aLimitBelowEightIsEight() throws {
        var ring = DescriptorRing(limit: 0)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        #expect(Self.kept(ring, nodes).count == 8)
    }

    /// After one round of the hand, a descriptor that is used again outlives the unused ones.
    @Test func dropsWhatWasNotUsed() throws {
        var ring = DescriptorRing(limit: 8)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let oldest = nodes.dropLast().filter { $0.io?.descriptor != nil }
        #expect(oldest.count == 7)
        let used = oldest[3]
        var dropped = 0
        for number in 10...15 {
            #expect(ring.descriptor(of: used) != nil)
            let new = Self.directory(number)
            ring.insert(try Self.open(), of: new)
            dropped += 1
            #expect(used.io?.descriptor != nil)
        }
        #expect(oldest.filter { $0.io?.descriptor != nil }.map(\.inode) == [used.inode])
        #expect(dropped == 6)
    }

    @Test func anEvictedDirectoryHasNoDescriptor() throws {
        var ring = DescriptorRing(limit: 8)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let gone = try #require(nodes.first { $0.io?.descriptor == nil })
        #expect(ring.descriptor(of: gone) == nil)
        #expect(gone.io?.descriptorSlot == -1)
        ring.insert(try Self.open(), of: gone)
        #expect(ring.descriptor(of: gone) != nil)
    }

    @Test func removalMakesRoomAndClosesNobodyElses() throws {
        var ring = DescriptorRing(limit: 8)
        let nodes = (1...8).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let held = try #require(ring.descriptor(of: nodes[2]))
        ring.remove(nodes[2])
        ring.remove(nodes[2])
        #expect(ring.descriptor(of: nodes[2]) == nil)
        #expect(fcntl(held.raw, F_GETFD) >= 0)  // other users keep it
        let new = Self.directory(9)
        ring.insert(try Self.open(), of: new)
        #expect(Self.kept(ring, nodes + [new]) == [1, 2, 4, 5, 6, 7, 8, 9])
        ring.insert(try Self.open(), of: Self.directory(10))
        #expect(Self.kept(ring, nodes + [new]).count == 7)
    }

    @Test func aLowerLimitDropsAtOnceAndAHigherOneLetsInMore() throws {
        var ring = DescriptorRing(limit: 20)
        let nodes = (1...30).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        ring.setLimit(9)
        #expect(Self.kept(ring, nodes).count == 9)
        ring.insert(try Self.open(), of: Self.directory(31))
        #expect(Self.kept(ring, nodes).count == 8)
        ring.setLimit(20)
        for node in nodes where ring.descriptor(of: node) == nil { ring.insert(try Self.open(), of: node) }
        #expect(ring.count == 20)
    }

    @Test func theFirstDescriptorStays() throws {
        var ring = DescriptorRing(limit: 8)
        let node = Self.directory(1)
        let first = try Self.open()
        ring.insert(first, of: node)
        ring.insert(try Self.open(), of: node)
        #expect(ring.descriptor(of: node) === first)
    }

    @Test func randomUseAgreesWithASet() throws {
        var random = SeededGenerator(seed: 7)
        var ring = DescriptorRing(limit: 16)
        let nodes = (1...60).map(Self.directory)
        for _ in 0..<5000 {
            let node = nodes[random.below(nodes.count)]
            switch random.below(3) {
            case 0: ring.remove(node)
            case 1: if ring.descriptor(of: node) == nil { ring.insert(try Self.open(), of: node) }
            default: _ = ring.descriptor(of: node)
            }
            let kept = nodes.filter { $0.io?.descriptor != nil }
            #expect(kept.count <= 16)
            #expect(Set(kept.map { $0.io?.descriptorSlot }).count == kept.count)
        }
    }
}
