import PurgeModel

/// Every file that purging would free now, in the order of purging.
///
/// The victims of one directory with the same rank are a heap (`VictimGroup`), in which names decide
/// between files of equal use and size; for each rank, the first victims of the directories are a heap, in which
/// paths decide. So choosing a victim costs the same however many there are and however many are
/// equal. Renaming a directory changes nothing within a group; which of several directories comes
/// first is determined again when the next victim is needed.
struct VictimQueue: Sendable {
    private struct Rank {
        var folders = IndexedHeap<VictimFolder>()
        /// Whether equal files are in the order of their paths everywhere, or else only for which age.
        var isInOrder = true
        var ageInOrder: PurgeAge?
    }
    private var ranks = [Rank](repeating: Rank(), count: PurgeRank.count)

    var isEmpty: Bool { ranks.allSatisfy(\.folders.isEmpty) }

    mutating func insert(_ node: Node, rank: PurgeRank) {
        guard node.heapIndex < 0, let part = node.parent?.ensuredPart else { return }
        let group = part.victims.first { $0.rank == rank } ?? VictimGroup(rank: rank)
        if group.files.isEmpty { part.victims.append(group) }
        group.files.insert(VictimFile(node: .passUnretained(node)))
        renew(group)
    }

    /// Removes the node from where it is, whatever its rank would be now.
    mutating func remove(_ node: Node) {
        guard node.heapIndex >= 0, let part = node.parent?.part,
            let at = part.victims.firstIndex(where: { $0.contains(node) })
        else { return }
        let group = part.victims[at]
        group.files.remove(at: Int(node.heapIndex))
        node.heapIndex = -1
        if group.files.isEmpty { part.victims.remove(at: at) }
        renew(group)
    }

    /// A victim gets the place that its rank has now.
    mutating func move(_ node: Node) {
        guard node.heapIndex >= 0, let rank = node.verdict(for: .room).rank else { return }
        remove(node)
        insert(node, rank: rank)
    }

    /// Removes the next victim in this order, of all or of those that a command for one step takes. A rank is passed over once its
    /// least recently used file was used within `spared`.
    mutating func popFirst(
        step: PurgeStep?, spared: ClosedRange<Instant>? = nil, in order: PurgeOrder = .documented
    ) -> PurgeCandidate<Node>? {
        for ranks in order.groups {
            var next: (rank: PurgeRank, folder: VictimFolder)?
            for rank in ranks where step == nil || rank.place == step {
                guard let folder = first(of: rank, spared) else { continue }
                if next.map({ folder.goesBefore($0.folder) }) ?? true { next = (rank, folder) }
            }
            guard let next else { continue }
            let node = next.folder.file.takeUnretainedValue()
            remove(node)
            return PurgeCandidate(id: node, rank: next.rank, age: next.folder.age)
        }
        return nil
    }

    private mutating func first(of rank: PurgeRank, _ spared: ClosedRange<Instant>?) -> VictimFolder? {
        guard let age = ranks[rank.index].folders.first?.age, !(spared?.contains(age.lastUse) ?? false)
        else { return nil }
        orderEquals(of: age, in: rank)
        return ranks[rank.index].folders.first
    }

    /// A file of `tmp` that has the rank of one that is not aged, and whose last use is not later than a moment.
    func firstYoung(usedUntil moment: Instant) -> Node? {
        for urgency in Urgency.allCases {
            let rank = PurgeRank(step: .temporary, urgency: urgency)
            if let first = ranks[rank.index].folders.first, first.age.lastUse <= moment {
                return first.file.takeUnretainedValue()
            }
        }
        return nil
    }

    /// The name or the place of a directory has changed, and with it the paths of everything below.
    mutating func pathsHaveChanged() {
        for at in ranks.indices where !ranks[at].folders.isEmpty {
            ranks[at].isInOrder = false
            ranks[at].ageInOrder = nil
        }
    }

    var groups: [VictimGroup] {
        ranks.flatMap { $0.folders.members.map { $0.group.takeUnretainedValue() } }
    }

    /// Brings the group's first file in its rank's heap in line with its own heap.
    private mutating func renew(_ group: VictimGroup) {
        let rank = group.rank.index
        guard let first = group.files.first?.node else {
            ranks[rank].folders.remove(at: group.index)
            if ranks[rank].folders.isEmpty { ranks[rank].isInOrder = true }
            return
        }
        let age = first._withUnsafeGuaranteedRef { $0.age }
        let folder = VictimFolder(age: age, file: first, group: .passUnretained(group))
        guard group.index >= 0 else { return ranks[rank].folders.insert(folder) }
        let known = ranks[rank].folders.members[group.index]
        if known.file.toOpaque() != first.toOpaque() || known.age != age {
            ranks[rank].folders.update(at: group.index, to: folder)
        }
    }

    /// Directories whose first files are equal are together at the top.
    private mutating func orderEquals(of age: PurgeAge, in rank: PurgeRank) {
        guard !ranks[rank.index].isInOrder, ranks[rank.index].ageInOrder != age else { return }
        ranks[rank.index].folders.reorderTop { $0.age == age }
        ranks[rank.index].ageInOrder = age
    }
}

/// The victims of one rank in one directory. Belongs to the directory's `NodePart`.
public final class VictimGroup: @unchecked Sendable {
    // @unchecked: the vars are guarded by the lock of the tree's owner.
    fileprivate let rank: PurgeRank
    fileprivate var files = IndexedHeap<VictimFile>()
    /// Its position in the heap of its rank, or -1.
    fileprivate var index = -1

    fileprivate init(rank: PurgeRank) { self.rank = rank }

    /// Whether the node is in this group, at the position that it knows.
    fileprivate func contains(_ node: Node) -> Bool {
        let at = Int(node.heapIndex)
        return at < files.members.count && files.members[at].node._withUnsafeGuaranteedRef { $0 === node }
    }

    /// In no particular order.
    public var nodes: [Node] { files.members.map { $0.node.takeUnretainedValue() } }
}

private struct VictimFile: HeapMember, Sendable {
    // Unmanaged: the tree holds the node for as long as it is here, since a node is removed from here first.
    let node: Unmanaged<Node>

    func goesBefore(_ other: VictimFile) -> Bool {
        node._withUnsafeGuaranteedRef { mine in
            other.node._withUnsafeGuaranteedRef { theirs in
                let (age, otherAge) = (mine.age, theirs.age)
                return age == otherAge ? mine.name.precedes(theirs.name) : age < otherAge
            }
        }
    }
    func note(index: Int) { node._withUnsafeGuaranteedRef { $0.heapIndex = Int32(index) } }
}

/// A directory's first victim of a rank.
private struct VictimFolder: HeapMember, Sendable {
    let age: PurgeAge
    // Unmanaged: the tree holds the node, and its directory's `NodePart` the group, for as long as they are here.
    let file: Unmanaged<Node>
    let group: Unmanaged<VictimGroup>

    func goesBefore(_ other: VictimFolder) -> Bool {
        guard age == other.age else { return age < other.age }
        return file._withUnsafeGuaranteedRef { mine in
            other.file._withUnsafeGuaranteedRef { mine.pathPrecedes($0) }
        }
    }
    func note(index: Int) { group._withUnsafeGuaranteedRef { $0.index = index } }
}
