import PurgeModel

/// A plain model of a container: a table of files with their paths, and a table of folders. It recomputes every number for each
/// query, and shares nothing with the tree but docs/RULES.md.
struct FileTable {
    struct File {
        var paths: [String]
        /// The number of blocks. A sparse file also has the set of its blocks, in `extents`.
        var blocks: Int64
        var extents: Set<Int64>?
        var lastUse: Int64
        /// The time in seconds.
        var creation: Int64 = 0
        /// The attribute as it is written: `0`, `low`, `medium`, `high`.
        var mark: String?
        var isExcluded = false
        var opens = 0
        var holds = 0
        var isLinkedOutside = false
        var isStuck = false
        /// Whether a purge has chosen the file.
        var isGoing = false
        /// The file's place and marks when it lost its last name.
        var last: Counted?
    }
    struct Folder {
        var mark: String?
        var isExcluded = false
        var policy: PolicyTable?
        /// The values set on the folder itself; nil if not set.
        var isGroup: Bool?
        var leavesTombstones: Bool?
        /// The last use of each unit of the folder's group, by step and urgency.
        var uses: [[Int]: Int64] = [:]
    }
    /// The attributes by which a file is counted.
    struct Counted: Hashable {
        var tier: String
        var mark: String?
        var isExcluded: Bool
        var isMarked: Bool { mark != nil && mark != "0" }
    }
    struct Numbers: Hashable {
        var blocks: [String: Int64] = ["tmp": 0, "caches": 0, "persistent": 0]
        var files: [String: Int64] = ["tmp": 0, "caches": 0, "persistent": 0]
        var (marked, markedFiles, excluded, excludedFiles) = (Int64(0), Int64(0), Int64(0), Int64(0))
        var (reclaimable, held) = (Int64(0), Int64(0))
    }

    /// The time in seconds.
    var time: Int64 = 0
    /// Files by a number that the test assigns. A file is removed once it has neither names nor users.
    var files: [Int: File] = [:]
    var folders = [
        "": Folder(), "tmp": Folder(), "Documents": Folder(), "Library": Folder(), "Library/Caches": Folder(),
    ]

    func parent(of path: String) -> String { path.split(separator: "/").dropLast().joined(separator: "/") }
    func lies(_ path: String, in folder: String) -> Bool { path == folder || path.hasPrefix(folder + "/") }
    var everyPath: [String] { folders.keys.filter { $0 != "" } + files.values.flatMap(\.paths) }
    func file(at path: String) -> Int? { files.first { $0.value.paths.contains(path) }?.key }

    private func tier(_ path: String) -> String {
        lies(path, in: "tmp") ? "tmp" : lies(path, in: "Library/Caches") ? "caches" : "persistent"
    }

    private func isInExcluded(_ path: String) -> Bool {
        folders.contains { folder in folder.value.isExcluded && (folder.key == "" || lies(path, in: folder.key)) }
    }

    private func inheritedMark(_ path: String) -> String? {
        var folder = parent(of: path)
        while true {
            if let mark = folders[folder]?.mark { return mark }
            if folder == "" { return nil }
            folder = parent(of: folder)
        }
    }

    func counted(_ file: File) -> Counted {
        guard let first = file.paths.first else {
            return file.last ?? Counted(tier: "persistent", mark: nil, isExcluded: false)
        }
        let tiers = file.paths.map(tier)
        return Counted(
            tier: ["persistent", "caches", "tmp"].first { tiers.contains($0) } ?? "persistent",
            mark: file.mark ?? (file.paths.count == 1 ? inheritedMark(first) : nil),
            isExcluded: file.isExcluded || file.paths.allSatisfy(isInExcluded))
    }

    func mayGo(_ file: File) -> Bool {
        let as_ = counted(file)
        return file.paths.count == 1 && file.opens == 0 && file.blocks > 0 && !file.isLinkedOutside && !file.isStuck
            && !file.isGoing && (as_.tier != "persistent" || as_.isMarked)
    }

    var numbers: Numbers {
        var numbers = Numbers()
        for file in files.values where !file.isGoing {
            let counted = counted(file)
            numbers.blocks[counted.tier, default: 0] += file.blocks
            numbers.files[counted.tier, default: 0] += 1
            if counted.isMarked {
                numbers.marked += file.blocks
                numbers.markedFiles += 1
            }
            if counted.isExcluded {
                numbers.excluded += file.blocks
                numbers.excludedFiles += 1
            }
            if mayGo(file) {
                numbers.reclaimable += file.blocks
                if file.holds > 0 { numbers.held += file.blocks }
            }
        }
        return numbers
    }
}

// Each operation on the tree has its counterpart here.
extension FileTable {
    mutating func rename(_ old: String, _ new: String) {
        if file(at: new) != nil { unlink(new) }
        folders[new] = nil
        func moved(_ path: String) -> String { lies(path, in: old) ? new + path.dropFirst(old.count) : path }
        folders = Dictionary(uniqueKeysWithValues: folders.map { (moved($0.key), $0.value) })
        files = files.mapValues { file in
            var file = file
            file.paths = file.paths.map(moved)
            return file
        }
    }

    mutating func exchange(_ one: String, _ other: String) {
        func moved(_ path: String) -> String {
            lies(path, in: one)
                ? other + path.dropFirst(one.count)
                : lies(path, in: other) ? one + path.dropFirst(other.count) : path
        }
        folders = Dictionary(uniqueKeysWithValues: folders.map { (moved($0.key), $0.value) })
        files = files.mapValues { file in
            var file = file
            file.paths = file.paths.map(moved)
            return file
        }
    }

    mutating func unlink(_ path: String) {
        guard let key = file(at: path), var file = files[key] else { return }
        if file.paths.count == 1 { file.last = counted(file) }
        file.paths.removeAll { $0 == path }
        files[key] = file
        dropIfGone(key)
    }

    /// Removes the file if it has no name and nobody uses it.
    mutating func dropIfGone(_ key: Int) {
        guard let file = files[key], file.paths.isEmpty, file.opens == 0, file.holds == 0 else { return }
        files[key] = nil
    }
}
