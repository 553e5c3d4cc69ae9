import PurgeModel
import Support
import Testing

@testable import PurgeTree

/// A run of random operations on the tree and on the table.
struct TreeRun: ~Copyable {
    var random: SeededGenerator
    var fixture = TreeFixture()
    var table = FileTable()
    private(set) var nodes: [Int: Node] = [:]
    private var made = 0
    private var time: Int64 = 100
    var done: Set<String> = []
    private let hasGroups: Bool
    /// Whether changes to directories proceed between other operations. Size policies and groups remember the order in which
    /// files come and go, so such a run sets no size limits and does not compare the order of groups.
    let isInSteps: Bool
    private var steps = TreeSteps()

    /// Creates a run. With `hasGroups` it uses groups and tombstones; `step` limits the entries that a change to a directory
    /// visits at a time.
    init(seed: UInt64, hasGroups: Bool = false, step: Int? = nil) {
        random = SeededGenerator(seed: seed)
        self.hasGroups = hasGroups
        isInSteps = step != nil
        if let step { fixture.tree.placement.step = step }
    }

    /// The names of places and standard folders, and two that mean nothing.
    private static let names = ["tmp", "Library", "Caches", "Documents", "a", "b"]
    private static let marks: [String?] = [nil, "0", "low", "medium", "high"]

