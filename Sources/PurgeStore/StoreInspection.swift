import PurgeSystem

/// What `purgefs check` finds in a store apart from the files themselves: the folders of the
/// layout, device.json and the journal.
public struct StoreInspection: Sendable {
    /// In the order in which they were found; with `repair` set where they have been mended.
    public let problems: [StoreProblem]

    /// Holds the store's lock meanwhile. Without `repairing` nothing is changed. With it, what is
    /// damaged is kept aside under a name of its own, never removed.
    public static func run(_ storePath: String, repairing: Bool) throws(StoreError) -> StoreInspection {
        let place = try StoreDirectory.open(storePath)
        try place.lock()
        try place.refuseForeign(try place.names(), creating: false)
        if repairing {
            try place.probeWriting()
            try place.endOtherStarts()
        }
        var problems = try place.inspectLayout(repairing: repairing)
        if let problem = try place.inspectSettings(repairing: repairing) { problems.append(problem) }
        if let problem = try place.inspectJournal(repairing: repairing) { problems.append(problem) }
        return StoreInspection(problems: problems)
    }
}

extension StoreDirectory {
    /// A name for what is damaged, with a number that no earlier repair has used.
    func nameAside(for name: String) throws(StoreError) -> String {
        let names = try names()
        var number = 1
        while names.contains(where: { $0 == "\(name).damaged-\(number)" || $0.hasPrefix("\(name).damaged-\(number)-") })
        {
            number += 1
        }
        return "\(name).damaged-\(number)"
    }

    /// By a second name, so that the first one is there at every moment until it is replaced; what
    /// cannot have two (a directory, or a file where there are no hard links) is renamed.
    func keep(_ name: String, as aside: String) throws(Errno) {
        do {
            try System.link(at: descriptor.raw, name, to: descriptor.raw, aside)
        } catch {
            try System.rename(at: descriptor.raw, name, to: descriptor.raw, aside)
        }
    }
}
