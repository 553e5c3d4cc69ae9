import Glibc
import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// A file or folder that a command changes: in a mount, or in the container/ of a store. The descriptor is opened name by name
/// from the root or the store's container, without following links, and every operation uses it. So if the app or the store's
/// owner replaces a name meanwhile, the operations still apply to the opened entry.
package struct ContainerEntry {
    /// A descriptor with O_PATH.
    package let descriptor: FileDescriptor
    /// For an entry in a store that is not mounted: the locked store, and the path in its container.
    private let stored: (store: OfflineMarks, inner: [UInt8])?

    /// Opens an entry. `path` is absolute and resolved; `name` is the user's spelling of it, and `what` begins a message, such
    /// as `cannot set`. Returns nil if the path is not in a container.
    package init?(_ path: String, named name: String, for what: String) throws(CommandFailure) {
        if try Target.mount(holding: path) != nil {
            self.init(try Self.open(path.utf8, from: nil, name, what), nil)
        } else if let place = StoredPlace(path.utf8) {
            if let mount = Target.mount(ofStore: place.store) {
                let there = Array("\(mount)/".utf8) + place.inner
                self.init(try Self.open(there, from: nil, name, what), nil)
            } else {
                let store: OfflineMarks
                do throws(StoreError) { store = try OfflineMarks(storePath: place.store) } catch {
                    throw CommandFailure(what, error)
                }
                self.init(try Self.open(place.inner, from: store.container, name, what), (store, place.inner))
            }
        } else {
            return nil
        }
    }

    private init(_ descriptor: FileDescriptor, _ stored: (store: OfflineMarks, inner: [UInt8])?) {
        (self.descriptor, self.stored) = (descriptor, stored)
    }

    private static func open(
        _ path: some Collection<UInt8>, from folder: FileDescriptor?, _ name: String, _ what: String
    ) throws(CommandFailure) -> FileDescriptor {
        do throws(Errno) { return try FileDescriptor.openWithoutLinks(path, from: folder) } catch {
            guard error == .notDirectory || error == Errno(ELOOP) else {
                throw CommandFailure(what, path: name, error)
            }
            throw CommandFailure(
                what, path: name, "another process replaced a part of the path meanwhile",
                advice: "Nothing was changed. Try again when no program changes it.")
        }
    }

    /// Returns another entry of the same container, at `path` below this one.
    package func below(_ path: String, _ descriptor: FileDescriptor) -> ContainerEntry {
        let inner = stored.map { $0.inner + ($0.inner.isEmpty ? "" : "/").utf8 + Array(path.utf8) }
        return ContainerEntry(descriptor, stored.flatMap { stored in inner.map { (stored.store, $0) } })
    }

    package func set(_ attribute: StorageAttribute, _ value: String) throws(Errno) {
        try System.setAttribute(at: descriptor.raw, nil, attribute.storeKey, Array(value.utf8))
    }

    /// Records in the journal of a store that is not mounted which attributes were set, or removed if the value is nil. Does
    /// nothing for a mount, whose daemon records them.
    package func record(_ changes: [(attribute: StorageAttribute, value: String?)]) throws(StoreError) {
        if let stored { try stored.store.record(changes: changes, at: stored.inner) }
    }
}
