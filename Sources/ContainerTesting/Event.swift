import Foundation

extension Container {
    /// An event in a container. Fields that do not apply are nil: docs/CONTROL.md, events.
    public struct Event: Hashable, Codable, Sendable {
        /// The number of the event, one more than the previous event's number. The app's own name changes have numbers too but
        /// are not among `events()`, so there may be gaps.
        public var seq: Int
        /// The time by the device's clock.
        public var time: Date
        public var type: EventType
        /// The path relative to the container.
        public var path: String?
        public var tier: Tier?
        public var bytes: Int?
        /// Why a file was purged (`others`, `temporary`, `caches`, `purgeable`, `policyAge`, `policySize`, `reboot`,
        /// `command`). For other types, see the table in docs/CONTROL.md.
        public var reason: String?
        /// The code of Apple's crash reports, of a `terminated` event: `0xdead10cc` or `0xbaddd15c`.
        public var code: String?
        public var trigger: Trigger?
        public var pid: Int32?
        /// The file whose write set off the purge or raised the pressure; nil if a change of the device did. For an update, a
        /// deletion or a restore, the earlier UUID of the container. For a fault, the call: `write#12`.
        public var cause: String?
        /// True for a file that was truncated and kept its name.
        public var tombstone: Bool?
        /// The other path of a name change, for events from the journal: the new path in `renamed`, the old path in `replaced`.
        public var to: String?
        /// The command name of `pid`.
        public var process: String?
        /// When a purged file was last used, by the device's clock.
        public var lastUse: Date?
        /// The level at which a purge or a refusal was decided.
        public var pressure: Pressure?
        /// The time by the host's clock.
        public var realTime: Date?
        /// At most eight files that the purge skipped although their turn had come. At most the first event of each step of a
        /// purge has them.
        public var passedOver: [PassedOver]?
    }

    /// A file that a purge skipped.
    public struct PassedOver: Hashable, Codable, Sendable {
        public var path: String
        /// `open`, `severalNames` and so on: docs/CONTROL.md, storage.reclaim.
        public var reason: String
        public var pid: Int32?
        public var process: String?
    }

    /// A file that a purge took, or space that it took from the other apps. In a plan, what a purge would take.
    public struct Purged: Hashable, Codable, Sendable {
        /// The path relative to the container; nil for space that other apps gave back.
        public var path: String?
        public var reason: String
        public var bytes: Int
        /// True for a file that is truncated and keeps its name.
        public var tombstone: Bool?
    }

    /// A file whose purge was requested but refused.
    public struct Refusal: Hashable, Codable, Sendable {
        public var path: String
        /// `open`, `notPurgeable`, `noEntry` and so on: docs/CONTROL.md, storage.reclaim.
        public var refused: String
        public var tombstone: Bool?
    }
}

extension Container.Event {
    /// The event as one line for people.
    var line: String {
        let isOfContainer = type == .app || type == .restore
        let fields: [String?] = [
            type.rawValue, path, bytes.flatMap { $0 == 0 ? nil : "\($0) bytes" }, reason.map { "reason \($0)" },
            trigger.map { "trigger \($0)" }, cause.map { "\(isOfContainer ? "earlier container" : "caused by") \($0)" },
            pressure.map { "pressure \($0)" },
            process.map { "process \($0)" },
        ]
        return "\(seq) " + fields.compactMap { $0 }.joined(separator: ", ")
    }
}

/// Decodes the lines of JSON that purgefs writes.
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
            else { throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(text) is not a time") }
            return date
        }
        return decoder
    }
}
