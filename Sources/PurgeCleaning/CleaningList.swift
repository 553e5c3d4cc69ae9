import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeSystem

/// The tasks of a `PurgeableCache.plist` (docs/CLEANER.md).
struct CleaningList {
    let tasks: [CleaningTask]

    /// The reason why a list is rejected. Nothing is cleaned then, since a mistyped key would change what a task removes.
    struct Fault: Error, Hashable {
        var what: String
        var advice: String

        init(_ what: String, advice: String = "The form of the list: purgefs help clean") {
            (self.what, self.advice) = (what, advice)
        }
    }

    static let limit = 1 << 20

    init(file path: String) throws(CommandFailure) {
        let bytes: [UInt8]
        do throws(Errno) { bytes = try Self.content(of: path) } catch .invalid {
            throw CommandFailure(
                "cannot read the list", path: path, "it is a pipe or a device",
                advice: "Put the list into a file, and name that.")
        } catch {
            throw CommandFailure(
                "cannot read the list", path: path, error,
                advice: error == .noEntry ? "Name the app's PurgeableCache.plist: --plist FILE." : "")
        }
        do throws(Fault) { try self.init(bytes) } catch {
            throw CommandFailure("cannot use the list", path: path, error.what, advice: error.advice)
        }
    }

    private static func content(of path: String) throws(Errno) -> [UInt8] {
        let file = try FileDescriptor.open(path, O_RDONLY | O_NONBLOCK)
        switch try System.status(file.raw).kind {
        case S_IFREG: return try file.readAll(limit: limit)
        case S_IFDIR: throw .isDirectory
        default: throw .invalid
        }
    }

    init(_ bytes: [UInt8]) throws(Fault) {
        guard !bytes.isEmpty else { throw Fault("the file is empty") }
        try PropertyListShape.check(bytes)
        let value: PropertyListValue
        do { value = try PropertyListValue.decode(bytes) } catch {
            throw Fault(
                "it is damaged, or no property list" + (PropertyListValue.reason(of: error).map { ": \($0)" } ?? ""))
        }
        tasks = try Self.tasks(value)
        guard !tasks.isEmpty else { throw Fault("there are no tasks in it") }
    }

    /// Parses an array of tasks, a single task, or a dictionary of either, whose tasks run in the order of its keys.
    private static func tasks(_ value: PropertyListValue) throws(Fault) -> [CleaningTask] {
        switch value {
        case .array(let values):
            var tasks: [CleaningTask] = []
            for (index, value) in values.enumerated() { tasks.append(try task(value, "task \(index + 1)")) }
            return tasks
        case .dictionary(let members):
            if members.keys.contains(where: keys.contains) { return [try task(value, "task 1")] }
            var tasks: [CleaningTask] = []
            for (name, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
                guard case .array(let values) = value else {
                    tasks.append(try task(value, "'\(name)'"))
                    continue
                }
                for (index, value) in values.enumerated() {
                    tasks.append(try task(value, "task \(index + 1) of '\(name)'"))
                }
            }
            return tasks
        default: throw Fault("it is \(value.inWords) instead of an array of tasks")
        }
    }

    private static let keys = ["Path", "Entries", "Class", "Selectors"]

    private static func task(_ value: PropertyListValue, _ name: String) throws(Fault) -> CleaningTask {
        guard case .dictionary(let members) = value else {
            throw Fault(
                "\(name) is \(value.inWords) instead of a dictionary with Path, or with Class and Selectors")
        }
        for key in members.keys.sorted() where !keys.contains(key) {
            throw Fault("\(name): unknown key '\(key)'" + Suggestion.hint(for: key, among: keys))
        }
        let path = try text(members["Path"], "\(name): Path")
        let entries = try texts(members["Entries"], "\(name): Entries")
        let type = try text(members["Class"], "\(name): Class")
        let selectors = try texts(members["Selectors"], "\(name): Selectors")
        switch (path, type) {
        case (let path?, nil):
            guard selectors == nil else { throw Fault("\(name): it has Selectors, but no Class") }
            return .remove(path: path, entries: entries)
        case (nil, let type?):
            guard entries == nil else { throw Fault("\(name): it has Entries, but no Path") }
            guard let selectors else { throw Fault("\(name): it has a Class, but no Selectors to call") }
            for word in [type] + selectors where word.isEmpty || word.utf8.contains(0) {
                throw Fault("\(name): the name of a class or a selector is empty, or has a zero byte in it")
            }
            return .call(type: type, selectors: selectors)
        case (nil, nil): throw Fault("\(name): it has neither a Path nor a Class")
        default: throw Fault("\(name): it has a Path and a Class", advice: "Make two tasks of it.")
        }
    }

    private static func text(_ value: PropertyListValue?, _ name: String) throws(Fault) -> String? {
        guard let value else { return nil }
        guard case .string(let text) = value else {
            throw Fault("\(name) is \(value.inWords) instead of a string")
        }
        return text
    }

    private static func texts(_ value: PropertyListValue?, _ name: String) throws(Fault) -> [String]? {
        guard let value else { return nil }
        guard case .array(let values) = value else {
            throw Fault("\(name) is \(value.inWords) instead of an array of strings")
        }
        guard !values.isEmpty else { throw Fault("\(name) is empty") }
        var texts: [String] = []
        for (index, value) in values.enumerated() {
            guard case .string(let text) = value else {
                throw Fault("\(name): number \(index + 1) is \(value.inWords) instead of a string")
            }
            texts.append(text)
        }
        return texts
    }
}
