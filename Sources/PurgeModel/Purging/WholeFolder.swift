/// A folder that profile `device` purges as a whole: it is moved out of the container in one step, with everything in it, and
/// an empty folder takes its place (docs/RULES.md, Profiles).
public enum WholeFolder: CaseIterable, Hashable, Sendable {
    case caches, temporary

    /// Creates the folder whose files all belong to `step`; nil for a step without such a folder.
    public init?(of step: PurgeStep) {
        switch step {
        case .caches: self = .caches
        case .temporary: self = .temporary
        case .policy, .marked: return nil
        }
    }

    /// The path in the container.
    public var path: String {
        switch self {
        case .caches: "Library/Caches"
        case .temporary: "tmp"
        }
    }

    public var step: PurgeStep {
        switch self {
        case .caches: .caches
        case .temporary: .temporary
        }
    }

    public var reason: PurgeReason {
        switch self {
        case .caches: .caches
        case .temporary: .temporary
        }
    }
}

extension PurgeGoal {
    /// Returns the folder that a purge for this goal, which names a place, takes as a whole; nil if it takes files.
    public func folder(in profile: Profile) -> WholeFolder? {
        profile.takesFoldersWhole ? step.flatMap { WholeFolder(of: $0) } : nil
    }
}
