import PurgeModel
import PurgeStore
import PurgeSystem

/// All that changes in a mounted volume: the ledger, the tree's placement, the victims. Behind
/// one lock that is never held across I/O, a reply or a notification.
struct VolumeState {
    var capacity: Capacity
    var thresholdSettings: ThresholdSettings
    var level = PressureLevel.normal
    /// Rises when `level` changes, so that a change back is seen too.
    var levelChanges: UInt64 = 0
    private(set) var usage = [StatusReport.Usage](repeating: .init(), count: 3)
    private(set) var marked = StatusReport.Usage()
    private(set) var excluded = StatusReport.Usage()
    var queue = VictimQueue()
    var counters: StatusReport.Counters
    /// Purges that are being carried out.
    var purgesUnderWay = 0
    /// Purged names of which the kernel has not been told yet.
    var ghosts: [GhostKey: Node] = [:]
    /// Nodes whose last use is newer than the journal's.
    var unsavedUses: [Node] = []
    /// Inode numbers whose last use the journal need not keep any longer.
    var goneInodes: [UInt64] = []
    /// How many of `unsavedUses` are files that are gone, kept in memory by that list alone.
    private var goneUses = 0
    var settingsAreUnsaved = false
    /// Events that came up under the lock, in order.
    var outbox: [Event] = []
    var descriptors: DescriptorRing
    /// Nodes of which the kernel holds references.
    var knownNodes = 0
    /// References that the kernel gave back without having had them.
    var overdrawnNodes = 0
    /// Handles that the kernel holds.
    var openFiles = 0

    struct GhostKey: Hashable {
        var directory: ObjectIdentifier
        var name: Name
    }

    init(settings: DeviceSettings, descriptorLimit: Int) {
        thresholdSettings = settings.thresholds
        capacity = Capacity(
            total: settings.total, others: settings.others, othersPurgeable: settings.othersPurgeable,
            thresholds: settings.thresholds.resolved(total: settings.total))
        counters = settings.counters
        descriptors = DescriptorRing(limit: descriptorLimit)
    }

    func usage(of tier: Tier) -> StatusReport.Usage { usage[Self.index(tier)] }

    private static func index(_ tier: Tier) -> Int {
        switch tier {
        case .temporary: 0
        case .caches: 1
        case .persistent: 2
        }
    }
}

// What each file adds to the numbers. Whatever changes about a file, `withdraw` comes before it
// and `enter` after it, so that no number can drift.
extension VolumeState {
    mutating func enter(_ node: Node) {
        guard node.isRegular, !node.flags.contains(.counted) else { return }
        node.flags.insert(.counted)
        capacity.used += node.charged
        add(node.charged, files: 1, of: node.standing)
        offer(node)
    }

    mutating func withdraw(_ node: Node) {
        guard node.flags.contains(.counted) else { return }
        retract(node)
        node.flags.remove(.counted)
        capacity.used -= node.charged
        add(.zero - node.charged, files: -1, of: node.standing)
    }

    /// More (or fewer) blocks for a file that is in the numbers.
    mutating func charge(_ node: Node, blocks: Int64) {
        guard blocks != 0 else { return }
        let wasOffered = node.heapIndex >= 0
        if wasOffered { retract(node) }
        node.blocks += blocks
        if node.flags.contains(.counted) {
            capacity.used += ByteCount(blocks: blocks)
            add(ByteCount(blocks: blocks), files: 0, of: node.standing)
        }
        if wasOffered || node.opens == 0 { offer(node) }
    }

    private mutating func add(_ bytes: ByteCount, files: Int64, of standing: Standing) {
        func add(to usage: inout StatusReport.Usage) {
            usage.bytes += bytes
            usage.files += files
        }
        add(to: &usage[Self.index(standing.tier)])
        if standing.mark?.urgency != nil { add(to: &marked) }
        if standing.isExcluded { add(to: &excluded) }
    }

    /// Puts the file among the victims, if purging it would really give its bytes back now.
    mutating func offer(_ node: Node) {
        guard node.heapIndex < 0, node.opens == 0, node.blocks > 0, node.flags.contains(.counted),
            node.flags.isDisjoint(with: [.unlinked, .purging, .stuck]), !node.hasSeveralNames,
            let rank = node.standing.rank
        else { return }
        queue.insert(node, rank: rank)
        capacity.reclaimableFiles += node.charged
    }

    /// Takes the file from among the victims.
    mutating func retract(_ node: Node) {
        guard node.heapIndex >= 0, let rank = node.standing.rank else { return }
        queue.remove(node, rank: rank)
        capacity.reclaimableFiles -= node.charged
    }

