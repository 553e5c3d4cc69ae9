import PurgeSystem

/// What `purgefs check` finds in a store apart from the app's files: the folders of the
/// layout, device.json and the journal.
public struct StoreInspection: Sendable {
    /// In the order in which they were found; `repair` is set for those that have been repaired.
    public let problems: [StoreProblem]

    /// Holds the store's lock meanwhile. Without `repairing`, nothing is changed. With it, damaged
    /// files are kept aside under other names and never removed.
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
    /// A name for a damaged file, with a number that no earlier repair has used.
    func nameAside(for name: String) throws(StoreError) -> String {
        let names = try names()
        var number = 1
        while names.contains(where: { $0 == "\(name).damaged-\(number)" || $0.hasPrefix("\(name).damaged-\(number)-") })
        {
            number += 1
        }
        return "\(name).damaged-\(number)"
    }

    /// Gives the file a second name, so that the first exists at every moment until it is replaced; what
    /// cannot have two names (a directory, or a file on a file system without hard links) is renamed.
    func keep(_ name: String, as aside: String) throws(Errno) {
        do {
            try System.link(at: descriptor.raw, name, to: descriptor.raw, aside)
        } catch {
            try System.rename(at: descriptor.raw, name, to: descriptor.raw, aside)
        }
    }
}
