/// Something that a person must mend: what failed, on which path, what to do next.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    public var what: String
    public var path: String
    public var advice: String
    /// Whether a store cannot be written, and so may still be looked at.
    public var isForLackOfWriting = false

    public init(_ what: String, path: String, advice: String) {
        self.what = what
        self.path = path
        self.advice = advice
    }

    public var description: String { "\(path): \(what)\n  \(advice)" }
}
