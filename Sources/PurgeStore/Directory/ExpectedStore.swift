import PurgeSystem

/// The directory to which a store's path must lead: the one found earlier by this process or by the process that started it.
public enum ExpectedStore: Hashable, Sendable, LosslessStringConvertible {
    /// No directory yet: the store is created.
    case new
    case directory(FileIdentity)

    /// Parses a text that the property `description` has returned.
    public init?(_ description: String) {
        if description == Self.new.description {
            self = .new
        } else if let identity = FileIdentity(description) {
            self = .directory(identity)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .new: "new"
        case .directory(let identity): identity.description
        }
    }

    /// Returns the failure to report if opening the store failed because the path does not lead to the expected directory, and
    /// nil for any other `error`. ESTALE means that the path leads to another directory.
    func failure(_ error: Errno, _ path: String) -> StoreError? {
        switch self {
        case .new where error == .stale:
            StoreError(
                "a directory appeared under the name of the new store after the command had begun", path: path,
                advice: "It was not changed. Name a store in a directory that only you can change.")
        case .directory where [.stale, .noEntry, .notDirectory].contains(error):
            StoreError(
                "the store was moved, removed or replaced after the command had begun", path: path,
                advice: "The directory there now was not changed. Name a store in a directory that only you can change."
            )
        default: nil
        }
    }

    /// Throws unless `found` is expected: the directory that the path leads to, or nil if there is none.
    public func check(_ found: FileIdentity?, at path: String) throws(StoreError) {
        if self == found.map(Self.directory) ?? .new { return }
        if let failure = self.failure(found == nil ? .noEntry : .stale, path) { throw failure }
    }
}

extension KnownDirectory {
    /// Finds the directory of a store; nil if the path leads nowhere, so that opening the store creates it.
    public static func ofStore(_ path: String) throws(StoreError) -> KnownDirectory? {
        do throws(Errno) { return try KnownDirectory(path: path) } catch .noEntry { return nil } catch {
            throw StoreDirectory.refusal(path, error)
        }
    }
}
