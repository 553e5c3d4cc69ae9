import PurgeModel

/// One task of a cleaner's list (docs/CLEANER.md).
enum CleaningTask: Hashable, Sendable {
    /// What is at `path` goes or, with `entries`, only what matches one of these patterns in that folder. As they are
    /// written in the list: `CleaningPath` and `EntryPattern` say whether they are permitted.
    case remove(path: String, entries: [String]?)
    /// Class methods are called, one after the other.
    case call(type: String, selectors: [String])
}

/// Why a path or a pattern of a task is not accepted: it might lead out of the container, or means nothing.
enum CleaningRefusal: Error, Hashable, Sendable {
    case empty
    case absolute
    /// It has a `..`.
    case goesUp
    /// It has a zero byte, which no name can have.
    case hasZero
    /// It leads to files that are not the app's.
    case reserved
    /// A path without entries that names the whole container.
    case everything
}

/// The path of a task: names below the container, byte for byte.
struct CleaningPath: Hashable, Sendable {
    let names: [[UInt8]]

    /// Slashes at the end, repeated ones and `.` do not count. `reserved` is the name of what is at the root of a
    /// container and is not the app's.
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

    /// Whether it is a folder that every container has: it is emptied, and stays.
    var isOfTheLayout: Bool { StandardFolders.include(names) }

    var bytes: [UInt8] { Array(names.joined(separator: [UInt8(ascii: "/")])) }
}

/// A pattern for names below the path of a task. `*` stands for any bytes of one name, even none; nothing else is
/// special. With slashes in it, each part is for the names one level further down.
struct EntryPattern: Hashable, Sendable {
    fileprivate let parts: [[UInt8]]

    init(_ text: String) throws(CleaningRefusal) {
        parts = try CleaningPath.names(text)
        guard !parts.isEmpty else { throw .empty }
    }

    /// Everything in a folder.
    static let all = EntryPattern(parts: [[star]])

    private init(parts: [[UInt8]]) { self.parts = parts }

    private static let star = UInt8(ascii: "*")

    /// Whether a name matches one part of a pattern. Takes at most as many steps as both are long, multiplied.
    static func matches(_ name: [UInt8], _ part: [UInt8]) -> Bool {
        var (at, next) = (0, 0)
        // Where the last `*` was, and how much of the name it stands for so far.
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

/// What a task takes below a folder.
struct EntrySelection: Hashable, Sendable {
    /// The parts of each pattern that are still to be matched.
    private let patterns: [ArraySlice<[UInt8]>]

    init(_ patterns: [EntryPattern]) { self.patterns = patterns.map { $0.parts[...] } }

    private init(patterns: [ArraySlice<[UInt8]>]) { self.patterns = patterns }

    enum Verdict: Hashable, Sendable {
        case stays
        /// With everything in it.
        case goes
        /// It stays, and in it this may go, if it is a folder.
        case mayHold(EntrySelection)
    }

    func verdict(on name: [UInt8]) -> Verdict {
        let matching = patterns.filter { $0.first.map { EntryPattern.matches(name, $0) } ?? false }
        if matching.contains(where: { $0.count == 1 }) { return .goes }
        return matching.isEmpty ? .stays : .mayHold(EntrySelection(patterns: matching.map { $0.dropFirst() }))
    }
}
