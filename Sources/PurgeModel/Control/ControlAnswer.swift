/// The text that a control file returns after a write to the same descriptor.
public struct ControlAnswer: Sendable {
    /// JSON lines.
    public let text: String
    /// Whether the write failed with EAGAIN because the purge freed less than requested.
    public let isShort: Bool

    public init(text: String, isShort: Bool) {
        self.text = text
        self.isShort = isShort
    }
}
