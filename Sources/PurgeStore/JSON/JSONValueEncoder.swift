/// Turns an Encodable into a JSONValue with its members in the order in which they are encoded,
/// which for a synthesized `encode(to:)` is the order of declaration. Foundation's encoder can only
/// use a random or the alphabetical order, and must not be used in the request path.
struct JSONValueEncoder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate let slot: JSONSlot

    static func encode(_ encodable: some Encodable) throws -> JSONValue {
        let slot = JSONSlot()
        try slot.encode(encodable)
        return slot.value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A value may ask for it more than once: what a part of it has encoded stays.
        if case .object = slot.content {} else { slot.content = .object([]) }
        return KeyedEncodingContainer(MemberContainer(slot: slot))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        slot.content = .array([])
        return ElementContainer(slot: slot)
    }
    func singleValueContainer() -> any SingleValueEncodingContainer { ValueContainer(slot: slot) }
}

/// Where one value goes; the containers that were handed out fill it in.
private final class JSONSlot {
    enum Content {
        case value(JSONValue)
        case array([JSONSlot])
        case object([(name: String, slot: JSONSlot)])
    }
    var content = Content.value(.null)

    var value: JSONValue {
        switch content {
        case .value(let value): value
        case .array(let slots): .array(slots.map(\.value))
        case .object(let members): .object(members.map { JSONValue.Member(name: $0.name, value: $0.slot.value) })
        }
    }

    var elements: [JSONSlot] { if case .array(let slots) = content { slots } else { [] } }
    func element() -> JSONSlot {
        let slot = JSONSlot()
        content = .array(elements + [slot])
        return slot
    }
    func member(_ key: some CodingKey) -> JSONSlot {
        var members: [(name: String, slot: JSONSlot)] = []
        if case .object(let present) = content { members = present }
        let slot = JSONSlot()
        content = .object(members + [(key.stringValue, slot)])
        return slot
    }

    func encode(_ encodable: some Encodable) throws {
        if let value = JSONValue(scalar: encodable) {
            content = .value(value)
        } else {
            try encodable.encode(to: JSONValueEncoder(slot: self))
        }
    }
}

extension JSONValue {
    /// nil for a value that is not a JSON scalar.
    fileprivate init?(scalar: some Encodable) {
        switch scalar {
        case let value as Bool: self = .bool(value)
        case let value as String: self = .string(value)
        // Each type by itself: asking the runtime for a protocol takes longer than all the rest.
        case let value as Int64: self = .integer(value)
        case let value as Int: self = .integer(Int64(value))
        case let value as Int32: self = .integer(Int64(value))
        case let value as Int16: self = .integer(Int64(value))
        case let value as Int8: self = .integer(Int64(value))
        case let value as UInt64: self = Int64(exactly: value).map(JSONValue.integer) ?? .number(Double(value))
        case let value as UInt: self = Int64(exactly: value).map(JSONValue.integer) ?? .number(Double(value))
        case let value as UInt32: self = .integer(Int64(value))
        case let value as UInt16: self = .integer(Int64(value))
        case let value as UInt8: self = .integer(Int64(value))
        case let value as Double: self = .number(value)
        case let value as Float: self = .number(Double(value))
        default: return nil
        }
    }
}

private struct MemberContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: JSONSlot
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) { slot.member(key).content = .value(.null) }
    func encode(_ value: some Encodable, forKey key: Key) throws { try slot.member(key).encode(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { JSONValueEncoder(slot: slot.member(key)).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONValueEncoder(slot: slot.member(key)).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { JSONValueEncoder(slot: slot) }
    func superEncoder(forKey key: Key) -> any Encoder { JSONValueEncoder(slot: slot.member(key)) }
}

private struct ElementContainer: UnkeyedEncodingContainer {
    let slot: JSONSlot
    let codingPath: [any CodingKey] = []
    var count: Int { slot.elements.count }

    func encodeNil() { slot.element().content = .value(.null) }
    func encode(_ value: some Encodable) throws { try slot.element().encode(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONValueEncoder(slot: slot.element()).container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONValueEncoder(slot: slot.element()).unkeyedContainer()
    }
    func superEncoder() -> any Encoder { JSONValueEncoder(slot: slot.element()) }
}

private struct ValueContainer: SingleValueEncodingContainer {
    let slot: JSONSlot
    let codingPath: [any CodingKey] = []

    func encodeNil() { slot.content = .value(.null) }
    func encode(_ value: some Encodable) throws { try slot.encode(value) }
}
