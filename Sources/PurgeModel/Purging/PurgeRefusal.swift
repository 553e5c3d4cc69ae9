/// Why a file is not purged; if several reasons apply, the first is reported.
public enum PurgeRefusal: String, CaseIterable, Codable, Sendable {
    /// There is no such file, or it has disappeared meanwhile.
    case noEntry
    /// A device, a pipe or a socket.
    case special
    /// It is in a persistent place, and is not marked purgeable.
    case notPurgeable
    /// It has several names, so removing one would free nothing.
    case severalNames
    /// The same, with a name outside of the container.
    case linkedOutside
    /// It has no blocks that could be freed; only a command that names its place or itself takes it.
    case empty
    /// It is open or mapped.
    case open
    /// Something was changing it the whole time.
    case busy
    /// It could not be removed from the store, or emptied there.
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

    /// In the order in which they are reported.
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
