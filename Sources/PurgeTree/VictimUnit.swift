import PurgeModel

/// A unit in the order of victims: the victims of one group that have the same step and urgency. The group's `NodePart` owns
/// it.
public final class VictimUnit: @unchecked Sendable {
    // @unchecked: only functions that receive the tree access the vars, as with `Node`.
    public unowned let directory: Node
    fileprivate let step: PurgeStep
    fileprivate let urgency: Urgency
    /// The latest use of any file while that file was in the unit. It does not change when the file leaves.
    private(set) var lastUse = Instant.distantPast
    /// Charged blocks of all victims in the unit, and the size by which it is ordered. The size stays while a purge takes one
    /// victim after the other, so that the unit keeps its turn.
    private var blocks: Int64 = 0
    private var size: Int64 = 0
    /// One part for each rank that its files have had.
    fileprivate(set) var parts: [UnitPart] = []

    fileprivate init(of directory: Node, _ rank: PurgeRank) {
        (self.directory, step, urgency) = (directory, rank.step, rank.urgency)
    }

    /// Last use and size by which the unit is ordered.
    var age: PurgeAge { PurgeAge(lastUse: lastUse, charged: ByteCount(blocks: size)) }

    fileprivate func has(_ rank: PurgeRank) -> Bool { step == rank.step && urgency == rank.urgency }

    fileprivate func part(_ rank: PurgeRank) -> UnitPart {
        if let part = parts.first(where: { $0.rank == rank }) { return part }
        let part = UnitPart(of: self, rank)
        parts.append(part)
        return part
    }

    /// Records a use. Returns true if it is the latest so far.
    func noteUse(at instant: Instant) -> Bool {
        defer { lastUse = max(lastUse, instant) }
        return instant > lastUse
    }

    func add(_ node: Node) {
        lastUse = max(lastUse, node.lastUse)
        blocks += node.blocks
        size = blocks
    }

    /// Subtracts a victim. With `isTaken`, a purge takes it and continues with the unit.
    func remove(_ node: Node, isTaken: Bool) {
        blocks -= node.blocks
        if !isTaken || isEmpty { size = blocks }
    }

    var isEmpty: Bool { parts.allSatisfy(\.folders.isEmpty) }

    /// Returns the next victim of these ranks. Skips a rank whose least recently used file was used within `spared`.
    func first(_ ranks: [PurgeRank], _ spared: ClosedRange<Instant>?, paths: UInt64) -> VictimFolder? {
        var next: VictimFolder?
        for part in parts where ranks.contains(part.rank) {
            guard let first = part.folders.first(paths: paths), !(spared?.contains(first.age.lastUse) ?? false)
            else { continue }
            if next.map({ first.goesBefore($0) }) ?? true { next = first }
        }
        return next
    }

    func hasVictims(_ ranks: [PurgeRank]) -> Bool {
        parts.contains { ranks.contains($0.rank) && !$0.folders.isEmpty }
    }
}

/// The victims of one rank in a unit.
final class UnitPart: @unchecked Sendable {
    // @unchecked: only functions that receive the tree access the vars, as with `Node`.
    unowned let unit: VictimUnit
    let rank: PurgeRank
    var folders = VictimFolders()
    /// Index among the units of the rank, or -1.
    fileprivate var index = -1

    fileprivate init(of unit: VictimUnit, _ rank: PurgeRank) { (self.unit, self.rank) = (unit, rank) }
}

/// The units of one rank.
struct VictimUnits: Sendable {
    private var heap = IndexedHeap<RankedUnit>()
    private var paths: UInt64 = 0
    private var isInOrder = true
    private var ageInOrder: PurgeAge?

    var isEmpty: Bool { heap.isEmpty }
    var lists: [VictimList] { heap.members.flatMap { $0.part.takeUnretainedValue().folders.lists } }

    /// Returns the first unit with a victim that was not used within `spared`.
    mutating func first(_ spared: ClosedRange<Instant>?, paths: UInt64) -> (age: PurgeAge, unit: VictimUnit)? {
        guard let age = heap.first?.age else { return nil }
        if self.paths != paths { (self.paths, isInOrder, ageInOrder) = (paths, false, nil) }
        if !isInOrder, ageInOrder != age {
            heap.reorderTop { $0.age == age }
            ageInOrder = age
        }
        guard let first = heap.first else { return nil }
        guard let spared, first.isSpared(spared) else { return (age, first.part.takeUnretainedValue().unit) }
        // Other units were used later, but may contain files that were used before `spared`.
        let next = heap.members.filter { !$0.isSpared(spared) }.min { $0.goesBefore($1) }
        return next.map { ($0.age, $0.part.takeUnretainedValue().unit) }
    }

    /// Updates the position of the part after its unit has changed.
    mutating func renew(_ part: UnitPart, paths: UInt64) {
        let isEmpty = part.folders.isEmpty
        if part.index < 0 {
            // Unmanaged: the unit holds the part for as long as it has victims.
            if !isEmpty { heap.insert(RankedUnit(age: part.unit.age, part: .passUnretained(part))) }
        } else if isEmpty {
            heap.remove(at: part.index)
            part.index = -1
            if heap.isEmpty { (self.paths, isInOrder) = (paths, true) }
        } else if heap.members[part.index].age != part.unit.age {
            heap.update(at: part.index, to: RankedUnit(age: part.unit.age, part: .passUnretained(part)))
        }
    }
}

/// A unit in the order of one rank.
private struct RankedUnit: HeapMember, Sendable {
    let age: PurgeAge
    // Unmanaged: the directory's `NodePart` holds the unit, and the unit its parts, for as long as it has victims.
    let part: Unmanaged<UnitPart>

    func isSpared(_ spared: ClosedRange<Instant>) -> Bool {
        part._withUnsafeGuaranteedRef { $0.folders.firstAge.map { spared.contains($0.lastUse) } ?? true }
    }

    func goesBefore(_ other: RankedUnit) -> Bool {
        guard age == other.age else { return age < other.age }
        return part._withUnsafeGuaranteedRef { mine in
            other.part._withUnsafeGuaranteedRef { mine.unit.directory.pathPrecedes($0.unit.directory) }
        }
    }
    func note(index: Int) { part._withUnsafeGuaranteedRef { $0.index = index } }
}

extension Node {
    /// The group of the files in this directory: the directory with `purgeGroup`, this one or one above it, whose files are
    /// purged together. nil for no group.
    var nearestGroup: Node? {
        get { isDirectory && flags.contains(.grouped) ? part?.nearestGroup : nil }
        set {
            flags.set(.grouped, to: newValue != nil)
            if newValue != nil { ensuredPart.nearestGroup = newValue } else { part?.nearestGroup = nil }
        }
    }

    /// Returns the unit of a group for the rank's step and urgency, created on first use.
    func unit(_ rank: PurgeRank) -> VictimUnit {
        let part = ensuredPart
        if let unit = part.units.first(where: { $0.has(rank) }) { return unit }
        let unit = VictimUnit(of: self, rank)
        part.units.append(unit)
        return unit
    }

    /// Returns the unit for the rank's step and urgency, if there is one.
    func knownUnit(_ rank: PurgeRank) -> VictimUnit? { part?.units.first { $0.has(rank) } }

    /// Returns the part for victims of this rank in this directory; nil outside a group.
    func unitPart(_ rank: PurgeRank) -> UnitPart? { nearestGroup?.unit(rank).part(rank) }
}
