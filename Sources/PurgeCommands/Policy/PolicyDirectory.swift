import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// A directory of a container that has or gets a policy: in a mount, or in the container/ of a store.
struct PolicyDirectory {
    /// The name as the user gave it.
    private let name: String
    private let entry: ContainerEntry
    private var directory: FileDescriptor { entry.descriptor }
    /// The path without symbolic links and `..`.
    let path: String
    /// Whether the directory was missing and has been created.
    let isNew: Bool

    /// Opens the directory. With `making`, creates it and the directories above it if they are missing.
    init(_ name: String, making: Bool) throws(CommandFailure) {
        self.name = name
        let (above, missing) = try Self.find(name)
        guard missing.isEmpty || making else {
            throw CommandFailure("cannot change the policy", path: name, Errno.noEntry)
        }
        (path, isNew) = (missing.reduce(above) { $0 == "/" ? "/" + $1 : $0 + "/" + $1 }, !missing.isEmpty)
        guard let nearest = try ContainerEntry(above, named: name, for: "cannot change the policy") else {
            throw CommandFailure(
                "cannot change the policy", path: name, "it is not in a container",
                advice: "Name a path in a mount, or in the container/ of a store.")
        }
        entry = try Self.make(missing, below: nearest, name)
    }

    /// Finds the nearest existing directory, and the missing names below it.
    private static func find(_ name: String) throws(CommandFailure) -> (above: String, missing: [String]) {
        var missing: [String] = []
        var path = name
        while true {
            do throws(Errno) {
                return (try System.resolved(path), missing)
            } catch {
                guard error == .noEntry, let last = path.pathNames.last, last != "..", last != "." else {
                    throw CommandFailure("cannot change the policy", path: name, error)
                }
                missing.insert(last, at: 0)
                path = path.parentPath
            }
        }
    }

    /// Creates the directories in `missing`, each in the one before it. If root creates them, they belong to the owner of the
    /// nearest existing one, where possible.
    private static func make(
        _ missing: [String], below nearest: ContainerEntry, _ name: String
    ) throws(CommandFailure) -> ContainerEntry {
        do throws(Errno) {
            var directory = nearest.descriptor
            let owner = try System.status(directory.raw)
            for name in missing {
                do throws(Errno) {
                    try System.makeDirectory(at: directory.raw, name, mode: 0o755, for: owner.st_uid, owner.st_gid)
                } catch .exists {}
                directory = try directory.open(name, System.openPath | O_DIRECTORY)
            }
            guard try System.status(directory.raw).isDirectoryFile else { throw .notDirectory }
            return missing.isEmpty ? nearest : nearest.below(missing.joined(separator: "/"), directory)
        } catch .notDirectory {
            throw CommandFailure("only a directory can have a policy", path: name, Errno.notDirectory)
        } catch {
            throw CommandFailure("cannot \(missing.isEmpty ? "open" : "make") the directory", path: name, error)
        }
    }

    func set(_ values: [OfflineMarks.Mark]) throws(CommandFailure) {
        for (attribute, value) in values {
            do throws(Errno) { try entry.set(attribute, value) } catch {
                throw CommandFailure("cannot set \(attribute.storeKey)=\(value)", path: name, error)
            }
        }
        try record(values.map { ($0.attribute, $0.value) })
    }

    func removePolicy() throws(CommandFailure) {
        var removed: [StorageAttribute] = []
        for attribute in StorageAttribute.allCases where attribute.isOfPolicy {
            do throws(Errno) {
                try System.removeAttribute(at: directory.raw, nil, attribute.storeKey)
                removed.append(attribute)
            } catch .noData {} catch {
                throw CommandFailure("cannot remove \(attribute.storeKey)", path: name, error)
            }
        }
        guard !removed.isEmpty else {
            throw CommandFailure(
                "nothing to remove", path: name, "it has no policy",
                advice: "To list the directories that have one: purgefs policy list.")
        }
        try record(removed.map { ($0, nil) })
    }

    private func record(_ values: [(StorageAttribute, String?)]) throws(CommandFailure) {
        do throws(StoreError) { try entry.record(values.map { (attribute: $0.0, value: $0.1) }) } catch {
            throw CommandFailure("cannot record the policy", error)
        }
    }
}
