import FoundationEssentials
import PurgeModel

/// The JSON that purgefs reads and writes: `status.json`, `events`, device.json (docs/CONTROL.md). Members keep the order of
/// declaration, slashes are not escaped, and nil members are left out.
public enum JSONText {
    /// Encodes a value on one line, or indented by two spaces, without a newline at the end.
    public static func encode(_ value: some Encodable, pretty: Bool = false) -> String {
        do {
            return try JSONWriter.text(of: value, pretty: pretty)
        } catch {
            // Neither the writer nor any `encode(to:)` of the model throws.
            return encode(["error": String(describing: error)])
        }
    }

    /// Bytes in base64, for a member of JSON.
    public static func base64(_ bytes: some Collection<UInt8>) -> String { Data(bytes).base64EncodedString() }

    /// The bytes of a member in base64; nil if it is not.
    public static func bytes(base64: String) -> [UInt8]? { Data(base64Encoded: base64).map { Array($0) } }

    /// Decodes a string that `encode` wrote. Throws DecodingError.
    public static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(Array(text.utf8)))
    }
}