    mutating func noteUse(_ node: Node, at instant: Instant) {
        let wasOffered = node.heapIndex >= 0
        if wasOffered { retract(node) }
        node.lastUse = max(node.lastUse, instant)
        if !node.flags.contains(.useUnsaved) {
            node.flags.insert(.useUnsaved)
            unsavedUses.append(node)
        }
        if wasOffered { offer(node) }
    }

    /// The last name and the last descriptor of the node are gone.
    mutating func noteGone(_ node: Node) {
        goneInodes.append(node.inode)
        if node.flags.contains(.useUnsaved) { goneUses += 1 }
    }

    /// Takes the uses that the journal has to be told of.
    mutating func takeUnsavedUses() -> (gone: [UInt64], used: [Node]) {
        let used = unsavedUses.filter { !$0.flags.contains(.unlinked) }
        for node in unsavedUses { node.flags.remove(.useUnsaved) }
        defer { (unsavedUses, goneInodes, goneUses) = ([], [], 0) }
        return (goneInodes, used)
    }

    /// The journal could not be told of these. A record that stays is of no file: a later file of the same
    /// inode has another birth.
    mutating func restoreGone(_ inodes: [UInt64]) {
        if inodes.count + goneInodes.count < Self.goneInodesLimit { goneInodes = inodes + goneInodes }
    }
    private static let goneInodesLimit = 1_000_000

    /// Lets go of nodes of files that are gone, once they are half of the list: a program may make
    /// and remove files faster than the journal is written.
    mutating func dropGoneUses() -> [Node] {
        guard goneUses * 2 >= unsavedUses.count, goneUses > 0 else { return [] }
        var dropped: [Node] = []
        unsavedUses.removeAll { node in
            guard node.flags.contains(.unlinked), node.opens == 0 else { return false }
            node.flags.remove(.useUnsaved)
            dropped.append(node)
            return true
        }
        goneUses = 0
        return dropped
    }
}

// Placement: tier and inherited marks follow from the names.
extension VolumeState {
    /// What an entry of `directory` called `name` has by its place, with its own mark.
    private func standing(of node: Node, named name: Name, in directory: Node) -> Standing {
        let above = directory.standing
        let isRoot = directory.parent == nil
        let tier = Tier.ofEntry(
            named: name.isEqual, parent: above.tier, parentIsRoot: isRoot,
            parentIsLibrary: directory.parent.map { $0.parent == nil && directory.name.isEqual(to: "Library") } ?? false
        )
        return Standing(
            tier: tier, mark: node.ownMark.mark ?? above.mark,
            isExcluded: above.isExcluded || node.flags.contains(.ownExclusion))
    }

    private func standing(of node: Node) -> Standing {
        guard let parent = node.parent else {
            // The root, or a file without a name, which keeps what it had last.
            return node.isDirectory && !node.flags.contains(.unlinked)
                ? Standing(
                    tier: .persistent, mark: node.ownMark.mark, isExcluded: node.flags.contains(.ownExclusion))
                : node.standing
        }
        let first = standing(of: node, named: node.name, in: parent)
        guard let further = node.part?.furtherNames, !further.isEmpty else { return first }
        // Several names: the most durable tier, its own mark alone, excluded only if each is.
        var result = Standing(tier: first.tier, mark: node.ownMark.mark, isExcluded: first.isExcluded)
        for dentry in further {
            let other = standing(of: node, named: dentry.name, in: dentry.directory)
            result = Standing(
                tier: .mostDurable(result.tier, other.tier), mark: node.ownMark.mark,
                isExcluded: result.isExcluded && other.isExcluded)
        }
        return result
    }

    /// Brings the node's standing, and that of all below it, in line with names and marks.
    mutating func place(_ node: Node) {
        var pending = [node]
        while let next = pending.popLast() {
            let new = standing(of: next)
            if next.isDirectory {
                guard new != next.standing || next === node, let part = next.part else {
                    next.standing = new
                    continue
                }
                let isUnchanged = new == next.standing
                next.standing = new
                // Library moving changes what `Caches` below it means, though not its own standing.
                if !isUnchanged || next === node { pending.append(contentsOf: part.entries.values) }
            } else if new != next.standing {
                let wasCounted = next.flags.contains(.counted)
                if wasCounted { withdraw(next) }
                next.standing = new
                if wasCounted { enter(next) }
            } else {
                offer(next)
            }
        }
    }
}

// Pressure.
extension VolumeState {
    /// Brings the level in line with free space; answers whether it changed.
    mutating func judge() -> Bool {
        let new = level.following(free: capacity.free, thresholds: capacity.thresholds)
        guard new != level else { return false }
        level = new
        levelChanges += 1
        outbox.append(Event(type: .pressure, bytes: capacity.free, reason: new.rawValue))
        return true
    }

    var shouldReclaim: Bool { level.reclaims && capacity.reclaimable > .zero }
}
