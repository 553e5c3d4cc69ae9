#if os(Linux)
import Foundation
import Glibc

/// The app's home in a container, from which tasks remove files. All paths are relative to it.
struct CleanedHome {
    private let root: String
    private let files = FileManager.default

    /// Returns nil outside a container.
    init?(_ home: String) {
        root = home
        guard access("\(home)/\(Self.control)/storage.policies", F_OK) == 0 else { return nil }
    }

    private static let control = ".purgefs"
    private static let standard: Set = [
        "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
    ]

    /// The charged bytes of all files.
    var use: Int {
        let text = try? String(contentsOfFile: "\(root)/\(Self.control)/storage.used", encoding: .utf8)
        return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) } ?? 0
    }

    private struct Policy: Decodable {
        var path: String
        var purgeAfter: String?
    }

    /// Returns a task for each folder whose policy has the age `manual`. It spares folders with a policy of their own.
    func manualFolders() throws -> [CacheTask] {
        let text = try String(contentsOfFile: "\(root)/\(Self.control)/storage.policies", encoding: .utf8)
        let policies = try text.split(separator: "\n").map {
            try JSONDecoder().decode(Policy.self, from: Data($0.utf8))
        }
        return policies.filter { $0.purgeAfter == "0" }.map { policy in
            let inner = policies.map(\.path).filter { $0 != policy.path && Self.isPath($0, in: policy.path) }
            return .remove(path: policy.path.isEmpty ? "." : policy.path, entries: ["*"], sparing: inner)
        }
    }

    private static func isPath(_ path: String, in folder: String) -> Bool {
        folder.isEmpty || path.hasPrefix(folder + "/")
    }

    /// Carries out a task with a path. Throws at once if the path or an entry is invalid. Otherwise removes all it can, and
    /// then throws the first failure.
    func carryOut(_ task: CacheTask) throws {
        guard case .remove(let text, let entries, let sparing) = task else { return }
        let names = try Self.names(text)
        guard names.first != Self.control else { throw CacheTask.Failure("\(text) is not the app's") }
        guard !names.isEmpty || entries != nil else { throw CacheTask.Failure("\(text) would remove everything") }
        let patterns = try entries?.map { try Self.names($0) }
        guard patterns?.contains([]) != true else { throw CacheTask.Failure("an entry is empty") }
        var path = ""
        for name in names {
            path = Self.joined(path, name)
            switch kind(path) {
            case nil: return
            case S_IFLNK: throw CacheTask.Failure("\(path) is a symbolic link")
            case S_IFDIR: break
            default:
                if Self.joined("", names.joined(separator: "/")) != path || entries != nil {
                    throw CacheTask.Failure("\(path) is not a folder")
                }
            }
        }
        var failure: (any Error)?
        if let patterns {
            remove(patterns.map { $0[...] }, in: path, sparing, &failure)
        } else {
            remove(path, sparing, &failure)
        }
        if let failure { throw failure }
    }

    /// Splits a path or a pattern into names.
    private static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: "/").map(String.init)
        guard !text.isEmpty, !text.hasPrefix("/"), !names.contains("..") else {
            throw CacheTask.Failure("'\(text)' is empty, is absolute or has a '..'")
        }
        return names.filter { $0 != "." }
    }

    private static func joined(_ folder: String, _ name: String) -> String {
        folder.isEmpty ? name : "\(folder)/\(name)"
    }

    /// Returns the file type bits; nil if there is no such entry. Does not follow links.
    private func kind(_ path: String) -> mode_t? {
        var status = stat()
        return lstat("\(root)/\(path)", &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private func entries(of folder: String, _ failure: inout (any Error)?) -> [String] {
        do {
            return try files.contentsOfDirectory(atPath: "\(root)/\(folder)").map { Self.joined(folder, $0) }
        } catch {
            failure = failure ?? error
            return []
        }
    }

    /// Removes the entries of a folder that match one of the patterns, of which each has a part for each level.
    private func remove(
        _ patterns: [ArraySlice<String>], in folder: String, _ sparing: [String], _ failure: inout (any Error)?
    ) {
        for path in entries(of: folder, &failure) where path != Self.control {
            let name = path.split(separator: "/").last ?? ""
            let matching = patterns.filter { Self.matches(name, $0.first ?? "") }
            if matching.contains(where: { $0.count == 1 }) {
                remove(path, sparing, &failure)
            } else if !matching.isEmpty, kind(path) == S_IFDIR {
                remove(matching.map { $0.dropFirst() }, in: path, sparing, &failure)
            }
        }
    }

    /// Removes an entry with everything in it. Standard folders and spared ones stay, and so do the folders above them.
    private func remove(_ path: String, _ sparing: [String], _ failure: inout (any Error)?) {
        if sparing.contains(path) { return }
        guard kind(path) == S_IFDIR,
            Self.standard.contains(path) || sparing.contains(where: { Self.isPath($0, in: path) })
        else {
            do { try files.removeItem(atPath: "\(root)/\(path)") } catch CocoaError.fileNoSuchFile {} catch {
                failure = failure ?? error
            }
            return
        }
        for entry in entries(of: path, &failure) { remove(entry, sparing, &failure) }
    }

    /// Whether a name matches one part of a pattern, byte for byte. `*` stands for any bytes.
    private static func matches(_ name: Substring, _ part: String) -> Bool {
        var pieces = part.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        let (first, rest) = (pieces.removeFirst(), name.utf8[...])
        guard let last = pieces.popLast() else { return first.elementsEqual(rest) }
        guard rest.count >= first.count + last.count, rest.starts(with: first),
            rest.suffix(last.count).elementsEqual(last)
        else { return false }
        var middle = Array(rest.dropFirst(first.count).dropLast(last.count))[...]
        for piece in pieces where !piece.isEmpty {
            guard let found = middle.firstRange(of: Array(piece)) else { return false }
            middle = middle[found.upperBound...]
        }
        return true
    }
}
#endif
