import PurgeModel

/// The first victims of directories, each with the directory's other victims behind it. Victims of equal use and size are put
/// in path order only on demand, so renaming a directory changes nothing here.
struct VictimFolders: Sendable {
    private var heap = IndexedHeap<VictimFolder>()
    /// Whether all files of equal age are in path order, as of path version `paths`. If not, only files of `ageInOrder` are.
    private var paths: UInt64 = 0
    private var isInOrder = true
    private var ageInOrder: PurgeAge?

    var isEmpty: Bool { heap.isEmpty }
    /// Last use and size of the first victim.
    var firstAge: PurgeAge? { heap.first?.age }
    var lists: [VictimList] { heap.members.map { $0.list.takeUnretainedValue() } }

    /// Returns the first victim. `paths` is a version number that changes whenever a path does.
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

    /// Updates the heap after the first victim of a directory may have changed.
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

/// The victims of one rank in one directory, owned by the directory's `NodePart`.
public final class VictimList: @unchecked Sendable {
    // @unchecked: only functions that receive the tree access the vars, as with `Node`.
    let rank: PurgeRank
    /// The part of the unit to which the victims belong; nil outside a group.
    let part: UnitPart?
    fileprivate(set) var files = IndexedHeap<VictimFile>()
    /// Index among the directories, or -1.
    fileprivate(set) var index = -1

    init(rank: PurgeRank, part: UnitPart?) { (self.rank, self.part) = (rank, part) }

    func insert(_ node: Node) {
        // Unmanaged: the tree holds the node for as long as it is in the list.
        files.insert(VictimFile(node: .passUnretained(node)))
    }

    func remove(_ node: Node) {
        files.remove(at: Int(node.heapIndex))
        node.heapIndex = -1
    }

    /// Returns whether the node is in this list, at the index that it knows.
    func contains(_ node: Node) -> Bool {
        let at = Int(node.heapIndex)
        return at < files.members.count && files.members[at].node._withUnsafeGuaranteedRef { $0 === node }
    }

    /// The nodes, in no particular order.
    var nodes: [Node] { files.members.map { $0.node.takeUnretainedValue() } }
    /// The unit with which the files are purged. An empty list has none, because the unit and the directory may be gone.
    var unit: VictimUnit? { files.isEmpty ? nil : part?.unit }
}

struct VictimFile: HeapMember, Sendable {
    // Unmanaged: the tree holds the node, which leaves the heap before it leaves the tree.
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

/// The first victim of one rank in a directory.
struct VictimFolder: HeapMember, Sendable {
    let age: PurgeAge
    // Unmanaged: while this value is in the heap, the tree holds the node, and the `NodePart` of the node's directory holds
    // the list.
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
