/// A command for `storage.reclaim` or `storage.plan`: a size, `tmp`, `caches`, `purgeable` or `all`.
public enum ReclaimCommand: Hashable, Sendable {
    case bytes(ByteCount)
    case temporary, caches, purgeable, all

    public init?(text: some StringProtocol) {
        switch text {
        case "tmp": self = .temporary
        case "caches": self = .caches
        case "purgeable": self = .purgeable
        case "all": self = .all
        default:
            guard let size = ByteCount(text: text) else { return nil }
            self = .bytes(size)
        }
    }

    /// The command in the form that `init` reads.
    public var text: String {
        switch self {
        case .bytes(let size): "\(size.bytes)"
        case .temporary: "tmp"
        case .caches: "caches"
        case .purgeable: "purgeable"
        case .all: "all"
        }
    }

    public var goal: PurgeGoal {
        switch self {
        case .bytes(let size): .bytes(size)
        case .temporary: .step(.temporary)
        case .caches: .step(.caches)
        case .purgeable: .step(.marked)
        case .all: .all
        }
    }

    /// Whether the command takes empty files and symbolic links. They free nothing, so only a command for a whole place or for
    /// everything takes them (docs/RULES.md, Order of purging).
    public var takesEmptyFiles: Bool {
        if case .bytes = self { false } else { true }
    }
}
