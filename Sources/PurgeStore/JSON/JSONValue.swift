/// A JSON document in memory; an object keeps the order of its members.
enum JSONValue: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        var name: String
        var value: JSONValue
    }

    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])
}

extension JSONValue {
    var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    /// A member of an object; setting an existing one keeps its place.
    subscript(name: String) -> JSONValue? {
        get { members?.first { $0.name == name }?.value }
        set {
            guard var members, let newValue else { return }
            if let index = members.firstIndex(where: { $0.name == name }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
            self = .object(members)
        }
    }
}

extension JSONValue {
    /// With the members of each object in alphabetical order, for comparison.
    var sorted: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.sorted))
        case .object(let members):
            .object(
                members.map { Member(name: $0.name, value: $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }

    /// How deep the brackets of a text are nested; brackets in strings do not count.
    static func depth(of text: [UInt8]) -> Int {
        var (depth, deepest, inString, isEscaped) = (0, 0, false, false)
        for byte in text {
            if isEscaped {
                isEscaped = false
            } else if inString {
                isEscaped = byte == UInt8(ascii: "\\")
                inString = byte != UInt8(ascii: "\"")
            } else {
                switch byte {
                case UInt8(ascii: "\""): inString = true
                case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                default: break
                }
                deepest = max(deepest, depth)
            }
        }
        return deepest
    }
}

extension JSONValue: Decodable {
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    /// The order of an object's members is the decoder's.
    init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: Name.self) {  // not an object: the next kinds are tried
            self = .object(
                try keyed.allKeys.map {
                    Member(name: $0.stringValue, value: try keyed.decode(JSONValue.self, forKey: $0))
                })
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let bool = try? single.decode(Bool.self) {  // likewise
            self = .bool(bool)
        } else if let integer = try? single.decode(Int64.self) {
            self = .integer(integer)
        } else if let number = try? single.decode(Double.self) {
            self = .number(number)
        } else if let string = try? single.decode(String.self) {
            self = .string(string)
        } else {
            self = .array(try single.decode([JSONValue].self))
        }
    }
}
