import PurgeModel
import Support

@testable import PurgeTree

extension FileTable.File {
    /// Changes the file's blocks at random, and returns the name of the operation if the run counts it.
    mutating func charge(
        _ node: Node, _ fixture: inout TreeFixture, _ random: inout SeededGenerator
    ) -> String? {
        if let extents { chargeSparse(node, extents, &fixture, &random) } else { chargeDense(node, &fixture, &random) }
    }

    /// Records that a purge has emptied the file.
    mutating func noteEmptied() {
        (blocks, extents, isGoing, isStuck) = (0, nil, false, false)
    }

    private mutating func chargeDense(
        _ node: Node, _ fixture: inout TreeFixture, _ random: inout SeededGenerator
    ) -> String? {
        switch random.below(8) {
        case 0...1:
            fixture.tree.makeSparse(node)
            extents = Set(0..<blocks)
            return "sparse"
        case 2:
            fixture.tree.resize(node, toBlocks: 2)
            blocks = 2
            return "resize"
        case 3:
            fixture.tree.noteLinkedOutside(node)
            isLinkedOutside = true
            return nil
        default:
            fixture.tree.charge(node, blocks..<blocks + 2)
            blocks += 2
            return "charge"
        }
    }

    private mutating func chargeSparse(
        _ node: Node, _ known: Set<Int64>, _ fixture: inout TreeFixture, _ random: inout SeededGenerator
    ) -> String? {
        let start = Int64(random.below(20))
        let range = start..<start + 3
        defer { blocks = Int64(extents?.count ?? 0) }
        switch random.below(3) {
        case 0:
            fixture.tree.recharge(node, range)
            extents = known.subtracting(range)
            return "free"
        case 1:
            fixture.tree.recharge(node, range, as: [start + 1..<start + 2])
            extents = known.subtracting(range).union([start + 1])
            return "recharge"
        default:
            fixture.tree.charge(node, range)
            extents = known.union(range)
            return nil
        }
    }
}
