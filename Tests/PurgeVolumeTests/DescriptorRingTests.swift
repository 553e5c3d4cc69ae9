import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// A ring, and the tree that holds the descriptors and slots of its directories.
private struct Ring: ~Copyable {
    private var ring: DescriptorRing
    private var tree = Tree(device: Device(containerID: "00000000-0000-0000-0000-000000000000"))

    init(limit: Int) { ring = DescriptorRing(limit: limit) }

    var count: Int { ring.count }
    mutating func insert(_ descriptor: FileDescriptor, of directory: Node) {
        ring.insert(descriptor, of: directory, in: &tree)
    }
    mutating func remove(_ directory: Node) { ring.remove(directory, in: &tree) }
    mutating func setLimit(_ limit: Int) { ring.setLimit(limit, in: &tree) }

    func has(_ directory: Node) -> Bool { tree[directory].io.descriptor != nil }
    func slot(of directory: Node) -> Int { tree[directory].io.descriptorSlot }
    func kept(_ nodes: [Node]) -> [UInt64] { nodes.filter { has($0) }.map(\.inode) }
    /// Returns the directory's descriptor, and counts that as a use; nil if the ring has none.
    func descriptor(of directory: Node) -> FileDescriptor? { tree[directory].directoryDescriptor }
}

struct DescriptorRingTests {
    private static func directory(_ number: Int) -> Node {
        Node(inode: UInt64(number), kind: .directory, name: Name("d"))
    }
    private static func open() throws -> FileDescriptor { try FileDescriptor.open("/", System.openPath | O_DIRECTORY) }

    @Test func keepsNoMoreThanItsLimit() throws {
        var ring = Ring(limit: 10)
        let nodes = (1...35).map(Self.directory)
        for node in nodes {
            let descriptor = try Self.open()
            ring.insert(descriptor, of: node)
            #expect(ring.descriptor(of: node) === descriptor)
            #expect(ring.kept(nodes).count <= 10)
        }
        #expect(ring.kept(nodes).count == 10)
    }

    @Test func aLimitBelowEightIsEight() throws {
        var ring = Ring(limit: 0)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        #expect(ring.kept(nodes).count == 8)
    }

    /// After one round of the hand, a descriptor that is used again outlives the unused ones.
    @Test func dropsWhatWasNotUsed() throws {
        var ring = Ring(limit: 8)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let oldest = nodes.dropLast().filter { ring.has($0) }
        #expect(oldest.count == 7)
        let used = oldest[3]
        var dropped = 0
        for number in 10...15 {
            #expect(ring.descriptor(of: used) != nil)
            let new = Self.directory(number)
            ring.insert(try Self.open(), of: new)
            dropped += 1
            #expect(ring.has(used) == true)
        }
        #expect(ring.kept(oldest) == [used.inode])
        #expect(dropped == 6)
    }

    @Test func anEvictedDirectoryHasNoDescriptor() throws {
        var ring = Ring(limit: 8)
        let nodes = (1...9).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let evicted = nodes.first { !ring.has($0) }
        let gone = try #require(evicted)
        #expect(ring.descriptor(of: gone) == nil)
        #expect(ring.slot(of: gone) == -1)
        ring.insert(try Self.open(), of: gone)
        #expect(ring.descriptor(of: gone) != nil)
    }

    @Test func removalMakesRoomAndClosesNobodyElses() throws {
        var ring = Ring(limit: 8)
        let nodes = (1...8).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        let kept = ring.descriptor(of: nodes[2])
        let held = try #require(kept)
        ring.remove(nodes[2])
        ring.remove(nodes[2])
        #expect(ring.descriptor(of: nodes[2]) == nil)
        #expect(fcntl(held.raw, F_GETFD) >= 0)  // other users keep it
        let new = Self.directory(9)
        ring.insert(try Self.open(), of: new)
        #expect(ring.kept(nodes + [new]) == [1, 2, 4, 5, 6, 7, 8, 9])
        ring.insert(try Self.open(), of: Self.directory(10))
        #expect(ring.kept(nodes + [new]).count == 7)
    }

    @Test func aLowerLimitDropsAtOnceAndAHigherOneLetsInMore() throws {
        var ring = Ring(limit: 20)
        let nodes = (1...30).map(Self.directory)
        for node in nodes { ring.insert(try Self.open(), of: node) }
        ring.setLimit(9)
        #expect(ring.kept(nodes).count == 9)
        ring.insert(try Self.open(), of: Self.directory(31))
        #expect(ring.kept(nodes).count == 8)
        ring.setLimit(20)
        for node in nodes where ring.descriptor(of: node) == nil { ring.insert(try Self.open(), of: node) }
        #expect(ring.count == 20)
    }

    @Test func theFirstDescriptorStays() throws {
        var ring = Ring(limit: 8)
        let node = Self.directory(1)
        let first = try Self.open()
        ring.insert(first, of: node)
        ring.insert(try Self.open(), of: node)
        #expect(ring.descriptor(of: node) === first)
    }

    @Test func randomUseAgreesWithASet() throws {
        var random = SeededGenerator(seed: 7)
        var ring = Ring(limit: 16)
        let nodes = (1...60).map(Self.directory)
        for _ in 0..<5000 {
            let node = nodes[random.below(nodes.count)]
            switch random.below(3) {
            case 0: ring.remove(node)
            case 1: if ring.descriptor(of: node) == nil { ring.insert(try Self.open(), of: node) }
            default: _ = ring.descriptor(of: node)
            }
            let kept = nodes.filter { ring.has($0) }
            #expect(kept.count <= 16)
            let slots = Set(kept.map { ring.slot(of: $0) })
            #expect(slots.count == kept.count)
        }
    }
}
