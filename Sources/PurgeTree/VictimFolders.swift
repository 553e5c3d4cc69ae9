import PurgeModel

/// The first victims of directories, with the directories' other victims behind them. Those of the same use and size are
/// in the order of their paths once they are asked for: renaming a directory changes nothing here.
struct VictimFolders: Sendable {
    private var heap = IndexedHeap<VictimFolder>()
    /// For which paths equal files are in order, and whether everywhere or only those of one age.
    private var paths: UInt64 = 0
    private var isInOrder = true
    private var ageInOrder: PurgeAge?

    var isEmpty: Bool { heap.isEmpty }
    /// Use and size of the first victim.
    var firstAge: PurgeAge? { heap.first?.age }
    /// One of those that were not used for longest.
    var firstFile: Node? { heap.first?.file.takeUnretainedValue() }
    var lists: [VictimList] { heap.members.map { $0.list.takeUnretainedValue() } }

    /// The first victim. `paths` is a number that changes when paths have.
    mutating func first(paths: UInt64) -> VictimFolder? {
        guard let age = firstAge else { return nil }
        if self.paths != paths { (self.paths, isInOrder, ageInOrder) = (paths, false, nil) }
        if !isInOrder, ageInOrder != age {
            // Directories whose first files are equal are together at the top.
            heap.reorderTop { $0.age == age }
            ageInOrder = age
        }
        return heap.first
    }

    /// Brings the first victim of a directory in line with its list.
    mutating func renew(_ list: VictimList, paths: UInt64) {
        guard let first = list.files.first?.node else {
            heap.remove(at: list.index)
            list.index = -1
            if heap.isEmpty { (self.paths, isInOrder) = (paths, true) }
            return
        }
        let age = first._withUnsafeGuaranteedRef { $0.age }
        let folder = VictimFolder(age: age, file: first, list: .passUnretained(list))
        guard list.index >= 0 else { return heap.insert(folder) }
        let known = heap.members[list.index]
        if known.file.toOpaque() != first.toOpaque() || known.age != age { heap.update(at: list.index, to: folder) }
    }
}

/// The victims of one rank in one directory. Belongs to the directory's `NodePart`.
public final class VictimList: @unchecked Sendable {
    // @unchecked: the vars are used only by functions that have been given the tree, as those of `Node` are.
    let rank: PurgeRank
    /// That of a directory that is purged as one.
    let part: UnitPart?
    fileprivate(set) var files = IndexedHeap<VictimFile>()
    /// Its position among the directories, or -1.
    fileprivate(set) var index = -1

    init(rank: PurgeRank, part: UnitPart?) { (self.rank, self.part) = (rank, part) }

    func insert(_ node: Node) {
        // Unmanaged: the tree holds the node for as long as it is here.
        files.insert(VictimFile(node: .passUnretained(node)))
    }

    func remove(_ node: Node) {
        files.remove(at: Int(node.heapIndex))
        node.heapIndex = -1
    }

    /// Whether the node is in this list, at the position that it knows.
    func contains(_ node: Node) -> Bool {
        let at = Int(node.heapIndex)
        return at < files.members.count && files.members[at].node._withUnsafeGuaranteedRef { $0 === node }
    }

    /// In no particular order.
    var nodes: [Node] { files.members.map { $0.node.takeUnretainedValue() } }
    /// What its files are purged with. An empty list has none: the unit and the directory may be gone.
    var unit: VictimUnit? { files.isEmpty ? nil : part?.unit }
}

struct VictimFile: HeapMember, Sendable {
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
struct VictimFolder: HeapMember, Sendable {
    let age: PurgeAge
    // Unmanaged: the tree holds the node, and its directory's `NodePart` the list, for as long as they are here.
    let file: Unmanaged<Node>
    let list: Unmanaged<VictimList>

    func goesBefore(_ other: VictimFolder) -> Bool {
        guard age == other.age else { return age < other.age }
        return file._withUnsafeGuaranteedRef { mine in
            other.file._withUnsafeGuaranteedRef { mine.pathPrecedes($0) }
        }
    }
    func note(index: Int) { list._withUnsafeGuaranteedRef { $0.index = index } }
}
