import PurgeModel

// Directories that are purged as one. A file belongs to the nearest directory above it that says whether it is one, if it
// is.
extension Tree {
    /// The directory gets other values of its own.
    mutating func setBehaviour(_ behaviour: PurgeBehaviour, of directory: Node) {
        guard directory.isDirectory else { return }
        if behaviour.isGroup == true, directory.behaviour.isGroup != true {
            // A group begins anew, so files of an earlier one must have left it. On a mount they have: the kernel changes one
            // attribute of a directory at a time, and the call that removed the group has visited all of them.
            while directory.hasVictimsOfGroup, !isPlaced { place() }
            directory.part?.units = []
        }
        directory.take(behaviour)
    }
}

extension Node {
    /// What `nearestGroup` is where the directory is now.
    var groupByNames: Node? {
        guard let isGroup = behaviour.isGroup else { return parent?.nearestGroup }
        return isGroup ? self : nil
    }

    /// Whether its units have victims.
    fileprivate var hasVictimsOfGroup: Bool { part?.units.contains { !$0.isEmpty } ?? false }

    /// Whether victims in the directory are in another group than it is now.
    var hasVictimsOfOtherGroup: Bool {
        guard let victims = part?.victims, !victims.isEmpty else { return false }
        let group = nearestGroup
        return victims.contains { $0.part?.unit.directory !== group }
    }
}
