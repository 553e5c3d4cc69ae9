import PurgeModel
import Testing

@testable import PurgeTree

/// The order of purging, with groups, by the rules in docs/RULES.md.
extension FileTable {
    /// Returns step and urgency; nil for a file that is not purgeable.
    private func rank(_ file: File, _ breaches: [String: String]) -> [Int]? {
        let counted = counted(file)
        guard counted.tier != "persistent" || counted.isMarked else { return nil }
        let isOver = counted.tier != "tmp" && breaches[file.paths[0]] != nil
        let step = ["tmp", "policy", "caches", "persistent"].firstIndex(of: isOver ? "policy" : counted.tier) ?? 4
        return [step, ["low", "medium", "high"].firstIndex(of: counted.mark ?? "low") ?? 0]
    }

    /// Returns the group of a path: the nearest directory above it that has a value of purgeGroup. Returns nil if there is
    /// none, or if the value is `0`.
    private func group(of path: String) -> String? {
        var folder = parent(of: path)
        while true {
            if let isGroup = folders[folder]?.isGroup { return isGroup ? folder : nil }
            if folder == "" { return nil }
            folder = parent(of: folder)
        }
    }

    func leavesTombstone(_ path: String) -> Bool {
        var folder = parent(of: path)
        while true {
            if let leaves = folders[folder]?.leavesTombstones { return leaves }
            if folder == "" { return false }
            folder = parent(of: folder)
        }
    }

    /// Raises the last use of the file's unit; an open file counts at once.
    mutating func noteUse(_ key: Int, at time: Int64) {
        guard let file = files[key], file.paths.count == 1, !file.isLinkedOutside, !file.isGoing,
            let rank = rank(file, breaches), let group = group(of: file.paths[0])
        else { return }
        raise(group, rank, to: time)
    }

    /// Gives each unit the last uses of the files that can be purged now. Called at the end of each operation.
    mutating func noteVictims() {
        guard folders.values.contains(where: { $0.isGroup == true }) else { return }
        let breaches = breaches
        for file in files.values where mayGo(file) && file.holds == 0 {
            guard let rank = rank(file, breaches), let group = group(of: file.paths[0]) else { continue }
            raise(group, rank, to: file.lastUse)
        }
    }

    private mutating func raise(_ group: String, _ rank: [Int], to time: Int64) {
        let known = folders[group]?.uses[rank] ?? .min
        folders[group]?.uses[rank] = max(known, time)
    }

    /// A group's directory and a rank in it.
    struct Unit: Hashable {
        var group: String
        var rank: [Int]
    }

    /// The files that a purge would take, in its order, each with its unit.
    var victims: [(path: String, unit: Unit?)] {
        struct Turn {
            var path: String
            var unit: Unit?
            var rank: [Int]
            var age: [Int64]
        }
        let breaches = breaches
        let turns = files.values.filter { mayGo($0) && $0.holds == 0 }.compactMap { file -> Turn? in
            guard let rank = rank(file, breaches) else { return nil }
            let unit = group(of: file.paths[0]).map { Unit(group: $0, rank: rank) }
            return Turn(path: file.paths[0], unit: unit, rank: rank, age: [file.lastUse, -file.blocks])
        }
        var sizes: [Unit: Int64] = [:]
        for turn in turns { if let unit = turn.unit { sizes[unit, default: 0] += turn.age[1] } }
        func key(_ turn: Turn) -> (age: [Int64], path: String) {
            guard let unit = turn.unit else { return (turn.age, turn.path) }
            return ([folders[unit.group]?.uses[unit.rank] ?? .min, sizes[unit] ?? 0], unit.group)
        }
        func goesBefore(_ one: (age: [Int64], path: String), _ other: (age: [Int64], path: String)) -> Bool {
            one.age == other.age
                ? one.path.utf8.lexicographicallyPrecedes(other.path.utf8)
                : one.age.lexicographicallyPrecedes(other.age)
        }
        return turns.sorted { one, other in
            if one.rank != other.rank { return one.rank.lexicographicallyPrecedes(other.rank) }
            let (mine, theirs) = (key(one), key(other))
            return mine == theirs
                ? goesBefore((one.age, one.path), (other.age, other.path)) : goesBefore(mine, theirs)
        }.map { ($0.path, $0.unit) }
    }
}
