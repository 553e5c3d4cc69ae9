import Foundation

/// One line of MOUNT/.purgefs/events, one row of the journal.
public struct StoreEvent: Decodable, Equatable, Sendable {
    /// Not of `dropped`, which the journal does not have.
    public let seq: Int64?
    public let time: String
    public let type: String
    public let path: String?
    public let tier: String?
    public let bytes: Int64?
    public let reason: String?
    public let trigger: String?
    public let pid: Int32?

    /// What the journal of a store that is not mounted holds, in order.
    public static func journal(of store: String) throws -> [StoreEvent] {
        // Not the shell's own -json: that of SQLite 3.46 (Debian 13) writes control characters wrongly.
        let fields = ["seq", "time", "type", "path", "tier", "bytes", "reason", "trigger", "pid"]
        let object = fields.map { "'\($0)',\($0)" }.joined(separator: ",")
        let query = "SELECT json_group_array(json_object(\(object))) FROM (SELECT * FROM events ORDER BY seq)"
        // A daemon beside it has the file to itself for the time of a commit.
        let words = ["sqlite3", "-readonly", "-cmd", ".timeout 10000", "\(store)/journal.sqlite", query]
        let json = try Program.run(words).succeeded()
        return try JSONDecoder().decode([StoreEvent].self, from: Data(json.utf8))
    }

    /// Lines as the events file gives them.
    public static func lines(_ text: String) throws -> [StoreEvent] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(StoreEvent.self, from: Data($0.utf8)) }
    }
}

extension StoreEvent: CustomStringConvertible {
    public var description: String {
        [type, path, reason, trigger].compactMap { $0 }.joined(separator: " ") + (bytes.map { " \($0)" } ?? "")
    }
}
