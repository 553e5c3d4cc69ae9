import Glibc
import PurgeContainers
import PurgeModel
import PurgeSystem

/// Visits the selected entries below a folder, each folder after its content. Folders that every container has are not visited.
/// The walk keeps one folder open for each level.
struct CleaningWalk {
    /// An entry to be removed.
    struct Step {
        let entry: CleanableEntry
        let folder: any CleanableFolder
        fileprivate let levels: [Level]

        /// The names from the start of the walk to this entry.
        var path: [RawText] { levels.path(to: entry) }
    }

    /// An entry that could not be reached or removed.
    struct Fault {
        let path: [RawText]
        let error: Errno
    }

    /// The faults of a walk.
    struct Faults {
        fileprivate(set) var first: Fault?
        fileprivate(set) var count = 0
    }

    fileprivate struct Level {
        let folder: any CleanableFolder
        let entry: CleanableEntry?
        var entries: [CleanableEntry]
        /// The index of the first entry that has not been visited yet.
        var next = 0
        /// The selection within this folder; nil if the folder goes with everything in it.
        let selection: EntrySelection?
        /// True if anything in this folder has failed.
        var hasFault = false
    }

    /// The names from the container to the folder where the walk starts.
    private let place: [[UInt8]]
    private var levels: [Level] = []
    private var faults = Faults()
    /// Visits a step, and returns false to end the walk.
    private let visit: (Step) throws(Errno) -> Bool

    private init(at place: [[UInt8]], _ visit: @escaping (Step) throws(Errno) -> Bool) {
        (self.place, self.visit) = (place, visit)
    }

    /// Visits the entries of a folder at `place` that a selection includes, and returns the faults.
    static func walk(
        _ folder: any CleanableFolder, at place: [[UInt8]], _ selection: EntrySelection,
        _ visit: @escaping (Step) throws(Errno) -> Bool
    ) throws(Errno) -> Faults {
        var walk = CleaningWalk(at: place, visit)
        let entries = try folder.entries()
        walk.levels = [Level(folder: folder, entry: nil, entries: entries, selection: selection)]
        walk.run()
        return walk.faults
    }

    /// Visits one entry of a folder and everything in it, and returns the faults.
    static func walk(
        _ entry: CleanableEntry, in folder: any CleanableFolder, at place: [[UInt8]],
        _ visit: @escaping (Step) throws(Errno) -> Bool
    ) -> Faults {
        var walk = CleaningWalk(at: place, visit)
        let all = EntrySelection([.all])
        walk.levels = [Level(folder: folder, entry: nil, entries: [entry], selection: all)]
        walk.run()
        return walk.faults
    }

    private mutating func run() {
        while let level = levels.last {
            guard level.next < level.entries.count else {
                levels.removeLast()
                if level.hasFault { noteFault() }
                guard level.selection == nil, let entry = level.entry, let above = levels.last, !stays(entry) else {
                    continue
                }
                if !take(entry, in: above.folder, isFaulty: level.hasFault) { return }
                continue
            }
            let entry = level.entries[level.next]
            levels[levels.count - 1].next += 1
            let verdict = level.selection.map { $0.verdict(on: entry.bytesOfName) } ?? .goes
            switch verdict {
            case .stays: continue
            case .mayHold(let selection): if entry.kind == .folder { enter(entry, selection, level) }
            case .goes where entry.kind == .folder: enter(entry, nil, level)
            case .goes: if !take(entry, in: level.folder) { return }
            }
        }
    }

    /// Descends into a folder, whose entries come next.
    private mutating func enter(_ entry: CleanableEntry, _ selection: EntrySelection?, _ level: Level) {
        do throws(Errno) {
            let folder = try level.folder.folder(entry.name)
            let entries = try folder.entries()
            levels.append(Level(folder: folder, entry: entry, entries: entries, selection: selection))
        } catch .noEntry {
            // Another process has removed the folder.
        } catch let error where error == .notDirectory || error == Errno(ELOOP) {
            again(entry, level, error)
        } catch { note(error, entry) }
    }

    /// Retries, once, an entry that was listed as a folder but no longer is one.
    private mutating func again(_ old: CleanableEntry, _ level: Level, _ error: Errno) {
        do throws(Errno) {
            let entry = try level.folder.entry(old.name)
            guard entry.kind != .folder else { throw error }
            levels[levels.count - 1].entries.insert(entry, at: level.next + 1)
        } catch .noEntry {} catch { note(error, old) }
    }

    /// Visits an entry and returns false if the walk is over. `isFaulty` is true for a folder in which anything has failed.
    private mutating func take(
        _ entry: CleanableEntry, in folder: any CleanableFolder, isFaulty: Bool = false
    ) -> Bool {
        do throws(Errno) {
            return try visit(Step(entry: entry, folder: folder, levels: levels))
        } catch .noEntry {
            return true
        } catch {
            // A fault inside the folder is already noted, and explains why it is not empty.
            if error != .notEmpty || !isFaulty { note(error, entry) }
            return true
        }
    }

    private mutating func note(_ error: Errno, _ entry: CleanableEntry) {
        if faults.first == nil { faults.first = Fault(path: levels.path(to: entry), error: error) }
        faults.count += 1
        noteFault()
    }

    /// Marks the innermost folder as one in which something has failed.
    private mutating func noteFault() { if let last = levels.indices.last { levels[last].hasFault = true } }

    private func stays(_ folder: CleanableEntry) -> Bool {
        guard place.count + levels.count <= StandardFolders.depth else { return false }
        return StandardFolders.include(place + levels.compactMap { $0.entry?.bytesOfName } + [folder.bytesOfName])
    }

}

extension [CleaningWalk.Level] {
    fileprivate func path(to entry: CleanableEntry) -> [RawText] { compactMap { $0.entry?.name } + [entry.name] }
}

/// Charged bytes and numbers of files. The bytes of a hard-linked file count once.
struct CountedBytes {
    private(set) var bytes = ByteCount.zero
    private(set) var files = 0
    /// The number of names seen so far of each hard-linked file, by inode.
    private var seen: [UInt64: UInt64] = [:]

    /// Adds a file of the container. A hard-linked file counts at its first name.
    mutating func addUse(_ entry: CleanableEntry) {
        guard entry.kind == .other, note(entry) == 1 else { return }
        (files, bytes) = (files + 1, bytes + entry.bytes)
    }

    /// Adds a file or link to be removed. Each name counts as a file, but the bytes are freed only with the last name.
    mutating func addLoss(_ entry: CleanableEntry) {
        guard entry.kind != .folder else { return }
        files += 1
        if note(entry) >= entry.names { bytes += entry.bytes }
    }

    private mutating func note(_ entry: CleanableEntry) -> UInt64 {
        guard entry.names > 1 else { return 1 }
        seen[entry.inode, default: 0] += 1
        return seen[entry.inode] ?? 1
    }
}
