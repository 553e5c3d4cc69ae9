import FoundationEssentials
import PurgeModel

/// The JSON that leaves and enters purgefs: `status.json`, `events`, device.json (docs/CONTROL.md).
/// Members are in the order of declaration, slashes are not escaped, and nil members are left out.
public enum JSONText {
    /// One line, without a newline at its end.
    public static func encode(_ event: Event) -> String { text(event, pretty: false) }

    /// One line, or indented by two spaces; no newline at the end.
    public static func encode(_ report: StatusReport, pretty: Bool) -> String { text(report, pretty: pretty) }

    /// Any other value, in the same manner.
    public static func encode(_ value: some Encodable, pretty: Bool = false) -> String { text(value, pretty: pretty) }

    /// Reads what `encode` wrote. Throws DecodingError.
    public static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(Array(text.utf8)))
    }

    private static func text(_ value: some Encodable, pretty: Bool) -> String {
        do {
            return try JSONValueEncoder.encode(value).text(pretty: pretty)
        } catch {
            // Neither the encoder itself nor any `encode(to:)` of the model throws.
            return JSONValue.object([.init(name: "error", value: .string(String(describing: error)))]).text()
        }
    }
}
