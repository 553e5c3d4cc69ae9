import PurgeSystem

/// What the name of a store has to lead to, as an earlier look has shown it, or the process that started this one.
public enum ExpectedStore: Hashable, Sendable, LosslessStringConvertible {
    /// Nothing, so that it is made.
    case new
    case directory(FileIdentity)

    /// The form of `description`.
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

    /// For an error of opening the store; nil if it does not mean that something else is there. ESTALE: another directory.
    func failure(_ error: Errno, _ path: String) -> StoreError? {
        switch self {
        case .new where error == .stale:
            StoreError(
                "a directory was put in the place of the new store after the command had begun", path: path,
                advice: "Nothing was changed in it. Name a store in a directory that only you can change.")
        case .directory where [.stale, .noEntry, .notDirectory].contains(error):
            StoreError(
                "the store was moved, removed or exchanged for another directory after the command had begun",
                path: path,
                advice: "Nothing was changed in what is there now. Name a store in a directory that only you can "
                    + "change.")
        default: nil
        }
    }
}
