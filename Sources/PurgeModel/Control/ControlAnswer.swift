/// What reading a control file returns after a write to the same descriptor.
public struct ControlAnswer: Sendable {
    /// JSON lines.
    public let text: String
    /// EAGAIN: the command was carried out, but did less than was asked for.
    public let isShort: Bool

    public init(text: String, isShort: Bool) {
        self.text = text
        self.isShort = isShort
    }
}