    private mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[random.below(elements.count)]
    }
    mutating func anyFolder() -> String { pick(table.folders.keys.sorted()) ?? "" }
    private mutating func anyPath() -> String? { pick(table.everyPath.sorted()) }
    /// Returns the number and a path of a file that has a name and is not being purged.
    private mutating func anyFile() -> (key: Int, path: String)? {
        guard let key = pick(table.files.filter { !$0.value.paths.isEmpty && !$0.value.isGoing }.keys.sorted()),
            let path = table.files[key]?.paths.first
        else { return nil }
        return (key, path)
    }
    private mutating func newPath(_ name: String) -> String? {
        let folder = anyFolder()
        let path = folder == "" ? name : folder + "/" + name
        return table.everyPath.contains(path) ? nil : path
    }
    private func isGoing(below path: String) -> Bool {
        table.files.values.contains { file in file.isGoing && file.paths.contains { table.lies($0, in: path) } }
    }

    mutating func step() {
        time += 1
        act()
        fixture.tree.policies.settle()
        table.settlePolicies()
        if isInSteps {
            if random.chance(30) { fixture.tree.place() }
            steps.note(fixture.tree.isPlaced, table)
        }
        guard hasGroups, !isInSteps else { return }
        // Settles ages first, so that tree and table have seen the same files over a policy.
        settle()
        table.noteVictims()
    }

    private mutating func act() {
        let number = random.below((hasGroups ? 28 : 24) + (isInSteps ? 2 : 0))
        // These operations compare the files that go, and their ages, with the table.
        if [17, 21, 22].contains(number) { place() }
        switch number {
        case 0...3: make()
        case 4: makeFolder()
        case 5: link()
        case 6: unlink()
        case 7, 8: rename()
        case 9: exchange()
        case 10: mark()
        case 11: exclude()
        case 12, 13: useFile()
        case 14: holdFile()
        case 15, 16: charge()
        case 17: purge()
        case 18: endPurge()
        case 19, 20: setPolicy()
        case 21: advance()
        case 22: checkPolicies()
        case 23: makeNameless()
        case 24...25 where isInSteps: removeFolder()
        default: setBehaviour()
        }
    }

    private mutating func make() {
        made += 1
        // With few distinct uses and sizes, most files tie with another one.
        let (blocks, use) = (Int64(random.below(4)), Int64(random.below(5)))
        let name = random.chance(10) ? Self.names[random.below(6)] : "f\(made)"
        guard table.files.count < 60, let path = newPath(name) else { return }
        let creation = max(0, table.time - Int64(random.below(5)))
        nodes[made] = fixture.make(path, blocks: blocks, lastUse: use, creation: creation)
        table.files[made] = .init(paths: [path], blocks: blocks, lastUse: use, creation: creation)
        steps.allowed.insert(made)
        done.insert("make")
    }

    private mutating func makeNameless() {
        made += 1
        guard table.files.count < 60 else { return }
        // A nameless file keeps the place that it has now, so placement must be complete.
        place()
        let folder = anyFolder()
        let node = Node(inode: UInt64(1_000_000 + made), kind: .regular, name: Name(""))
        fixture.tree.insertNameless(
            node, asIn: fixture.node(folder),
            EntryFacts(creation: Instant(nanoseconds: 0), opens: 1))
        nodes[made] = node
        var file = FileTable.File(paths: [folder == "" ? "f" : folder + "/f"], blocks: 0, lastUse: .min, opens: 1)
        file.last = table.counted(file)
        file.paths = []
        table.files[made] = file
        done.insert("nameless")
    }

    private mutating func makeFolder() {
        guard table.folders.count < 12, let path = newPath(Self.names[random.below(6)]) else { return }
        fixture.makeDirectory(path)
        table.folders[path] = .init()
        done.insert("folder")
    }

    private mutating func removeFolder() {
        guard let folder = pick(table.emptyFolders) else { return }
        fixture.unlink(folder)
        table.folders[folder] = nil
        done.insert("remove folder")
    }

    private mutating func link() {
        made += 1
        guard let path = newPath("l\(made)"),
            let key = pick(table.files.filter { !$0.value.isGoing && !$0.value.isLinkedOutside }.keys.sorted()),
            let node = nodes[key], let file = table.files[key]
        else { return }
        fixture.tree.link(node, as: fixture.dentry(path))
        table.files[key]?.paths.append(path)
        steps.allowed.insert(key)
        done.insert(file.paths.isEmpty ? "relink" : "link")
    }

    private mutating func unlink() {
        guard let (key, path) = anyFile(), let node = nodes[key] else { return }
        placeIfUsed(key)
        steps.allowed.insert(key)
        // The volume also holds the node while it removes a name.
        fixture.tree.hold(node)
        fixture.unlink(path)
        let isGone = fixture.tree.unhold(node)
        table.unlink(path)
        #expect(isGone == (table.files[key] == nil))
        done.insert(isGone ? "gone" : "unlink")
    }

    private mutating func rename() {
        guard let old = anyPath(), !isGoing(below: old) else { return }
        var new = newPath(Self.names[random.below(6)])
        if table.file(at: old) != nil, random.chance(50) {
            new = anyFile()?.path  // replaces another file
        }
        guard let new, new != old, !table.lies(new, in: old), !isGoing(below: new) else { return }
        let replaced = table.file(at: new)
        if let replaced, replaced == table.file(at: old) {
            fixture.rename(old, new)  // two names of one file
            done.insert("same")
            return
        }
        if let replaced { placeIfUsed(replaced) }
        if let key = table.file(at: old) { steps.allowed.insert(key) }
        let target = replaced.flatMap { nodes[$0] }
        if let target { fixture.tree.hold(target) }
        fixture.rename(old, new)
        if let target { _ = fixture.tree.unhold(target) }
        table.rename(old, new)
        done.insert(replaced == nil ? "rename" : "replace")
    }

    private mutating func exchange() {
        guard let one = anyPath(), let other = anyPath(), !table.lies(one, in: other), !table.lies(other, in: one),
            !isGoing(below: one), !isGoing(below: other),
            table.file(at: one) != table.file(at: other)
                || table.file(at: one) == nil
        else { return }
        for key in [one, other].compactMap({ table.file(at: $0) }) { steps.allowed.insert(key) }
        fixture.tree.exchange(fixture.dentry(one), fixture.dentry(other))
        table.exchange(one, other)
        done.insert("exchange")
    }

    private mutating func mark() {
        let mark = Self.marks[random.below(5)]
        if random.chance(50) {
            let folder = anyFolder()
            fixture.mark(folder, mark)
            table.folders[folder]?.mark = mark
        } else if let (key, path) = anyFile() {
            fixture.mark(path, mark)
            table.files[key]?.mark = mark
            steps.allowed.insert(key)
        }
        done.insert("mark")
    }

    private mutating func exclude() {
        let value = random.chance(50)
        if random.chance(50) {
            let folder = anyFolder()
            fixture.tree.set(.exclusion(value), of: fixture.node(folder))
            table.folders[folder]?.isExcluded = value
        } else if let (key, path) = anyFile() {
            fixture.tree.set(.exclusion(value), of: fixture.node(path))
            table.files[key]?.isExcluded = value
        }
        done.insert("exclude")
    }

    private mutating func useFile() {
        // Even a closed file can be used: a write through a mapping shows only later.
        if random.chance(25), let (key, _) = anyFile(), let node = nodes[key] {
            fixture.tree.noteUse(node, at: Instant(nanoseconds: time))
            table.noteUse(key, at: time)
            table.files[key]?.lastUse = time
            done.insert("use")
            return
        }
        if random.chance(50), let (key, _) = anyFile(), let node = nodes[key] {
            fixture.tree.open(node, usedAt: Instant(nanoseconds: time))
            table.noteUse(key, at: time)
            table.files[key]?.opens += 1
            table.files[key]?.lastUse = time
            table.noteUse(key, at: time)
            done.insert("open")
        } else if let key = pick(table.files.filter { $0.value.opens > 0 }.keys.sorted()), let node = nodes[key] {
            let isGone = fixture.tree.close(node)
            table.files[key]?.opens -= 1
            steps.allowed.insert(key)
            table.release(key)
            #expect(isGone == (table.files[key] == nil))
            done.insert("close")
        }
    }

    private mutating func holdFile() {
        if random.chance(50), let (key, _) = anyFile(), let node = nodes[key] {
            fixture.tree.hold(node)
            table.files[key]?.holds += 1
            done.insert("hold")
        } else if let key = pick(table.files.filter { $0.value.holds > 0 }.keys.sorted()), let node = nodes[key] {
            let isGone = fixture.tree.unhold(node)
            table.files[key]?.holds -= 1
            table.release(key)
            #expect(isGone == (table.files[key] == nil))
            done.insert("unhold")
        }
    }

    private mutating func charge() {
        guard let key = pick(table.files.filter { !$0.value.isGoing }.keys.sorted()), let node = nodes[key],
            var file = table.files[key]
        else { return }
        if let name = file.charge(node, &fixture, &random) { done.insert(name) }
        steps.allowed.insert(key)
        let isMore = file.blocks > table.files[key]?.blocks ?? 0
        table.files[key] = file
        if isMore { table.noteWritten(file) }
    }

    /// Chooses the first victim and all files that go with it.
    private mutating func purge() {
        advance()
        table.noteVictims()
        let expected = table.victims
        if isInSteps, hasGroups { return purgeAny(of: expected) }
        if expected.isEmpty { expect(fixture.popAll(), are: []) }
        for (at, next) in expected.enumerated() {
            let victim = fixture.tree.popVictim(step: nil)
            #expect(victim?.file.path().text == next.path)
            guard let victim, let key = table.file(at: next.path) else { return }
            #expect(victim.file.standing.leavesTombstone == table.leavesTombstone(next.path))
            fixture.tree.choose(victim.file)
            table.files[key]?.isGoing = true
            done.insert("choose")
            let goesOn = next.unit != nil && at + 1 < expected.count && expected[at + 1].unit == next.unit
            #expect(victim.unfinishedGroup.map { $0.path().text } == (goesOn ? next.unit?.group : nil))
            if !goesOn { return }
            done.insert("choose more")
        }
    }

    private mutating func purgeAny(of expected: [(path: String, unit: FileTable.Unit?)]) {
        guard let victim = fixture.tree.popVictim(step: nil) else { return #expect(expected.isEmpty) }
        let path = victim.file.path().text
        #expect(expected.contains { $0.path == path })
        fixture.tree.choose(victim.file)
        if let key = table.file(at: path) { table.files[key]?.isGoing = true }
        done.insert("choose")
    }

    /// Detaches a chosen file, or reinstates it, with or without its data.
    private mutating func endPurge() {
        guard let key = pick(table.files.filter { $0.value.isGoing }.keys.sorted()), let node = nodes[key],
            let path = table.files[key]?.paths.first
        else { return }
        steps.allowed.insert(key)
        if random.chance(50), table.leavesTombstone(path) {
            fixture.tree.reinstate(node, isEmptied: true)
            table.files[key]?.noteEmptied()
            done.insert("entomb")
        } else if random.chance(50) {
            fixture.tree.detach(node, from: fixture.dentry(path))
            table.files[key] = nil
            done.insert("detach")
        } else {
            let isStuck = random.chance(30)
            fixture.tree.reinstate(node, isStuck: isStuck)
            table.files[key]?.isGoing = false
            table.files[key]?.isStuck = isStuck
            done.insert("reinstate")
        }
    }

    /// Completes all pending placement after changes to directories.
    private mutating func place() {
        if !fixture.tree.isPlaced { done.insert("place") }
        while !fixture.tree.isPlaced { fixture.tree.place() }
        fixture.tree.policies.settle()
    }

    /// Completes placement if the file is in use, because it keeps its place when it loses its last name.
    private mutating func placeIfUsed(_ key: Int) {
        if let file = table.files[key], file.opens > 0 || file.holds > 0 { place() }
    }

    /// Compares ledger, policies and groups with a recount; while placement is incomplete, checks only invariants.
    mutating func check() -> Bool {
        if !fixture.tree.isPlaced {
            done.insert("unplaced")
            return steps.check(fixture, table, nodes)
        }
        let found = fixture.numbers
        #expect(found == table.numbers)
        return found == table.numbers && checkIndexes() && table.checkGroups(fixture.tree.victims)
    }

    /// Purges all files that may be purged now.
    mutating func drain() {
        place()
        advance()
        table.noteVictims()
        let expected = table.victims.map(\.path)
        if isInSteps, hasGroups {
            expect(fixture.popAll().sorted(), are: expected.sorted())
        } else {
            expect(fixture.popAll(), are: expected)
        }
        #expect(fixture.reclaimable == fixture.held)
    }
}
