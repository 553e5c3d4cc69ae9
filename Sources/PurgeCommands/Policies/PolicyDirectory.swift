import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// A directory of a container that has or gets a policy: in a mount, or in the container/ of a store.
struct PolicyDirectory {
    /// As the user named it.
    private let name: String
    /// Absolute.
    private let path: String
    /// In a store that is not mounted: the store, which is locked, and the path in its container.
    private let stored: (store: OfflineMarks, inner: [UInt8])?

    /// With `making` it is made if it is missing, with the directories above it.
    init(_ name: String, making: Bool) throws(CommandFailure) {
        self.name = name
        let (above, missing) = try Self.find(name)
        guard missing.isEmpty || making else { throw CommandFailure("no directory", path: name, Errno.noEntry) }
        if try Target.mount(holding: above) != nil {
            (path, stored) = (try Self.make(missing, in: above, name), nil)
        } else if let place = StoredPlace(above.utf8) {
            if let mount = Target.mount(ofStore: place.store) {
                let there = place.inner.isEmpty ? mount : mount + "/" + place.innerText
                (path, stored) = (try Self.make(missing, in: there, name), nil)
            } else {
                let store = try Self.open(place.store)
                path = try Self.make(missing, in: above, name)
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

    /// They belong to the owner of the directory that they are made in, even if root makes them.
    private static func make(_ names: [String], in above: String, _ name: String) throws(CommandFailure) -> String {
        var path = above
        do throws(Errno) {
            let owner = try System.status(ofPath: above)
            for name in names {
                path += "/" + name
                do throws(Errno) { try System.makeDirectory(at: AT_FDCWD, path, mode: 0o755) } catch .exists {
                    continue
                }
                if geteuid() == 0, owner.st_uid != 0 {
                    try System.changeOwner(at: AT_FDCWD, path, owner.st_uid, owner.st_gid)
                }
            }
        } catch { throw CommandFailure("cannot make the directory", path: name, error) }
        return path
    }

    private static func open(_ store: String) throws(CommandFailure) -> OfflineMarks {
        do throws(StoreError) {
            return try OfflineMarks(storePath: store)
        } catch { throw CommandFailure("cannot open the store", error) }
    }

    func set(_ values: [OfflineMarks.Mark]) throws(CommandFailure) {
        try checkIsDirectory()
        for (attribute, value) in values {
            do throws(Errno) { try System.setAttribute(ofPath: path, attribute.storeKey, value) } catch {
                throw CommandFailure("cannot set \(attribute.storeKey)=\(value)", path: name, error)
            }
        }
        try record(values.map { ($0.attribute, $0.value) })
    }

    func removePolicy() throws(CommandFailure) {
        try checkIsDirectory()
        var removed: [StorageAttribute] = []
        for attribute in StorageAttribute.allCases where attribute.isForDirectoriesOnly {
            do throws(Errno) {
                let directory = try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY)
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

    private func checkIsDirectory() throws(CommandFailure) {
        do throws(Errno) {
            guard try System.status(ofPath: path).st_mode & S_IFMT == S_IFDIR else { throw .notDirectory }
        } catch { throw CommandFailure("only a directory can have a policy", path: name, error) }
    }

    private func record(_ values: [(StorageAttribute, String?)]) throws(CommandFailure) {
        guard let stored else { return }
        do throws(StoreError) {
            try stored.store.record(changes: values.map { (attribute: $0.0, value: $0.1) }, at: stored.inner)
        } catch { throw CommandFailure("cannot record the policy", error) }
    }
}
