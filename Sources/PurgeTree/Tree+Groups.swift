import PurgeModel

// Groups: directories whose files are purged together. A file's nearest ancestor directory with a value of purgeGroup decides:
// if the value is true, the file belongs to that directory's group; if it is false, to none. A hard-linked file belongs to no
// group.
extension Tree {
    /// Sets a directory's own values of purgeGroup and purgeTombstone.
    mutating func setBehaviour(_ behaviour: PurgeBehaviour, of directory: Node) {
        guard directory.isDirectory else { return }
        if behaviour.isGroup == true, directory.behaviour.isGroup != true {
            // Files of an earlier group must have left before a new one begins. On a mount they have: the kernel changes one
            // attribute of a directory at a time, and the call that removed the group has visited all of its files.
            while directory.hasVictimsOfGroup, !isPlaced { place() }
            directory.part?.units = []
        }
        directory.take(behaviour)
    }
}

extension Node {
    /// The `nearestGroup` that follows from the directory's attributes and current place.
    var groupByNames: Node? {
        guard let isGroup = behaviour.isGroup else { return parent?.nearestGroup }
        return isGroup ? self : nil
    }

    /// Whether any unit of the directory has victims.
    fileprivate var hasVictimsOfGroup: Bool { part?.units.contains { !$0.isEmpty } ?? false }

    /// Whether any victim in the directory is in a group other than the directory's current one.
    var hasVictimsOfOtherGroup: Bool {
        guard let victims = part?.victims, !victims.isEmpty else { return false }
        let group = nearestGroup
        return victims.contains { $0.part?.unit.directory !== group }
    }
}
