/// A loss of power (docs/POWER.md): which of the recorded calls are in the container afterwards.
public struct PowerLoss: Hashable, Sendable {
    /// The part of the unsynced changes that survives.
    public enum Rest: String, CaseIterable, Sendable {
        /// Nothing.
        case none
        /// All changes up to a point.
        case ordered
        /// All changes of names up to a point, and of the data any blocks.
        case torn
    }

    /// The size of a block in bytes. A block is written whole or not at all.
    public static let block: Int64 = 4096

    public let rest: Rest
    /// Decides the point, and the blocks. With 0 the point is the loss itself, and no block is there.
    public let seed: UInt64

    public init(_ rest: Rest, seed: UInt64 = 0) { (self.rest, self.seed) = (rest, seed) }

    /// The loss as the fault of a rule.
    public var text: String { "power=\(rest.rawValue)" + (seed == 0 ? "" : ":\(seed)") }
}

/// A change that has survived a loss of power.
public struct SurvivingCall: Hashable, Sendable {
    /// Its place among the recorded calls, from 0.
    public let index: Int
    /// The bytes of a write that are there, or those that a lost truncation has left as zeros. Nil for the whole call.
    public let ranges: [Range<Int64>]?
    /// The size that the file has at least, in bytes. Nil for what the call gives it.
    public let size: Int64?
    /// The path, and the other one, in what has survived.
    public let path: String
    public let other: String?
    /// For a file without a name, and for what is done to it until it gets one.
    public let nameless: Int?
}

/// The recorded calls of a container, prepared for losses of power at any of them.
public struct PowerRecord: Sendable {
    typealias File = RecordedTree.File

    enum Effect {
        case names(NameChange)
        case data(File)
        case attributes(File)
        case sync(File, DurableCalls.Sync, after: Int)
        case failedSync(File, after: Int)
        case nothing
    }

    public let calls: [RecordedCall]
    private(set) var effects: [Effect] = []
    /// The files that O_TMPFILE has made.
    private var nameless: Set<File> = []
    /// The names after the last call.
    private let tree: RecordedTree

    public init(_ calls: [RecordedCall]) {
        self.calls = calls
        var tree = RecordedTree()
        for call in calls {
            let effect = Self.effect(of: call, in: &tree)
            if call.call == .tmpfile, case .names(let change) = effect { nameless.insert(change.file) }
            effects.append(effect)
        }
        self.tree = tree
    }

    private static func effect(of call: RecordedCall, in tree: inout RecordedTree) -> Effect {
        guard call.isPlausible else { return .nothing }
        guard call.error == nil else {
            guard call.call == .fsync else { return .nothing }
            return .failedSync(tree.file(call.node, call.path, byDescriptor: true), after: call.after ?? .max)
        }
        func file(byDescriptor: Bool = false) -> File { tree.file(call.node, call.path, byDescriptor: byDescriptor) }
        switch call.call {
        case .read: return .nothing
        case .open:
            let file = file()
            return call.truncates ? .data(file) : .nothing
        case .write, .fallocate: return .data(file(byDescriptor: true))
        case .truncate: return .data(file())
        case .setattr, .setxattr, .removexattr: return .attributes(file())
        case .fsync:
            let sync: DurableCalls.Sync = call.isDataSync ? .data : .file
            return .sync(file(byDescriptor: true), sync, after: call.after ?? .max)
        case .fsyncdir: return .sync(file(), .folder, after: call.after ?? .max)
        default: return .names(NameChange(call, in: &tree))
        }
    }
}

// What survives.
extension PowerRecord {
    /// Returns the changes that are there after a loss of power just before call `end` (from 0; `calls.count` is the loss
    /// after the last one), in their order.
    public func survivors(of loss: PowerLoss, before end: Int) -> [SurvivingCall] {
        survivors(of: [loss], before: end).first ?? []
    }

    /// The same for several losses of power at one call.
    public func survivors(of losses: [PowerLoss], before end: Int) -> [[SurvivingCall]] {
        let end = min(max(0, end), calls.count)
        let synced = synced(before: end)
        return losses.map { survivors(of: $0, before: end, synced: synced) }
    }

    private func survivors(of loss: PowerLoss, before end: Int, synced: [Bool]) -> [SurvivingCall] {
        let point: Int =
            switch loss.rest {
            case .none: 0
            case .ordered, .torn: loss.seed == 0 ? end : Int(FaultRules.mixed(loss.seed) % UInt64(end + 1))
            }
        var isThere = (0..<end).map { synced[$0] || $0 < point }
        var torn = TornData(seed: loss.seed)
        if loss.rest == .torn { torn.tear(self, &isThere, synced: synced, point: point) }
        return placed((0..<end).filter { isThere[$0] && calls[$0].isChange }, torn.kept)
    }

    /// Which of the calls the syncs before `end` have made durable.
    private func synced(before end: Int) -> [Bool] {
        var durable = DurableCalls(count: end)
        for index in 0..<end {
            switch effects[index] {
            case .nothing: break
            case .names(let change): durable.add(change, index)
            case .data(let file): durable.addData(index, file: file, calls[index])
            case .attributes(let file): durable.addAttributes(index, file: file)
            case .failedSync(let file, let after): durable.dropData(of: file, before: after)
            case .sync(let file, let sync, let after): durable.sync(file, sync, after: after)
            }
        }
        return durable.isDurable
    }

    /// Gives the changes the paths that they have among themselves. Leaves out what is done to files without a name.
    private func placed(_ indices: [Int], _ kept: [Int: TornData.Kept]) -> [SurvivingCall] {
        var tree = RecordedTree(beginningOf: self.tree)
        var survivors: [SurvivingCall] = []
        // Files that get their first name later.
        let linked = Set(
            indices.compactMap { index in
                if case .names(let change) = effects[index], calls[index].call == .link { change.file } else { nil }
            })
        for index in indices {
            let (path, other, nameless) = place(of: index, in: &tree)
            guard path != nil || nameless.map({ linked.contains($0) && self.nameless.contains($0) }) == true else {
                continue
            }
            survivors.append(
                SurvivingCall(
                    index: index, ranges: kept[index]?.ranges, size: kept[index]?.size, path: path ?? "", other: other,
                    nameless: nameless))
        }
        return survivors
    }

    /// Carries out a change in the tree. Returns its paths, and the number of the file if it has no name.
    private func place(
        of index: Int, in tree: inout RecordedTree
    ) -> (path: String?, other: String?, nameless: Int?) {
        switch effects[index] {
        case .nothing, .sync, .failedSync: return (nil, nil, nil)
        case .data(let file), .attributes(let file):
            let path = tree.path(of: file)
            return (path, nil, path == nil ? file : nil)
        case .names(let change):
            guard let first = change.entries.first else { return (nil, nil, change.file) }
            let path = tree.path(of: first)
            switch calls[index].call {
            case .link:
                let other = tree.path(of: change.file)
                tree.add(change.file, at: first)
                return (path, other, other == nil ? change.file : nil)
            case .unlink, .rmdir: tree.remove(first)
            case .rename:
                let other = change.entries.last.flatMap { tree.path(of: $0) }
                if let last = change.entries.last { tree.rename(first, to: last, exchanging: calls[index].exchanges) }
                return (path, other, nil)
            default: tree.add(change.file, at: first)
            }
            return (path, nil, nil)
        }
    }
}
