import Foundation

extension Container {
    /// Something that has happened in a container. Fields that do not apply are nil. docs/CONTROL.md, events.
    public struct Event: Hashable, Codable, Sendable {
        /// Rises by one with each event; what the app itself does to names has numbers too, but is not among `events()`.
        public var seq: Int
        /// By the device's clock.
        public var time: Date
        public var type: EventType
        /// Relative to the container.
        public var path: String?
        public var tier: Tier?
        public var bytes: Int?
        /// Why a file was purged (`others`, `temporary`, `caches`, `purgeable`, `policyAge`, `policySize`, `reboot`,
        /// `command`), or what the table in docs/CONTROL.md says of the type.
        public var reason: String?
        public var trigger: Trigger?
        public var pid: Int32?
        /// The file whose write set a purge off or brought the pressure on.
        public var cause: String?
        /// True for a file that was emptied and kept its name.
        public var tombstone: Bool?
        /// The new path of what was renamed.
        public var to: String?
        /// The command name of `pid`.
        public var process: String?
        /// When a purged file was last used, by the device's clock.
        public var lastUse: Date?
        /// The level when a purge or a refusal was decided.
        public var pressure: Pressure?
        /// By the clock of the host.
        public var realTime: Date?
        /// With the first event of each step of a purge: files whose turn was not later, and which stay.
        public var passedOver: [PassedOver]?
    }

    /// A file that a purge has left where it is.
    public struct PassedOver: Hashable, Codable, Sendable {
        public var path: String
        /// `open`, `severalNames` and the like, as in docs/CONTROL.md, storage.reclaim.
        public var reason: String
        public var pid: Int32?
        public var process: String?
    }

    /// What a purge has taken, or would take.
    public struct Purged: Hashable, Codable, Sendable {
        /// Relative to the container; nil for what other apps give back.
        public var path: String?
        public var reason: String
        public var bytes: Int
        /// True for a file that is emptied and keeps its name.
        public var tombstone: Bool?
    }

    /// A file that was asked for and not purged.
    public struct Refusal: Hashable, Codable, Sendable {
        public var path: String
        /// `open`, `notPurgeable`, `noEntry` and the like, as in docs/CONTROL.md, storage.reclaim.
        public var refused: String
        public var tombstone: Bool?
    }
}

extension Container.Event {
    /// One line, for people.
    var line: String {
        let fields: [String?] = [
            type.rawValue, path, bytes.flatMap { $0 == 0 ? nil : "\($0) bytes" }, reason.map { "reason \($0)" },
            trigger.map { "trigger \($0)" }, cause.map { "caused by \($0)" }, pressure.map { "pressure \($0)" },
            process.map { "process \($0)" },
        ]
        return "\(seq) " + fields.compactMap { $0 }.joined(separator: ", ")
    }
}

/// Lines of JSON as purgefs writes them.
enum Lines {
    static func decode<Value: Decodable>(_ type: Value.Type, from line: some DataProtocol) throws -> Value {
        let data = Data(line)
        do {
            return try decoder().decode(type, from: data)
        } catch {
            throw ContainerError.notUnderstood(String(decoding: data, as: UTF8.self), "\(error)")
        }
    }

    private static func decoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            guard let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains(".")).parse(text)
            else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is no time") }
            return date
        }
        return decoder
    }
}
