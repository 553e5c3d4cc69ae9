import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// A directory of a container that has or gets a policy: in a mount, or in the container/ of a store.
struct PolicyDirectory {
    /// As the user named it.
    private let name: String
    private let directory: FileDescriptor
    /// Without symbolic links and `..`.
    let path: String
    /// Whether it was missing, and was made.
    let isNew: Bool
    /// In a store that is not mounted: the store, which is locked, and the path in its container.
    private let stored: (store: OfflineMarks, inner: [UInt8])?

    /// With `making` it is made if it is missing, with the directories above it.
    init(_ name: String, making: Bool) throws(CommandFailure) {
        self.name = name
        let (above, missing) = try Self.find(name)
        guard missing.isEmpty || making else { throw CommandFailure("no directory", path: name, Errno.noEntry) }
        (path, isNew) = (missing.reduce(above) { $0 == "/" ? "/" + $1 : $0 + "/" + $1 }, !missing.isEmpty)
        if try Target.mount(holding: above) != nil {
            (directory, stored) = (try Self.open(above, making: missing, name), nil)
        } else if let place = StoredPlace(above.utf8) {
            if let mount = Target.mount(ofStore: place.store) {
                let there = place.inner.isEmpty ? mount : mount + "/" + place.innerText
                (directory, stored) = (try Self.open(there, making: missing, name), nil)
            } else {
                let store = try Self.openStore(place.store)
                directory = try Self.open(above, making: missing, name)
                let names = missing.flatMap { [UInt8(ascii: "/")] + Array($0.utf8) }
                stored = (store, place.inner.isEmpty ? Array(names.dropFirst()) : place.inner + names)
            }
        } else {
            throw CommandFailure(
                "no directory of an app", path: name, "it is not in a container",
                advice: "Name a path in a mount, or in the container/ of a store.")
        }
    }

    /// The nearest directory that exists, and the names below it that do not.
    private static func find(_ name: String) throws(CommandFailure) -> (above: String, missing: [String]) {
        var missing: [String] = []
        var path = name
        while true {
            do throws(Errno) {
                return (try System.resolved(path), missing)
            } catch {
                guard error == .noEntry, let last = path.pathNames.last, last != "..", last != "." else {
                    throw CommandFailure("no directory", path: name, error)
                }
                missing.insert(last, at: 0)
                path = path.parentPath
            }
        }
    }

    /// The names in `missing` are made below `above`, which has no symbolic link in it, and belong to the owner of `above`
    /// even if root makes them. Each directory is opened in the one before it: what an app puts in the place of one
    /// meanwhile is not followed.
    private static func open(
        _ above: String, making missing: [String], _ name: String
    ) throws(CommandFailure) -> FileDescriptor {
        do throws(Errno) {
            var directory = try FileDescriptor.open("/", System.openPath | O_DIRECTORY)
            for name in above.pathNames { directory = try directory.open(name, System.openPath) }
            let owner = try System.status(directory.raw)
            for name in missing { directory = try make(name, in: directory, for: owner) }
            guard try System.status(directory.raw).st_mode & S_IFMT == S_IFDIR else { throw .notDirectory }
            return directory
        } catch .notDirectory {
            throw CommandFailure("only a directory can have a policy", path: name, Errno.notDirectory)
        } catch {
            throw CommandFailure("cannot \(missing.isEmpty ? "open" : "make") the directory", path: name, error)
        }
    }

    private static func make(
        _ name: String, in directory: FileDescriptor, for owner: FileStatus
    ) throws(Errno) -> FileDescriptor {
        do throws(Errno) { try System.makeDirectory(at: directory.raw, name, mode: 0o755) } catch .exists {
            return try directory.open(name, System.openPath | O_DIRECTORY)
        }
        let made = try directory.open(name, O_RDONLY | O_DIRECTORY)
        // Something else of root's may be there by now.
        if geteuid() == 0, owner.st_uid != 0, try made.names().isEmpty {
            try System.changeOwner(made.raw, owner.st_uid, owner.st_gid)
        }
        return made
    }

    private static func openStore(_ store: String) throws(CommandFailure) -> OfflineMarks {
        do throws(StoreError) {
            return try OfflineMarks(storePath: store)
        } catch { throw CommandFailure("cannot open the store", error) }
    }

    func set(_ values: [OfflineMarks.Mark]) throws(CommandFailure) {
        for (attribute, value) in values {
            do throws(Errno) { try set(attribute, value) } catch {
                throw CommandFailure("cannot set \(attribute.storeKey)=\(value)", path: name, error)
            }
        }
        try record(values.map { ($0.attribute, $0.value) })
    }

    private func set(_ attribute: StorageAttribute, _ value: String) throws(Errno) {
        var value = value
        try value.withUTF8 { bytes in
            Result { () throws(Errno) in
                try System.setAttribute(at: directory.raw, nil, attribute.storeKey, UnsafeRawBufferPointer(bytes))
            }
        }.get()
    }

    func removePolicy() throws(CommandFailure) {
        var removed: [StorageAttribute] = []
        for attribute in StorageAttribute.allCases where attribute.isForDirectoriesOnly {
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
                advice: "`purgefs policy list` shows those that have.")
        }
        try record(removed.map { ($0, nil) })
    }

    private func record(_ values: [(StorageAttribute, String?)]) throws(CommandFailure) {
        guard let stored else { return }
        do throws(StoreError) {
            try stored.store.record(changes: values.map { (attribute: $0.0, value: $0.1) }, at: stored.inner)
        } catch { throw CommandFailure("cannot record the policy", error) }
    }
}
