import PurgeModel

/// Every file that a purge for room may take now, in the order of purging.
///
/// The victims of one rank in a directory form a heap (`VictimList`), in which names decide between files of equal use and
/// size. For each rank, the first victims of the directories form a heap (`VictimFolders`), in which paths decide. So
/// choosing a victim takes logarithmic time, even if many victims are equal. Renaming a directory changes nothing within a
/// list; the order of directories is determined again when the next victim is needed.
///
/// Files of a group have heaps of their own, in a unit (`VictimUnit`). For each rank, the units form a heap beside the heap
/// of directories.
struct VictimQueue: Sendable {
    private struct Rank {
        /// Directories of files that are purged one by one.
        var folders = VictimFolders()
        var units = VictimUnits()

        var isEmpty: Bool { folders.isEmpty && units.isEmpty }
    }
    private var ranks = [Rank](repeating: Rank(), count: PurgeRank.count)
    /// Incremented whenever a path changes.
    private var paths: UInt64 = 0

    var isEmpty: Bool { ranks.allSatisfy(\.isEmpty) }

    mutating func insert(_ node: Node, rank: PurgeRank) {
        guard node.heapIndex < 0, let parent = node.parent else { return }
        let (part, directory) = (parent.ensuredPart, parent.nearestGroup)
        // Other files of the rank may still be in another directory's unit (`Placement`).
        let list =
            part.victims.first { $0.rank == rank && $0.part?.unit.directory === directory }
            ?? VictimList(rank: rank, part: parent.unitPart(rank))
        if list.files.isEmpty { part.victims.append(list) }
        list.insert(node)
        list.part?.unit.add(node)
        renew(list)
    }

    /// Removes the node from its list, whatever its rank would be now.
    mutating func remove(_ node: Node) { remove(node, isTaken: false) }

    private mutating func remove(_ node: Node, isTaken: Bool) {
        guard node.heapIndex >= 0, let part = node.parent?.part,
            let at = part.victims.firstIndex(where: { $0.contains(node) })
        else { return }
        let list = part.victims[at]
        list.remove(node)
        if list.files.isEmpty { part.victims.remove(at: at) }
        guard let unitPart = list.part else { return ranks[list.rank.index].folders.renew(list, paths: paths) }
        unitPart.folders.renew(list, paths: paths)
        unitPart.unit.remove(node, isTaken: isTaken)
        renew(unitPart.unit)
    }

    /// Moves a victim to the list of its current rank.
    mutating func move(_ node: Node) {
        guard node.heapIndex >= 0, let rank = node.verdict(for: .room).rank else { return }
        remove(node)
        insert(node, rank: rank)
    }

    /// Records the use of a file in a group. The file may be open.
    mutating func noteUse(of node: Node, at instant: Instant) {
        guard let rank = node.purgeRank, let unit = node.parent?.nearestGroup?.unit(rank) else { return }
        if unit.noteUse(at: instant) { renew(unit) }
    }

    /// Records that the name or the place of a directory has changed, and with it every path below.
    mutating func pathsHaveChanged() { paths += 1 }

    var lists: [VictimList] { ranks.flatMap { $0.folders.lists + $0.units.lists } }

    /// Updates the heaps after the first file of a list may have changed.
    private mutating func renew(_ list: VictimList) {
        guard let part = list.part else { return ranks[list.rank.index].folders.renew(list, paths: paths) }
        part.folders.renew(list, paths: paths)
        renew(part.unit)
    }

    private mutating func renew(_ unit: VictimUnit) {
        for part in unit.parts { ranks[part.rank.index].units.renew(part, paths: paths) }
    }
}

// The order of victims.
extension VictimQueue {
    /// The next victim that is purged alone, or the next unit.
    private enum Next {
        case folder(VictimFolder)
        case unit(PurgeAge, VictimUnit)

        private var age: PurgeAge {
            switch self {
            case .folder(let folder): folder.age
            case .unit(let age, _): age
            }
        }

        /// The node whose path decides between equals.
        private var node: Node {
            switch self {
            case .folder(let folder): folder.file.takeUnretainedValue()
            case .unit(_, let unit): unit.directory
            }
        }

        func goesBefore(_ other: Next) -> Bool {
            age == other.age ? node.pathPrecedes(other.node) : age < other.age
        }
    }

    /// Removes and returns the next victim in `order`: of all steps, or of the one that a command names. A rank or unit is
    /// skipped once its least recently used file was used within `spared`. Returns nil if a folder that goes as a whole comes
    /// next.
    mutating func popFirst(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil, in order: PurgeOrder = .documented
    ) -> Victim<Node>? {
        for (turn, all) in order.groups.enumerated() {
            let ranks = all.filter { step == nil || $0.place == step }
            guard let next = first(of: ranks, spared) else { continue }
            if order.folder(at: turn) != nil { return nil }
            switch next.turn {
            case .folder(let folder): return take(folder, rank: next.rank)
            case .unit(_, let unit): return popFirst(of: unit, ranks: ranks, spared: spared)
            }
        }
        return nil
    }

    /// Returns the folder that goes as a whole, if it comes next in `order`.
    mutating func nextFolder(spared: ClosedRange<Instant>?, in order: PurgeOrder) -> WholeFolder? {
        let turn = order.groups.indices.first { first(of: order.groups[$0], spared) != nil }
        return turn.flatMap { order.folder(at: $0) }
    }

    private mutating func first(
        of ranks: [PurgeRank], _ spared: ClosedRange<Instant>?
    ) -> (rank: PurgeRank, turn: Next)? {
        var next: (rank: PurgeRank, turn: Next)?
        for rank in ranks {
            for turn in [firstFolder(of: rank, spared), firstUnit(of: rank, spared)] {
                if let turn, next.map({ turn.goesBefore($0.turn) }) ?? true { next = (rank, turn) }
            }
        }
        return next
    }

    private mutating func firstFolder(of rank: PurgeRank, _ spared: ClosedRange<Instant>?) -> Next? {
        guard let age = ranks[rank.index].folders.firstAge, !(spared?.contains(age.lastUse) ?? false)
        else { return nil }
        return ranks[rank.index].folders.first(paths: paths).map { .folder($0) }
    }

    private mutating func firstUnit(of rank: PurgeRank, _ spared: ClosedRange<Instant>?) -> Next? {
        guard !ranks[rank.index].units.isEmpty else { return nil }
        return ranks[rank.index].units.first(spared, paths: paths).map { .unit($0.age, $0.unit) }
    }

    /// Removes and returns the next victim of a unit. All `ranks` have its step and urgency.
    mutating func popFirst(of unit: VictimUnit, ranks: [PurgeRank], spared: ClosedRange<Instant>?) -> Victim<Node>? {
        guard let folder = unit.first(ranks, spared, paths: paths) else { return nil }
        // Unmanaged: the file's directory holds the list.
        let rank = folder.list._withUnsafeGuaranteedRef { $0.rank }
        var victim = take(folder, rank: rank)
        if unit.hasVictims(ranks) { victim.unfinishedGroup = unit.directory }
        return victim
    }

    private mutating func take(_ folder: VictimFolder, rank: PurgeRank) -> Victim<Node> {
        let node = folder.file.takeUnretainedValue()
        remove(node, isTaken: true)
        return Victim(node, rank: rank, age: folder.age)
    }
}
