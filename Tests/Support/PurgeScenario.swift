/// A container, the demand that makes it purge, and the expected purges, in order and with reasons. The expectations are
/// derived by hand from docs/RULES.md and docs/POLICIES.md.
public struct PurgeScenario: Sendable, CustomStringConvertible {
    /// A file. Sizes are in blocks of 4 KiB, times in seconds before the purge.
    public struct File: Sendable {
        public var path: String
        public var blocks: Int64
        public var created: Int64
        /// The last use; the time of creation by default.
        public var used: Int64
        public var mark: String?
        public var isOpen = false
        /// A second hard link.
        public var link: String?

        public init(
            _ path: String, _ blocks: Int64 = 1, created: Int64, used: Int64? = nil, mark: String? = nil,
            isOpen: Bool = false, link: String? = nil
        ) {
            (self.path, self.blocks, self.created, self.used) = (path, blocks, created, used ?? created)
            (self.mark, self.isOpen, self.link) = (mark, isOpen, link)
        }
    }

    /// The attributes of a directory: a policy, a mark, or values of purgeGroup and purgeTombstone.
    public struct Folder: Sendable {
        public var path: String
        public var mark: String?
        /// The age in seconds; 0 for none.
        public var after: Int64?
        /// The limit in blocks; 0 for none.
        public var limit: Int64?
        public var isGroup: Bool?
        public var leavesTombstones: Bool?

        public init(
            _ path: String, mark: String? = nil, after: Int64? = nil, limit: Int64? = nil, group: Bool? = nil,
            tombstone: Bool? = nil
        ) {
            (self.path, self.mark, self.after, self.limit) = (path, mark, after, limit)
            (isGroup, leavesTombstones) = (group, tombstone)
        }
    }

    public enum Demand: Sendable {
        /// A command asks for a number of blocks.
        case room(Int64)
        /// A command takes all files of one kind, or everything.
        case tmp, caches, purgeable, all
        /// The app is launched.
        case launch
        /// A new file of a number of blocks is written, and stays open.
        case write(String, Int64)
        /// The device enters this level, and free space is a number of blocks short of desired.
        case level(Level, Int64)
        /// Nothing is free, and an allocation of a number of blocks is refused.
        case refused(Int64)
        /// Nothing is free, and other apps take a number of blocks.
        case taken(Int64)
        /// The clock advances by a day, so a new day begins. The files' times count back from the moment after this advance.
        case day
        case reboot
    }

    public enum Level: Sendable { case nearLow, low, veryLow }

    public struct Gone: Sendable, Hashable, CustomStringConvertible {
        /// The path; nil for others.purgeable.
        public var path: String?
        public var reason: String
        /// True if the file became a tombstone.
        public var isEmptied: Bool

        public init(_ path: String?, _ reason: String, isEmptied: Bool = false) {
            (self.path, self.reason, self.isEmptied) = (path, reason, isEmptied)
        }

        public var description: String { "\(path ?? "-") \(reason)\(isEmptied ? " emptied" : "")" }
    }

    public var name: String
    public var profile: String
    /// True if the app is in the foreground.
    public var isRunning: Bool
    /// The seconds since an app that does not run left the foreground; nil if it was never there.
    public var leftForeground: Int64?
    public var files: [File]
    public var folders: [Folder]
    /// The blocks that other apps can free.
    public var others: Int64
    /// The percentage of a shortfall that other apps give first.
    public var share: Int64
    public var demand: Demand
    public var gone: [Gone]
    /// True if the scenario also runs in a mount, where two files cannot have the same creation time.
    public var isForMounts: Bool

    public init(
        _ name: String, profile: String = "documented", isRunning: Bool = false, leftForeground: Int64? = nil,
        files: [File], folders: [Folder] = [], others: Int64 = 0, share: Int64 = 100, demand: Demand, gone: [Gone],
        isForMounts: Bool = false
    ) {
        (self.name, self.files, self.folders, self.others, self.share) = (name, files, folders, others, share)
        (self.demand, self.gone, self.isForMounts) = (demand, gone, isForMounts)
        (self.profile, self.isRunning, self.leftForeground) = (profile, isRunning, leftForeground)
    }

    public var description: String { name }

    /// Sorts by path the files of each folder that goes as a whole, because they have no order.
    public func comparable(_ gone: [Gone]) -> [Gone] {
        guard profile == "device" else { return gone }
        let runs = gone.reduce(into: [[Gone]]()) { runs, next in
            if runs.last?.last?.reason == next.reason { runs[runs.count - 1].append(next) } else { runs.append([next]) }
        }
        return runs.flatMap { run in
            ["caches", "temporary"].contains(run[0].reason) ? run.sorted { ($0.path ?? "") < ($1.path ?? "") } : run
        }
    }

    /// The directories beyond the standard layout, each after its parents.
    public var directories: [String] {
        var all: [String] = []
        let paths = folders.map { $0.path + "/." } + files.map(\.path) + files.compactMap(\.link)
        for path in paths {
            let names = path.split(separator: "/").dropLast()
            for count in names.indices.map({ $0 + 1 }) {
                let directory = names.prefix(count).joined(separator: "/")
                if !all.contains(directory) { all.append(directory) }
            }
        }
        let layout = [
            "Documents", "Library", "Library/Application Support", "Library/Caches", "Library/Preferences", "tmp",
        ]
        return all.filter { !layout.contains($0) }
    }
}

extension PurgeScenario.Level {
    /// Returns thresholds for which a device with `free` free blocks is at this level and lacks `short` for desired.
    public func thresholds(free: Int64, short: Int64) -> String {
        let limits: [Int64] =
            switch self {
            case .nearLow: [0, free, free + 1, free + short]
            case .low: [free, free + 1, free + 1, free + short]
            case .veryLow: [free + 1, free + 1, free + 1, free + short]
            }
        let names = ["verylow", "low", "nearlow", "desired"]
        return zip(names, limits).map { name, blocks in "\(name)=\(blocks * 4096)" }.joined(separator: ",")
    }
}

extension Int64 {
    public static let hour: Int64 = 3600
    public static let day: Int64 = 86400
}
