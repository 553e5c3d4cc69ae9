import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// The plan of a purge: the files it would take, without taking them. Planning works in slices, and releases the lock between
// them. So a plan may be wrong about files that come or go meanwhile; if nothing else happens, a purge takes the same files in
// the same order.
extension PurgeSelections {
    /// How many files are visited while the lock is held.
    static let slice = 512

    /// Plans a purge for `goal`. With a place, takes only files at or below that path, and nothing from others.purgeable.
    func plan(_ goal: PurgeGoal, below place: [UInt8] = []) -> PurgePlan<FoundFile> {
        policies.settle()
        let (groups, othersPurgeable, order, share) = read {
            (
                $0.tree.victims, $0.device.othersPurgeable, $0.device.order(for: goal, .command),
                OthersShare(percent: $0.device.othersShare)
            )
        }
        var victims: [Victim<FoundFile>] = []
        for group in groups {
            let (nodes, unit) = read { state in
                let (nodes, unit) = state.tree.files(of: group)
                return (nodes, unit.map { FoundUnit($0.0, $0.age, in: state) })
            }
            victims += inSlices(nodes) { node, state in
                guard let rank = state[node].verdict(for: .room).rank, order.turn(of: rank) != nil else { return nil }
                let path = state[node].path().bytes
                return path.lies(in: place) ? Victim(FoundFile(node, path, unit: unit), in: state) : nil
            }
        }
        victims.sort { Self.goesBefore($0, $1, in: order) }
        for (at, next) in zip(victims.indices, victims.dropFirst()) {
            let turn = next.turn(in: order)
            if order.folder(at: turn) != nil, victims[at].turn(in: order) == turn {
                victims[at].unfinishedGroup = next.file
            }
            guard let unit = next.file.unit, unit.id == victims[at].file.unit?.id else { continue }
            victims[at].unfinishedGroup = next.file
        }
        var rest = victims[...]
        return PurgePlan(
            goal, in: order, othersPurgeable: place.isEmpty ? othersPurgeable : .zero, share: share
        ) { step in
            if let step { rest = rest.drop { $0.rank?.place != step } }
            return rest.popFirst()
        }
    }

    private static func goesBefore(
        _ a: Victim<FoundFile>, _ b: Victim<FoundFile>, in order: PurgeOrder
    ) -> Bool {
        let (turn, other) = (a.turn(in: order), b.turn(in: order))
        if turn != other { return turn < other }
        let (mine, theirs) = (a.file.unit?.key ?? a.key, b.file.unit?.key ?? b.key)
        return mine == theirs ? a.key < b.key : mine < theirs
    }

    /// Returns the non-nil values that `body` returns for the items. Works in slices, and releases the lock between them. The
    /// results are joined without the lock, because a large array takes time to grow.
    func inSlices<Item, Value: Sendable>(
        _ items: [Item], _ body: (Item, borrowing VolumeState) -> Value?
    ) -> [Value] {
        var values: [Value] = []
        for start in stride(from: 0, to: items.count, by: Self.slice) {
            values += read { state in
                items[start..<min(start + Self.slice, items.count)].compactMap { body($0, state) }
            }
        }
        return values
    }

    /// Returns what `storage.reclaim` would purge.
    func plan(_ request: PurgeRequest) throws(Errno) -> PurgeAnswer {
        guard case .byRule(let command, below: nil) = request else { return plan(try select(request)) }
        let plan = plan(command.goal)
        let folders = folders(in: plan, for: command.goal)
        let empty = command.takesEmptyFiles ? emptyFiles(of: command) : []
        let others = empty.filter { file in !folders.contains { file.path.lies(in: Array($0.path.utf8)) } }
        return PurgeAnswer(
            plan, and: inSlices(others) { $1[$0.node].parent == nil ? nil : Victim($0, in: $1) },
            rest(of: folders, besides: plan.victims.map(\.file)))
    }

    /// Returns the folders that a plan takes as a whole.
    private func folders(in plan: PurgePlan<FoundFile>, for goal: PurgeGoal) -> [WholeFolder] {
        let (order, place) = read { ($0.device.order(for: goal, .command), goal.folder(in: $0.device.profile)) }
        let found = Set(plan.victims.compactMap { $0.rank.flatMap { order.folder(of: $0) } })
        return WholeFolder.allCases.filter { $0 == place || found.contains($0) }
    }

    /// Returns lines for the files that go with these folders although they free nothing: open and hard-linked ones, for
    /// example.
    private func rest(of folders: [WholeFolder], besides files: [FoundFile]) -> [PlanLine] {
        let known = Set(files.map { ObjectIdentifier($0.node) })
        return folders.flatMap { folder -> [PlanLine] in
            let path = Array(folder.path.utf8)
            guard let top = entry(at: path), top.isDirectory else { return [] }
            return self.files(below: top, path) { _ in true }.filter { !known.contains(ObjectIdentifier($0.node)) }
                .map { PlanLine(path: $0.path, reason: folder.reason, bytes: .zero, leavesTombstone: false) }
        }
    }
}

// Empty files, symbolic links and open files free nothing, so a command for a number of bytes does not purge them.
extension PurgeSelections {
    /// Returns the empty files and symbolic links that the command takes, in purge order, which is by path. The files may
    /// change before the search ends.
    func emptyFiles(of command: ReclaimCommand, below top: Node? = nil) -> [FoundFile] {
        let goal = command.goal
        let order = read { $0.device.order(for: goal, .command) }
        return files(below: top ?? root) { $1[$0].isEmptyVictim(of: goal.step, in: order) }
    }

