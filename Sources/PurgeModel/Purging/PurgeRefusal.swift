/// Why a file is not purged. If several reasons apply, the first in this order is reported.
public enum PurgeRefusal: String, CaseIterable, Codable, Sendable {
    /// No such file exists, or it has disappeared meanwhile.
    case noEntry
    /// A device, a pipe or a socket.
    case special
    /// In a persistent place, and not marked purgeable.
    case notPurgeable
    /// Hard-linked, so removing one name would free nothing.
    case severalNames
    /// Hard-linked, with a name outside the container.
    case linkedOutside
    /// Without blocks to free. Only a command for everything, for the file's place or for the file itself takes it, and none
    /// does if the file is a tombstone.
    case empty
    /// Open or mapped.
    case open
    /// Held by another call or purge during the whole attempt.
    case busy
    /// The store failed to remove or truncate the file.
    case failed
}

/// A set of reasons why a file is not purged.
public struct PurgeRefusals: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public static let noEntry = PurgeRefusals(rawValue: 1)
    public static let special = PurgeRefusals(rawValue: 2)
    public static let notPurgeable = PurgeRefusals(rawValue: 4)
    public static let severalNames = PurgeRefusals(rawValue: 8)
    public static let linkedOutside = PurgeRefusals(rawValue: 16)
    public static let empty = PurgeRefusals(rawValue: 32)
    public static let open = PurgeRefusals(rawValue: 64)
    public static let busy = PurgeRefusals(rawValue: 128)
    public static let failed = PurgeRefusals(rawValue: 256)

    /// The reasons in the order in which they are reported.
    public var all: [PurgeRefusal] { PurgeRefusal.allCases.filter { contains(PurgeRefusals($0)) } }

    public var first: PurgeRefusal? { PurgeRefusal.allCases.first { contains(PurgeRefusals($0)) } }

    public init(_ refusal: PurgeRefusal) {
        self =
            switch refusal {
            case .noEntry: .noEntry
            case .special: .special
            case .notPurgeable: .notPurgeable
            case .severalNames: .severalNames
            case .linkedOutside: .linkedOutside
            case .empty: .empty
            case .open: .open
            case .busy: .busy
            case .failed: .failed
            }
    }
}
