import Glibc
import PurgeSystem

/// The ledger under test, as a random walk changes it.
public protocol LedgerSubject {
    func makeFolder(_ path: String) throws
    func remove(_ path: String) throws
    func addName(_ path: String, _ new: String) throws
    func move(_ path: String, to new: String, flags: UInt32) throws
    /// Sets the mark; nil removes it, if there is one.
    func setMark(_ path: String, _ text: String?) throws
    func setOthers(_ bytes: Int64, purgeable: Bool) throws
}

/// Random operations on a subject and on a model that is independent of the code under test. Both have one movable folder (t0,
/// t1 and so on) for each of `folderParents`.
public protocol LedgerWalk: AnyObject {
    var subject: any LedgerSubject { get }
    var model: ReferenceLedger { get set }
    var random: SeededGenerator { get set }
    /// The number of files created so far.
    var made: Int { get set }
    /// The parents of the movable folders: a place, or a folder with a higher number.
    var folderParents: [String] { get set }
    var lastOperation: String { get set }
    /// Called after each operation.
    func settle()
}

extension LedgerWalk {
    private var places: [String] { ["Documents", "Library/Caches", "tmp", "Library/Application Support", ""] }
    public static var firstParents: [String] { ["Documents", "Library/Caches", "tmp", "Documents"] }

    public func makeFolders() throws {
        for folder in [
            "Documents", "Library", "tmp", "Library/Caches", "Library/Application Support", "Library/Preferences",
        ] {
            model.makeDirectory(folder)
        }
        for folder in folderParents.indices {
            try subject.makeFolder(path(ofFolder: folder))
            model.makeDirectory(path(ofFolder: folder))
        }
    }

    private func path(ofFolder folder: Int) -> String { "\(folderParents[folder])/t\(folder)" }

    public func newPath() -> String {
        made += 1
        let index = random.below(places.count + folderParents.count)
        let place = index < places.count ? places[index] : path(ofFolder: index - places.count)
        return place.isEmpty ? "f\(made)" : "\(place)/f\(made)"
    }
    /// Returns the path of any file with a name. The choice is reproducible.
    public func somePath() -> String? { model.statBlocksOfAllFiles.keys.sorted().randomElement(using: &random) }
    public func someOffset() -> Int64 {
        let offset = Int64(random.below(400_000))
        return random.chance(40) ? offset / 4096 * 4096 : offset
    }
    public func someAllocation() -> (ReferenceLedger.Allocation, Int32) {
        let modes: [(ReferenceLedger.Allocation, Int32)] = [
            (.plain, Allocate.plain), (.keepingSize, Allocate.keepSize), (.punchingHole, Allocate.punchHole),
            (.punchingHole, Allocate.punchHole), (.zeroing, Allocate.zeroRange),
            (.zeroingKeepingSize, Allocate.zeroRangeKeepSize),
        ]
        return modes[random.below(modes.count)]
    }

    public func noSpaceIsZero(_ body: () throws(Errno) -> Int) throws(Errno) -> Int {
        do {
            return try body()
        } catch {
            guard error == .noSpace else { throw error }
            return 0
        }
    }
    public func compare(_ done: Int, _ expected: ReferenceLedger.Outcome) throws {
        guard Int64(done) == expected.bytes else {
            throw TestFailure("\(lastOperation): took \(done), not \(expected.bytes)")
        }
    }
}

// Operations on names, marks and the device. An operation that makes no sense at the moment does nothing.
extension LedgerWalk {
    public func unlink() throws {
        guard let path = somePath() else { return }
        lastOperation = "unlink \(path)"
        try subject.remove(path)
        model.unlink(path)
    }

    public func link() throws {
        guard let path = somePath() else { return }
        let new = newPath()
        lastOperation = "link \(path) \(new)"
        try subject.addName(path, new)
        model.link(path, new)
    }

    public func renameFile() throws {
        guard let path = somePath() else { return }
        let new = random.chance(25) ? somePath() ?? newPath() : newPath()
        lastOperation = "rename \(path) \(new)"
        try subject.move(path, to: new, flags: 0)
        model.rename(path, new)
    }

    /// Moves a folder with all folders in it, into a place or into a folder with a higher number.
    public func renameFolder() throws {
        let folder = random.below(folderParents.count)
        let above = Int.random(in: folder...folderParents.count, using: &random)
        let inFolder = above > folder && above < folderParents.count && random.chance(40)
        let place = inFolder ? path(ofFolder: above) : places[random.below(places.count - 1)]
        guard place != folderParents[folder] else { return }
        let old = path(ofFolder: folder)
        lastOperation = "rename tree \(old) to \(place)"
        try subject.move(old, to: "\(place)/t\(folder)", flags: 0)
        model.rename(old, "\(place)/t\(folder)")
        for other in folderParents.indices where folderParents[other].hasPrefix(old) {
            folderParents[other] = "\(place)/t\(folder)" + folderParents[other].dropFirst(old.count)
        }
        folderParents[folder] = place
    }

    public func exchange() throws {
        guard let first = somePath(), let second = somePath(), first != second else { return }
        lastOperation = "exchange \(first) \(second)"
        try subject.move(first, to: second, flags: RenameFlag.exchange)
        model.exchange(first, second)
    }

    public func mark() throws {
        let marks: [(ReferenceLedger.Mark?, String?)] = [
            (nil, nil), (.notPurgeable, "0"), (.low, "low"), (.medium, "medium"), (.high, "high"),
        ]
        let (mark, text) = marks[random.below(marks.count)]
        let target = random.chance(30) ? path(ofFolder: random.below(folderParents.count)) : somePath()
        guard let target else { return }
        lastOperation = "mark \(target) \(text ?? "removed")"
        try subject.setMark(target, text)
        model.mark(target, mark)
    }

    public func changeDevice() throws {
        let others = Int64(random.below(Int(model.total / 2)))
        lastOperation = "others \(others)"
        try subject.setOthers(others, purgeable: false)
        model.setOthers(others)
        guard random.chance(50) else { return }
        settle()
        let purgeable = Int64(random.below(Int(model.others) + 1))
        lastOperation = "others.purgeable \(purgeable)"
        try subject.setOthers(purgeable, purgeable: true)
        model.setOthersPurgeable(purgeable)
    }
}
