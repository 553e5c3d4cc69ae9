import PurgeModel

/// A task of a cleaner's list (docs/CLEANER.md).
enum CleaningTask: Hashable, Sendable {
    /// Removes the entry at `path` or, with `entries`, only the entries below it that match one of these patterns.
    /// `CleaningPath` and `EntryPattern` validate these strings, which are as written in the list. Folders at the paths
    /// `except`, relative to `path`, stay with everything in them.
    case remove(path: String, entries: [String]?, except: [String] = [])
    /// Calls class methods, one after the other.
    case call(type: String, selectors: [String])
}

/// The reason why a task's path or pattern is refused.
enum CleaningRefusal: Error, Hashable, Sendable {
    case empty
    case absolute
    /// The path contains `..`.
    case goesUp
    /// The path contains a zero byte, which no file name can have.
    case hasZero
    /// The path leads to files that do not belong to the app.
    case reserved
    /// The path names the container itself, and the task has no `entries`, so it would remove everything.
    case everything
}

/// A validated path of a task: names below the container, byte for byte.
struct CleaningPath: Hashable, Sendable {
    let names: [[UInt8]]

    /// Parses a path, and ignores trailing and repeated slashes and `.` components. `reserved` is the name at the container's
    /// root that does not belong to the app.
    init(_ text: String, reserved: String) throws(CleaningRefusal) {
        names = try Self.names(text)
        if let first = names.first, first.elementsEqual(reserved.utf8) { throw .reserved }
    }

    fileprivate static func names(_ text: String) throws(CleaningRefusal) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        guard let first = bytes.first else { throw .empty }
        guard first != UInt8(ascii: "/") else { throw .absolute }
        guard !bytes.contains(0) else { throw .hasZero }
        let names = bytes.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard !names.contains(where: { $0.elementsEqual("..".utf8) }) else { throw .goesUp }
        return names.filter { !$0.elementsEqual(".".utf8) }
    }

    /// True for a folder that every container has. Cleaning empties it without removing it.
    var isOfTheLayout: Bool { StandardFolders.include(names) }

    var bytes: [UInt8] { Array(names.joined(separator: [UInt8(ascii: "/")])) }
}

/// A pattern for names below the path of a task. `*` matches any bytes within a name, including none; nothing else is special.
/// In a pattern with slashes, each part matches names one level below those that the previous part matches.
struct EntryPattern: Hashable, Sendable {
    fileprivate let parts: [[UInt8]]

    init(_ text: String) throws(CleaningRefusal) {
        parts = try CleaningPath.names(text)
        guard !parts.isEmpty else { throw .empty }
    }

    /// The pattern that matches everything in a folder.
    static let all = EntryPattern(parts: [[star]])

    private init(parts: [[UInt8]]) { self.parts = parts }

    private static let star = UInt8(ascii: "*")

    /// Returns true if a name matches one part of a pattern. The cost is at most the product of their lengths.
    static func matches(_ name: [UInt8], _ part: [UInt8]) -> Bool {
        var (at, next) = (0, 0)
        // The last `*`, and the end of the bytes that it matches so far.
        var last: (star: Int, end: Int)?
        while at < name.count {
            if next < part.count, part[next] == star {
                last = (next, at)
                next += 1
            } else if next < part.count, part[next] == name[at] {
                (at, next) = (at + 1, next + 1)
            } else if let (star, end) = last {
                last = (star, end + 1)
                (at, next) = (end + 1, star + 1)
            } else {
                return false
            }
        }
        return part[next...].allSatisfy { $0 == star }
    }
}

/// Decides which entries below a folder a task removes.
struct EntrySelection: Hashable, Sendable {
    /// The remaining parts of each pattern.
    private let patterns: [ArraySlice<[UInt8]>]
    /// For each folder that stays, the remaining names of its path.
    private let exceptions: [ArraySlice<[UInt8]>]

    init(_ patterns: [EntryPattern], except: [[[UInt8]]] = []) {
        self.init(patterns: patterns.map { $0.parts[...] }, exceptions: except.map { $0[...] })
    }

    private init(patterns: [ArraySlice<[UInt8]>], exceptions: [ArraySlice<[UInt8]>]) {
        (self.patterns, self.exceptions) = (patterns, exceptions)
    }

    enum Verdict: Hashable, Sendable {
        case stays
        /// The entry is removed with everything in it.
        case goes
        /// The entry stays. If it is a folder, the selection applies to its content.
        case mayHold(EntrySelection)
    }

    func verdict(on name: [UInt8]) -> Verdict {
        let excepted = exceptions.filter { $0.first == name }
        if excepted.contains(where: { $0.count == 1 }) { return .stays }
        let matching = patterns.filter { $0.first.map { EntryPattern.matches(name, $0) } ?? false }
        if matching.isEmpty { return .stays }
        let takesAll = matching.contains { $0.count == 1 }
        if takesAll, excepted.isEmpty { return .goes }
        let inner = takesAll ? [EntryPattern.all.parts[...]] : matching.map { $0.dropFirst() }
        return .mayHold(EntrySelection(patterns: inner, exceptions: excepted.map { $0.dropFirst() }))
    }
}
