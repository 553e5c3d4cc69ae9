import FoundationEssentials
import PurgeModel

/// The content of device.json: one JSON object whose members are the settings. An unknown member is an error.
enum SettingsDocument {
    /// Returns all settings, or throws the first reason why they cannot be used.
    static func settings(from content: [UInt8]) throws(SettingsDamage) -> Device {
        guard nesting(of: content) <= deepest else { throw .unreadable("it is nested too deeply") }
        guard !content.isEmpty else { throw .unreadable("the file is empty") }
        let names = try decode([String: Ignored].self, from: content, elsewhere: "it is not JSON").keys
        try checkVersion(in: content, names)
        if let unknown = names.sorted().first(where: { !Device.members.contains($0) }) {
            throw .value(name: unknown, "there is no such setting")
        }
        let settings = try decode(Device.self, from: content)
        do throws(DeviceFault) {
            try settings.validate()
        } catch { throw .value(name: error.name, error.reason) }
        return settings.roundedToBlocks
    }

    /// Returns one setting, even if others are damaged; nil if there is none with that name.
    static func value<Value: Decodable>(
        of name: String, _ type: Value.Type, in content: [UInt8]
    ) throws(SettingsDamage) -> Value? {
        guard nesting(of: content) <= deepest else { throw .unreadable("it is nested too deeply") }
        guard let found = try decode([String: Readable<Value>].self, from: content)[name] else { return nil }
        guard let value = found.value else { throw .value(name: name, "it cannot be understood") }
        return value
    }

    /// Returns whether the text is one JSON object.
    static func isDocument(_ content: [UInt8]) -> Bool {
        guard nesting(of: content) <= deepest else { return false }
        do { return try !decode([String: Ignored].self, from: content).isEmpty } catch { return false }
    }

    /// Returns a document of the lines that each hold one complete member, for a file that was cut off or edited wrongly. This
    /// recovers the simple settings, because purgefs writes each of them on a line of its own, indented by two spaces.
    static func wholeLines(of content: [UInt8]) -> [UInt8] {
        let lines = content.split(separator: UInt8(ascii: "\n")).compactMap { line -> [UInt8]? in
            guard line.starts(with: "  \"".utf8) else { return nil }
            let member = line.last == UInt8(ascii: ",") ? line.dropLast() : line
            return isDocument(braced(Array(member))) ? Array(member) : nil
        }
        return braced(Array(lines.joined(separator: ",".utf8)))
    }

    private static func braced(_ members: [UInt8]) -> [UInt8] { Array("{".utf8) + members + Array("}".utf8) }

    private struct Readable<Value: Decodable>: Decodable {
        let value: Value?
        init(from decoder: any Decoder) {
            do { value = try Value(from: decoder) } catch { value = nil }
        }
    }
    private struct Ignored: Decodable {}
    private struct Format: Decodable {
        let version: Int64
    }

    private static func checkVersion(
        in content: [UInt8], _ names: some Collection<String>
    ) throws(SettingsDamage) {
        guard names.contains("version") else { throw .value(name: "version", "it is missing") }
        let version: Int64
        do throws(SettingsDamage) { version = try decode(Format.self, from: content).version } catch { version = 0 }
        if version > Device.version { throw .newerVersion(version) }
        if version != Device.version { throw .value(name: "version", "it is not \(Device.version)") }
    }

    /// Decodes a value. `elsewhere` is the reason given if the decoder names no member, as for a number with a fraction.
    private static func decode<Value: Decodable>(
        _ type: Value.Type, from content: [UInt8], elsewhere: String = "a number in it cannot be understood"
    ) throws(SettingsDamage) -> Value {
        do { return try JSONDecoder().decode(type, from: Data(content)) } catch {
            switch error as? DecodingError {
            case .keyNotFound(let key, let context) where context.codingPath.isEmpty:
                throw .value(name: key.stringValue, "it is missing")
            case .typeMismatch(_, let context) where context.codingPath.isEmpty:
                throw .unreadable("it is not a JSON object")
            case .keyNotFound(_, let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
                .dataCorrupted(let context):
                guard let member = context.codingPath.first else { throw .unreadable(elsewhere) }
                throw .value(name: member.stringValue, "it cannot be understood")
            default: throw .unreadable(elsewhere)
            }
        }
    }

    /// The deepest accepted nesting of brackets; purgefs writes two levels. The decoder recurses without a limit, and could
    /// overflow the thread's stack.
    private static let deepest = 16

    /// Returns how deeply the brackets of the document are nested, not counting brackets in strings.
    private static func nesting(of text: [UInt8]) -> Int {
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
