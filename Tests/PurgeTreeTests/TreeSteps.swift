import PurgeModel
import Testing

@testable import PurgeTree

/// Invariants of a tree during a change to a directory, whose entries are visited in steps.
struct TreeSteps {
    /// Files that were purgeable at some time, or were changed themselves, since placement was last complete.
    var allowed: Set<Int> = []

    /// Called at the end of each operation.
    mutating func note(_ isPlaced: Bool, _ table: FileTable) {
        if isPlaced { allowed = [] }
        allowed.formUnion(table.files.filter { table.mayGo($0.value) }.keys)
    }

    /// Checks that nothing is lost or counted twice, that all reclaimable bytes except the held ones can be purged, and that a
    /// file is chosen only if it was purgeable before the change or is afterwards.
    func check(_ fixture: borrowing TreeFixture, _ table: FileTable, _ nodes: [Int: Node]) -> Bool {
        let (found, expected) = (fixture.numbers, table.numbers)
        let (files, blocks) = (found.files.values.reduce(0, +), found.blocks.values.reduce(0, +))
        #expect(files == expected.files.values.reduce(0, +))
        #expect(blocks == expected.blocks.values.reduce(0, +))
        let victims = fixture.tree.victims.flatMap(\.nodes)
        #expect(found.reclaimable - found.held == victims.reduce(0) { $0 + $1.blocks })
        let keys = Set(nodes.filter { entry in victims.contains { $0 === entry.value } }.keys)
        #expect(keys.isSubset(of: allowed))
        return files == expected.files.values.reduce(0, +) && keys.isSubset(of: allowed)
    }
}

extension FileTable {
    /// Compares the group directory of each victim in a unit with the one in the table.
    func checkGroups(_ groups: [VictimList]) -> Bool {
        var found: [String: String] = [:]
        for group in groups {
            guard let directory = group.unit?.directory else { continue }
            for node in group.nodes { found[node.path().text] = directory.path().text }
        }
        let expected = Dictionary(
            uniqueKeysWithValues: victims.compactMap { victim in victim.unit.map { (victim.path, $0.group) } })
        #expect(found == expected)
        return found == expected
    }

    /// All folders without entries, except the root.
    var emptyFolders: [String] {
        folders.keys.filter { folder in folder != "" && everyPath.allSatisfy { parent(of: $0) != folder } }.sorted()
    }
}
