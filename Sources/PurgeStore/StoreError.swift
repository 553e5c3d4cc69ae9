/// A failure that the user must deal with: what failed, on which path, and what to do next.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    public var what: String
    public var path: String
    public var advice: String
    /// Whether the store cannot be written, but may still be readable.
    public var isForLackOfWriting = false
    /// Whether another process kept the journal locked for longer than this process waits.
    public var isForLock = false

    /// Whether the disk under the store has no room for the journal.
    var isForLackOfRoom = false

    /// The places in which the same failure would recur, for a caller that can try another place.
    public enum Reach: Sendable {
        case everywhere, fileSystem, directory
    }
    public var reach = Reach.everywhere

    public init(_ what: String, path: String, advice: String) {
        self.what = what
        self.path = path
        self.advice = advice
    }

    /// Returns the error for a signal that told this process to end.
    public static func interrupted(_ path: String) -> StoreError {
        StoreError("interrupted", path: path, advice: "Nothing was changed.")
    }

    public var description: String { "\(path): \(what)\n  \(advice)" }
}
