#if os(Linux)
import Foundation

/// A task of `PurgeableCache.plist` (docs/CLEANER.md, The list).
enum CacheTask {
    /// Removes the entry at `path` or, with `entries`, only those below it that match one of these patterns. The paths in
    /// `sparing` stay, with everything in them.
    case remove(path: String, entries: [String]?, sparing: [String] = [])
    case call(type: String, selectors: [String])

    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Parses a list. Throws if any part of it has another form, because a mistyped `Entries` would remove a whole folder.
    static func list(_ data: Data) throws -> [CacheTask] {
        let all = try tasks(PropertyListSerialization.propertyList(from: data, format: nil))
        guard !all.isEmpty else { throw Failure("the list has no tasks") }
        return all
    }

    private static let keys: Set = ["Path", "Entries", "Class", "Selectors"]

    /// Accepts an array of tasks, a task, and a dictionary of either.
    private static func tasks(_ value: Any) throws -> [CacheTask] {
        if let array = value as? [Any] { return try array.map(task) }
        guard let dictionary = value as? [String: Any] else { throw Failure("the list has no tasks") }
        if !keys.isDisjoint(with: dictionary.keys) { return [try task(dictionary)] }
        return try dictionary.sorted { $0.key < $1.key }.flatMap { (each) throws -> [CacheTask] in
            try (each.value as? [Any]).map { try $0.map(task) } ?? [task(each.value)]
        }
    }

    private static func task(_ value: Any) throws -> CacheTask {
        guard let members = value as? [String: Any] else { throw Failure("a task is no dictionary") }
        let entries = members["Entries"] as? [String]
        switch Set(members.keys) {
        case ["Path"]:
            if let path = members["Path"] as? String { return .remove(path: path, entries: nil) }
        case ["Path", "Entries"]:
            if let path = members["Path"] as? String, let entries, !entries.isEmpty {
                return .remove(path: path, entries: entries)
            }
        case ["Class", "Selectors"]:
            if let type = members["Class"] as? String, let selectors = members["Selectors"] as? [String],
                !type.isEmpty, !selectors.isEmpty, !selectors.contains("")
            {
                return .call(type: type, selectors: selectors)
            }
        default: break
        }
        throw Failure("a task has neither a Path, with or without Entries, nor a Class and Selectors")
    }
}
#endif
