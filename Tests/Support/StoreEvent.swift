import Foundation

/// A line of MOUNT/.purgefs/events or a row of the journal.
public struct StoreEvent: Decodable, Equatable, Sendable {
    public let seq: Int64?
    public let time: String
    public let type: String
    public let path: String?
    public let tier: String?
    public let bytes: Int64?
    public let reason: String?
    public let trigger: String?
    public let pid: Int32?
    public let cause: String?
    /// The flag is a boolean in the events file, and 1 or null in the journal.
    private let tombstone: Flag?
    public var isTombstone: Bool { tombstone?.isOn ?? false }

    private struct Flag: Decodable, Equatable {
        let isOn: Bool

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            do { isOn = try value.decode(Bool.self) } catch { isOn = try value.decode(Int.self) == 1 }
        }
    }

    /// Returns the events in a store's journal, in order. During a mount, the newest may not be in it yet.
    public static func journal(of store: String) throws -> [StoreEvent] {
        // The query builds JSON itself, because the shell's -json writes control characters wrongly in SQLite 3.46 (Debian 13).
        let object = try columns(of: store).map { "'\($0)',\($0)" }.joined(separator: ",")
        let query = "SELECT json_group_array(json_object(\(object))) FROM (SELECT * FROM events ORDER BY seq)"
        return try JSONDecoder().decode([StoreEvent].self, from: Data(ask(query, store).utf8))
    }

    private static func columns(of store: String) throws -> [Substring] {
        try ask("SELECT name FROM pragma_table_info('events')", store).split(separator: "\n")
    }

    private static func ask(_ query: String, _ store: String) throws -> String {
        // A running daemon locks the file during a commit.
        let words = ["sqlite3", "-readonly", "-cmd", ".timeout 10000", "\(store)/journal.sqlite", query]
        return try Program.run(words).succeeded()
    }

    /// Parses lines in the format of the events file.
    public static func lines(_ text: String) throws -> [StoreEvent] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(StoreEvent.self, from: Data($0.utf8)) }
    }
}

extension StoreEvent: CustomStringConvertible {
    public var description: String {
        [type, path, reason, trigger].compactMap { $0 }.joined(separator: " ") + (bytes.map { " \($0)" } ?? "")
    }
}
