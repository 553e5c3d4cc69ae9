import PurgeModel
import Support
import Testing

@testable import PurgeTree

/// Compares the heaps with an array that is sorted again for each question.
struct VictimQueueTests {
    private struct Listed {
        let node: Node
        /// Indices in `places` and in `Urgency.allCases`.
        let step, urgency: Int
        let breach: PolicyBreach?
        /// The current path: folders are renamed.
        var path: String {
            var text = node.name.text
            var above = node.parent
            while let folder = above, folder.parent != nil {
                text = folder.name.text + "/" + text
                above = folder.parent
            }
            return text
        }

        /// Orders by step, urgency, least recent use, larger size, then path (docs/RULES.md, Order of purging).
        func goesBefore(_ other: Listed) -> Bool {
            func turn(_ file: Listed) -> [Int64] {
                [Int64(file.turn), Int64(file.urgency), file.node.lastUse.nanoseconds, -file.node.blocks]
            }
            let (mine, others) = (turn(self), turn(other))
            return mine == others
                ? path.utf8.lexicographicallyPrecedes(other.path.utf8) : mine.lexicographicallyPrecedes(others)
        }
        /// The step's rank, with policies between `tmp` and Caches.
        private var turn: Int { step == 0 ? 0 : breach == nil ? step + 1 : 1 }
        var rank: PurgeRank {
            PurgeRank(step: VictimQueueTests.places[step], urgency: Urgency.allCases[urgency], breach: breach)
        }
    }

    private static let places: [PurgeStep] = [.temporary, .caches, .marked]

    private struct Run {
        var random: SeededGenerator
        var queue = VictimQueue()
        var listed: [Listed] = []
        /// Keeps the nodes alive, because the queue does not retain them.
        private var all: [Node] = []
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        let directories: [Node]
        private var made: UInt64 = 100

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            let root = root
            let above = ["a", "b", "a.b"].map { Node(inode: 2, kind: .directory, parent: root, name: Self.name($0)) }
            let below = ["x", "y"].map { Node(inode: 3, kind: .directory, parent: above[0], name: Self.name($0)) }
            directories = [root] + above + below
        }

        private static func name(_ text: String) -> Name { text.withCString { Name($0) } }

        /// With few distinct uses and sizes, most files tie with another one.
        mutating func insert() {
            let directory = directories[random.below(directories.count)]
            made += 1
            let name = "\(random.below(1000))-\(made)"
            let node = Node(inode: made, kind: .regular, parent: directory, name: Self.name(name))
            node.lastUse = Instant(nanoseconds: Int64(random.below(4)))
            node.blocks = Int64(1 + random.below(3))
            let file = Listed(
                node: node, step: random.below(3), urgency: random.below(3),
                breach: [nil, .age, .size][random.below(3)])
            queue.insert(node, rank: file.rank)
            listed.append(file)
            all.append(node)
        }
        mutating func remove() {
            guard !listed.isEmpty else { return }
            let file = listed.remove(at: random.below(listed.count))
            queue.remove(file.node)
            #expect(file.node.heapIndex == -1)
        }
        /// Renames a folder to a name that sorts before or after the others.
        mutating func renameFolder() {
            let folder = directories[1 + random.below(directories.count - 1)]
            folder.name = Self.name(["0", "a.a", "ab", "zz"][random.below(4)] + "\(made)")
            queue.pathsHaveChanged()
        }
        mutating func pop(step: Int?) {
            let candidates = listed.filter { step == nil || $0.step == step }.sorted { $0.goesBefore($1) }
            let taken = queue.popFirst(step: step.map { VictimQueueTests.places[$0] })
            #expect(taken?.file === candidates.first?.node)
            guard let first = candidates.first else { return }
            #expect(taken?.rank == first.rank)
            #expect(taken?.age == PurgeAge(lastUse: first.node.lastUse, charged: ByteCount(blocks: first.node.blocks)))
            #expect(first.node.heapIndex == -1)
            listed.removeAll { $0.node === first.node }
        }
    }

    @Test(arguments: Scale.some(of: 1...8, least: 2)) func agreesWithASortedArray(seed: UInt64) {
        var run = Run(seed: seed)
        for _ in 0..<1500 {
            switch run.random.below(10) {
            case ..<6: run.insert()
            case ..<8: run.remove()
            case 8 where run.random.chance(30): run.renameFolder()
            default: run.pop(step: run.random.chance(50) ? run.random.below(3) : nil)
            }
            #expect(run.queue.isEmpty == run.listed.isEmpty)
        }
        #expect(run.listed.count > 100)
        while !run.listed.isEmpty { run.pop(step: nil) }
        #expect(run.queue.isEmpty)
        #expect(run.queue.popFirst(step: nil)?.file == nil)
    }

    /// Files that enter a store at once have the same use and size.
    @Test(.timeLimit(.minutes(1))) func manyEqualFilesGoInTheOrderOfTheirPaths() {
        let rank = PurgeRank(step: .caches, urgency: .low)
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        var queue = VictimQueue()
        var files: [(path: String, node: Node)] = []
        for number in 0..<Scale.of(20_000) {
            let place = (number &* 7919) % 20_000
            let folder =
                number < 20
                ? Node(inode: 2, kind: .directory, parent: root, name: name("d\(number)"))
                : files[number % 20].node.parent
            let file = Node(inode: 3, kind: .regular, parent: folder, name: name("f\(place)-\(number)"))
            file.blocks = 1
            files.append(("d\(number % 20)/f\(place)-\(number)", file))
            queue.insert(file, rank: rank)
        }
        queue.pathsHaveChanged()
        let expected = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
        let isInOrder = expected.allSatisfy { $0.node === queue.popFirst(step: nil)?.file }
        #expect(isInOrder)
        #expect(queue.isEmpty)
    }

    private func name(_ text: String) -> Name { text.withCString { Name($0) } }

    @Test func whatIsUsedMeanwhileIsSpared() {
        var queue = VictimQueue()
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        let times: [(PurgeStep, Int64)] = [
            (.temporary, 5), (.temporary, 12), (.caches, 15), (.caches, 30), (.marked, 9),
        ]
        let files = times.enumerated().map { index, file in
            let node = Node(inode: UInt64(index), kind: .regular, parent: root, name: name("\(index)"))
            node.lastUse = Instant(nanoseconds: file.1)
            queue.insert(node, rank: PurgeRank(step: file.0, urgency: .low))
            return node
        }
        let spared = Instant(nanoseconds: 10)...Instant(nanoseconds: 20)
        let taken = (0..<3).map { _ in queue.popFirst(step: nil, spared: spared)?.file.inode }
        #expect(taken == [0, 4, nil])
        #expect(files[1].heapIndex >= 0 && files[2].heapIndex >= 0)
    }

    @Test func pathsAreComparedByByte() {
        var queue = VictimQueue()
        let root = Node(inode: 1, kind: .directory, parent: nil, name: Name(""))
        let rank = PurgeRank(step: .caches, urgency: .low)
        // `.` sorts before `/`, so the file beside the folder goes before the file in it.
        let folder = Node(inode: 2, kind: .directory, parent: root, name: Name("a"))
        let inside = Node(inode: 3, kind: .regular, parent: folder, name: Name("z"))
        let beside = Node(inode: 4, kind: .regular, parent: root, name: Name("a.txt"))
        let last = Node(inode: 5, kind: .regular, parent: root, name: Name(bytes: [0xFF]))
        for node in [last, inside, beside] { queue.insert(node, rank: rank) }
        #expect((0..<3).map { _ in queue.popFirst(step: nil)?.file.inode } == [4, 3, 5])
    }
}
