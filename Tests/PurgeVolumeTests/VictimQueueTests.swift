import PurgeModel
import Support
import Testing

@testable import PurgeVolume

/// The heaps against an array that is sorted anew for each question.
struct VictimQueueTests {
    private struct Listed {
        let node: Node
        let step, urgency: Int
        let path: String

        /// Step, urgency, least recently used, larger, path (SPEC section 3).
        func goesBefore(_ other: Listed) -> Bool {
            func turn(_ file: Listed) -> [Int64] {
                [Int64(file.step), Int64(file.urgency), file.node.lastUse.nanoseconds, -file.node.blocks]
            }
            let (mine, others) = (turn(self), turn(other))
            return mine == others
                ? path.utf8.lexicographicallyPrecedes(other.path.utf8) : mine.lexicographicallyPrecedes(others)
        }
        var rank: PurgeRank { PurgeRank(step: PurgeStep.allCases[step], urgency: Urgency.allCases[urgency]) }
    }

    private struct Run {
        var random: SeededGenerator
        var queue = VictimQueue()
        var listed: [Listed] = []
        /// The queue does not hold its nodes.
        private var all: [Node] = []
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        let directories: [Node]
        private var made: UInt64 = 100

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            let root = root
            directories =
                [root]
                + ["a", "b", "a.b"].map { Node(inode: 2, kind: .directory, parent: root, name: Self.name($0)) }
        }

        private static func name(_ text: String) -> Name { text.withCString { Name($0) } }

        /// Few different uses and sizes, so that most have an equal.
        mutating func insert() {
            let directory = directories[random.below(directories.count)]
            made += 1
            let name = "\(random.below(1000))-\(made)"
            let node = Node(inode: made, kind: .regular, parent: directory, name: Self.name(name))
            node.lastUse = Instant(nanoseconds: Int64(random.below(4)))
            node.blocks = Int64(1 + random.below(3))
            let prefix = directory === root ? "" : directory.name.text + "/"
            let file = Listed(node: node, step: random.below(3), urgency: random.below(3), path: prefix + name)
            queue.insert(node, rank: file.rank)
            listed.append(file)
            all.append(node)
        }
        mutating func remove() {
            guard !listed.isEmpty else { return }
            let file = listed.remove(at: random.below(listed.count))
            queue.remove(file.node, rank: file.rank)
            #expect(file.node.heapIndex == -1)
        }
        mutating func pop(step: Int?) {
            let candidates = listed.filter { step == nil || $0.step == step }.sorted { $0.goesBefore($1) }
            let taken = queue.popFirst(step: step.map { PurgeStep.allCases[$0] })
            #expect(taken?.id === candidates.first?.node)
            guard let first = candidates.first else { return }
            #expect(taken?.rank == first.rank)
            #expect(taken?.age == PurgeAge(lastUse: first.node.lastUse, charged: ByteCount(blocks: first.node.blocks)))
            #expect(first.node.heapIndex == -1)
            listed.removeAll { $0.node === first.node }
        }
    }

    @Test(arguments: 1...8) func agreesWithASortedArray(seed: UInt64) {
        var run = Run(seed: seed)
        for _ in 0..<1500 {
            switch run.random.below(10) {
            case ..<6: run.insert()
            case ..<8: run.remove()
            default: run.pop(step: run.random.chance(50) ? run.random.below(3) : nil)
            }
            #expect(run.queue.isEmpty == run.listed.isEmpty)
        }
        #expect(run.listed.count > 100)
        while !run.listed.isEmpty { run.pop(step: nil) }
        #expect(run.queue.isEmpty)
        #expect(run.queue.popFirst(step: nil)?.id == nil)
    }

    @Test func pathsAreComparedByByte() {
        var queue = VictimQueue()
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        let rank = PurgeRank(step: .caches, urgency: .low)
        // `.` is less than `/`, so the file beside the folder goes before what is in it.
        let folder = Node(inode: 2, kind: .directory, parent: root, name: Name("a"))
        let inside = Node(inode: 3, kind: .regular, parent: folder, name: Name("z"))
        let beside = Node(inode: 4, kind: .regular, parent: root, name: Name("a.txt"))
        let last = Node(inode: 5, kind: .regular, parent: root, name: Name(bytes: [0xFF]))
        for node in [last, inside, beside] { queue.insert(node, rank: rank) }
        #expect((0..<3).map { _ in queue.popFirst(step: nil)?.id.inode } == [4, 3, 5])
    }
}
