import PurgeSystem

/// The problems that `purgefs check` finds in a store apart from the app's files: in the folders of the layout,
/// device.json and the journal.
public struct StoreInspection: Sendable {
    /// The problems in the order in which they were found. Repaired problems have a `repair`.
    public let problems: [StoreProblem]

    /// Inspects the store while holding its lock. Without `repairing`, changes nothing. With `repairing`, keeps damaged files
    /// aside under other names. Of the damaged journals, only the oldest and the two newest are kept.
    public static func run(_ storePath: String, repairing: Bool) throws(StoreError) -> StoreInspection {
        let place = try StoreDirectory.open(storePath)
        try place.lock()
        try place.refuseForeign(try place.names(), creating: false)
        if repairing {
            try place.probeWriting()
            try place.endOtherStarts()
        }
        var problems = try ContainerLayout(place: place).inspect(repairing: repairing)
        if let problem = try DeviceFile(place: place).inspect(repairing: repairing) { problems.append(problem) }
        if let problem = try place.inspectJournal(repairing: repairing) { problems.append(problem) }
        return StoreInspection(problems: problems)
    }
}

extension StoreDirectory {
    /// Why a file is kept aside.
    enum KeptAside: String { case damaged, foreign }

    /// Returns a new name for keeping a file aside.
    func nameAside(for name: String, _ kind: KeptAside = .damaged) throws(StoreError) -> String {
        "\(name).\(kind.rawValue)-\(try numberAside(for: name, kind))"
    }

    /// Returns one more than the largest number in use for `name` below Int.max or, if that is taken, the lowest free one.
    func numberAside(for name: String, _ kind: KeptAside) throws(StoreError) -> Int {
        let prefix = "\(name).\(kind.rawValue)-"
        let found = try names().filter { $0.hasPrefix(prefix) }
        let used = Set(found.compactMap { Int($0.dropFirst(prefix.count).prefix { $0.isNumber }) })
        let next = (used.filter { $0 < Int.max }.max() ?? 0) + 1
        return used.contains(next) ? (1...).first { !used.contains($0) } ?? next : next
    }

    /// Gives the file a second name, so that its first name exists until another file replaces it there. If that fails, for
    /// example for a directory or without hard links, renames the file instead.
    func keep(_ name: String, as aside: String) throws(Errno) {
        do {
            try System.link(at: descriptor.raw, name, to: descriptor.raw, aside)
        } catch {
            try System.rename(at: descriptor.raw, name, to: descriptor.raw, aside)
        }
    }
}
