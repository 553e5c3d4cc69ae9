import Glibc
import PurgeSystem
import Synchronization

/// A directory that holds one simulated app container between mounts (SPEC section 1, Store):
/// `container/`, `device.json`, `journal.sqlite`, and `extents/` where a file needed it.
/// Whoever has this object has the store to itself.
public final class Store: Sendable {
    let place: StoreDirectory
    /// `container/`: the app's files.
    public let container: FileDescriptor
    /// Whether this call made the store.
    public let isNew: Bool
    /// Whether it was opened to be looked at alone: nothing in it may change.
    public let isForReading: Bool

    /// As it was given.
    public var path: String { place.path }
    /// With symbolic links resolved.
    public var absolutePath: String { place.absolutePath }
    /// The store itself; carries the lock until this object dies.
    public var directory: FileDescriptor { place.descriptor }

    /// Whether device.json is known to be readable or missing, so that it may be replaced.
    let maySaveSettings = Mutex(false)
    private let extents = Mutex<FileDescriptor?>(nil)

    private init(_ place: StoreDirectory, container: FileDescriptor, isNew: Bool, isForReading: Bool = false) {
        self.place = place
        self.container = container
        self.isNew = isNew
        self.isForReading = isForReading
    }

    /// Opens a store and takes its lock (flock on the directory). With `creating`, makes the
    /// directory and whatever is missing of the container's layout; without, changes nothing.
    /// A directory with other things in it is never adopted.
    public static func open(_ path: String, creating: Bool) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path, creating: creating)
        try place.lock()
        let names = try place.names()
        try place.refuseForeign(names, creating: creating)
        try place.probeWriting()
        if creating {
            try place.makePrivate()
            try place.makeLayout()
        }
        let container = try place.container(openingUp: true)
        try place.probeAttributes(on: container)
        let isNew = !names.contains("container") && !names.contains(StoreDirectory.settingsName)
        return Store(place, container: container, isNew: isNew)
    }

    /// Opens a store and takes its lock, to look at it alone: nothing in it changes, so that it may
    /// also lie on a file system that is mounted read-only.
    public static func openForReading(_ path: String) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path)
        try place.lock()
        try place.refuseForeign(try place.names(), creating: false)
        return Store(place, container: try place.container(), isNew: false, isForReading: true)
    }

    /// Nobody but its owner reaches what is in the store: the directory is 0700, the files of our
    /// own 0600. `container/` keeps its mode, which the root of the mount shows.
    public func makePrivate() throws(StoreError) { try place.makePrivate() }

    /// STORE/extents: one sidecar for each list of extents that is too long for an attribute.
    /// ENOENT where there is none; `making` makes it.
    func sidecars(making: Bool) throws(Errno) -> FileDescriptor {
        try extents.withLock { (cached) throws(Errno) in
            if let cached { return cached }
            if making {
                do throws(Errno) {
                    try System.makeDirectory(at: directory.raw, StoreDirectory.extentsName, mode: 0o700)
                    try System.sync(directory.raw)
                } catch .exists {
                    // Made by an earlier mount.
                }
            }
            let opened = try directory.open(StoreDirectory.extentsName, O_RDONLY | O_DIRECTORY)
            cached = opened
            return opened
        }
    }
}