    /// Returns the open files in the place that the command names, in order of path.
    func openFiles(of command: ReclaimCommand, below top: Node) -> [FoundFile] {
        files(below: top) { $1[$0].isOpenVictim(of: command.goal.step) }
    }

    private func files(below top: Node, _ isVictim: (Node, borrowing VolumeState) -> Bool) -> [FoundFile] {
        var found: [Node] = []
        var pending = [top]
        while let next = pending.popLast() {
            let entries = next.isDirectory ? Array(entries(of: next).values) : [next]
            let kept = inSlices(entries) { $0.isDirectory || isVictim($0, $1) ? $0 : nil }
            for node in kept {
                // The kind of a node never changes.
                if node.isDirectory { pending.append(node) } else { found.append(node) }
            }
        }
        return inSlices(found) { node, state in
            state[node].parent == nil ? nil : FoundFile(node, state[node].path().bytes)
        }.inOrderOfPath
    }

    /// Removes the empty files that are still empty and not in use.
    func purgeEmptyFiles(
        of command: ReclaimCommand, tid: pid_t, _ debt: inout AnnouncementDebt, report: ([Event]) -> Void
    ) {
        let nodes = emptyFiles(of: command).map(\.node)
        let goal = command.goal
        for start in stride(from: 0, to: nodes.count, by: Purger.batch) {
            let purge = change { state -> Purge? in
                let order = state.device.order(for: goal, .command)
                var plan = PurgePlan<Node>()
                for node in nodes[start..<min(start + Purger.batch, nodes.count)]
                where state[node].isEmptyVictim(of: goal.step, in: order) { plan.add(state.take(node)) }
                return state.begin(plan, trigger: .command, tid: tid)
            }
            if let purge { purger.carryOut(purge, &debt, report: report) }
        }
    }
}

/// A file and its path at the moment when it was found.
struct FoundFile {
    let node: Node
    let path: [UInt8]
    /// The unit that the file is purged with.
    let unit: FoundUnit?
    /// Whether purging the file leaves a tombstone, as of the last `renewed`.
    private(set) var leavesTombstone = false

    init(_ node: Node, _ path: [UInt8], unit: FoundUnit? = nil) {
        (self.node, self.path, self.unit) = (node, path, unit)
    }

    /// Returns the file with an up-to-date `leavesTombstone`.
    func renewed(in state: borrowing VolumeState) -> FoundFile {
        var file = self
        file.leavesTombstone = state[node].leavesTombstone
        return file
    }
}

/// The order of files that have the same turn: by age, then by path.
struct PurgeKey: Equatable, Comparable {
    var age: PurgeAge
    var path: [UInt8]

    static func < (a: PurgeKey, b: PurgeKey) -> Bool {
        a.age == b.age ? a.path.lexicographicallyPrecedes(b.path) : a.age < b.age
    }
}

/// Files that are purged as one, as of the moment when they were found.
struct FoundUnit {
    let id: ObjectIdentifier
    let key: PurgeKey

    init(_ unit: VictimUnit, _ age: PurgeAge, in state: borrowing VolumeState) {
        id = ObjectIdentifier(unit)
        key = PurgeKey(age: age, path: state[unit.directory].path().bytes)
    }
}

extension Victim<FoundFile> {
    /// Describes the file as it is now.
    init(_ file: FoundFile, in state: borrowing VolumeState) {
        self.init(file.renewed(in: state), rank: state[file.node].purgeRank, age: state[file.node].age)
    }

    fileprivate var key: PurgeKey { PurgeKey(age: age, path: file.path) }
    fileprivate func turn(in order: PurgeOrder) -> Int { rank.flatMap { order.turn(of: $0) } ?? .max }
}

extension [FoundFile] {
    /// The files sorted by path, byte by byte.
    var inOrderOfPath: [FoundFile] { sorted { $0.path.lexicographicallyPrecedes($1.path) } }

    /// How many bytes of paths are resolved again while the lock is held once. Resolving a long path takes longer.
    private static let pathBytes = 64 << 10

    /// Returns all files in their order, in parts of at most `count`. A part ends early if its paths are long.
    func parts(ofAtMost count: Int) -> [ArraySlice<FoundFile>] {
        var parts: [ArraySlice<FoundFile>] = []
        var (start, bytes) = (startIndex, 0)
        for (index, file) in enumerated() {
            bytes += file.path.count
            guard index + 1 - start == count || bytes >= Self.pathBytes || index + 1 == endIndex else { continue }
            parts.append(self[start...index])
            (start, bytes) = (index + 1, 0)
        }
        return parts
    }
}

extension [UInt8] {
    /// Whether a path is `place` or lies below it. Every path lies below the empty path.
    fileprivate func lies(in place: [UInt8]) -> Bool {
        guard !place.isEmpty, starts(with: place) else { return place.isEmpty }
        return count == place.count || self[place.count] == UInt8(ascii: "/")
    }
}

extension NodeState {
    fileprivate func isEmptyVictim(of step: PurgeStep?, in order: PurgeOrder) -> Bool {
        guard purgeFacts.isEmpty, let rank = verdict(for: .place).rank else { return false }
        return step.map { rank.place == $0 } ?? (order.turn(of: rank) != nil)
    }

    /// Whether only its being open keeps the file from a purge of the step.
    fileprivate func isOpenVictim(of step: PurgeStep?) -> Bool {
        verdict(for: .file).refusals.subtracting(.busy) == .open && purgeRank?.place == step
    }
}
