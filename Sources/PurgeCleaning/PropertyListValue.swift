import FoundationEssentials
import Synchronization

/// The values of a property list, as far as a cleaner's list needs them.
indirect enum PropertyListValue: Decodable {
    case string(String)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])
    /// Any other value, described in words.
    case other(String)

    /// The kind of value for a message, such as `a string`.
    var inWords: String {
        switch self {
        case .string: "a string"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .other(let words): words
        }
    }

    /// Decodes a property list, XML or binary. Throws DecodingError.
    static func decode(_ bytes: [UInt8]) throws -> PropertyListValue {
        let decoder = PropertyListDecoder()
        if let key = Budget.key { decoder.userInfo[key] = Budget() }
        return try decoder.decode(PropertyListValue.self, from: Data(bytes))
    }

    /// Returns the reason why decoding failed, if known.
    static func reason(of error: any Error) -> String? {
        guard case .dataCorrupted(let context)? = error as? DecodingError else { return nil }
        guard let cause = context.underlyingError else { return context.debugDescription }
        return (cause as? CocoaError)?.userInfo["NSDebugDescription"] as? String
    }

    init(from decoder: any Decoder) throws {
        // In a binary property list an array can contain itself, or the same array many times.
        let budget = Budget.key.flatMap { decoder.userInfo[$0] as? Budget }
        guard decoder.codingPath.count <= Budget.depth, budget?.take() ?? true else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "it is nested too deeply, or has too many values"))
        }
        if let keyed = Self.unlessMismatch({ try decoder.container(keyedBy: Key.self) }) {
            var members: [String: PropertyListValue] = [:]
            for key in keyed.allKeys { members[key.stringValue] = try keyed.decode(Self.self, forKey: key) }
            self = .dictionary(members)
        } else if var list = Self.unlessMismatch({ try decoder.unkeyedContainer() }) {
            var values: [PropertyListValue] = []
            while !list.isAtEnd { values.append(try list.decode(Self.self)) }
            self = .array(values)
        } else {
            self = try Self.scalar(try decoder.singleValueContainer())
        }
    }

    private static func scalar(_ value: any SingleValueDecodingContainer) throws -> PropertyListValue {
        if let text = unlessMismatch({ try value.decode(String.self) }) { return .string(text) }
        let kinds: [(String, () throws -> Void)] = [
            ("a boolean", { _ = try value.decode(Bool.self) }), ("a number", { _ = try value.decode(Double.self) }),
            ("a date", { _ = try value.decode(Date.self) }), ("data", { _ = try value.decode(Data.self) }),
        ]
        return .other(kinds.first { unlessMismatch($0.1) != nil }?.0 ?? "something else")
    }

    /// Returns nil if `body` throws, as it does for a value of another type.
    private static func unlessMismatch<Value>(_ body: () throws -> Value) -> Value? {
        do { return try body() } catch { return nil }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The remaining number of values that a list may have.
    private final class Budget: Sendable {
        static let key = CodingUserInfoKey(rawValue: "budget")
        /// The maximum length of a coding path. The longest in a cleaner's list has four parts: KEY, INDEX, `Entries`, INDEX.
        static let depth = 6
        private let left = Atomic<Int>(100_000)

        func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
    }
}
