/// The calls that syncs have made durable, by the rules of docs/POWER.md, What a sync keeps. Calls are added in their order.
struct DurableCalls {
    typealias File = RecordedTree.File

    enum Sync {
        /// fsync(2) of a file.
        case file
        /// fdatasync(2), or msync(2).
        case data
        /// fsync(2) of a folder.
        case folder
    }

    private(set) var isDurable: [Bool]
    private var names: [Int: NameChange] = [:]
    /// The changes of names by the file that they are about, by the name, and by the folder.
    private var byFile: [File: [Int]] = [:]
    private var byEntry: [RecordedTree.Entry: [Int]] = [:]
    private var byFolder: [File: [Int]] = [:]
    /// The changes that the next sync of the file keeps.
    private var data: [File: [Int]] = [:]
    private var attributes: [File: [Int]] = [:]
    /// The changes of a file's size other than by writes.
    private var sizes: [File: [Int]] = [:]

    init(count: Int) { isDurable = [Bool](repeating: false, count: count) }

    mutating func add(_ change: NameChange, _ index: Int) {
        names[index] = change
        for file in Set(change.files) { byFile[file, default: []].append(index) }
        for entry in change.entries { byEntry[entry, default: []].append(index) }
        for folder in Set(change.entries.map(\.folder)) { byFolder[folder, default: []].append(index) }
    }

    /// Adds a write, which may sync itself, or another change of the file's data.
    mutating func addData(_ index: Int, file: File, _ call: RecordedCall) {
        if call.call != .write { sizes[file, default: []].append(index) }
        guard call.isSynchronous else {
            data[file, default: []].append(index)
            return
        }
        isDurable[index] = true
        for index in sizes[file, default: []] { isDurable[index] = true }
        syncNames(of: file, after: index, call.isFullySynchronous ? .file : .data)
    }

    mutating func addAttributes(_ index: Int, file: File) { attributes[file, default: []].append(index) }

    /// After a sync that has failed: as on Linux, the pages count as written, so no later sync writes them. Truncations and
    /// allocations have no pages.
    mutating func dropData(of file: File, before end: Int) {
        let kept = Set(sizes[file, default: []])
        data[file] = data[file, default: []].filter { $0 >= end || kept.contains($0) }
    }

    /// A sync that has kept the calls before `after`.
    mutating func sync(_ file: File, _ sync: Sync, after: Int) {
        for index in data[file, default: []] where index < after { isDurable[index] = true }
        data[file] = data[file, default: []].filter { $0 >= after }
        syncNames(of: file, after: after, sync)
        if sync == .folder { keep(byFolder[file, default: []], before: after) }
    }

    private mutating func syncNames(of file: File, after: Int, _ sync: Sync) {
        guard sync == .data else {
            for index in attributes[file, default: []] where index < after { isDurable[index] = true }
            return keep(byFile[file, default: []], before: after)
        }
        // The first change of names about a file is its creation, unless it was there before.
        keep(byFile[file, default: []].prefix(1).filter { names[$0]?.creates == true }, before: after)
    }

    /// Makes changes of names durable, and what they take along.
    private mutating func keep(_ indices: [Int], before end: Int) {
        var pending = indices.filter { $0 < end && !isDurable[$0] }
        while let index = pending.popLast() {
            guard !isDurable[index], let change = names[index] else { continue }
            isDurable[index] = true
            var others = change.files.flatMap { byFile[$0, default: []] }
            others += change.entries.flatMap { byEntry[$0, default: []] }
            others += change.folders.flatMap { byFile[$0, default: []] }
            if let emptied = change.emptied { others += byFolder[emptied, default: []] }
            pending += others.filter { $0 < index && !isDurable[$0] }
        }
    }
}
