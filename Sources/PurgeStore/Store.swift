import Glibc
import PurgeSystem
import Synchronization

/// A directory that holds one simulated app container between mounts (docs/RULES.md, Words): `container/`, `device.json`,
/// `journal.sqlite`, and `extents/` if a file needed it. The owner of this object has the store to itself, unless the store was
/// opened for copying.
public final class Store: Sendable {
    let place: StoreDirectory
    /// `container/`: the app's files.
    public let container: FileDescriptor
    /// Whether opening the store created it.
    public let isNew: Bool
    /// The state of the store before it was opened.
    public let before: StoreBefore
    /// Whether the store is removed when the processes that use it have ended.
    public var isTemporary: Bool { place.isTemporary }
    /// Whether the store was opened only for reading, so that nothing in it may change.
    public let isForReading: Bool

    /// The path as it was given.
    public var path: String { place.path }
    /// The path with symbolic links resolved.
    public var absolutePath: String { place.absolutePath }
    /// The store's directory. Its descriptor holds the lock until this object is destroyed.
    public var directory: FileDescriptor { place.descriptor }

    /// The note that exists while a reboot, an update or a deletion removes files, and stays if the removal is interrupted.
    public var removalNote: RemovalNote { RemovalNote(place: place) }
    public var purged: PurgedFolders { PurgedFolders(place: place) }

    /// Folders of a new container, parents first.
    public static var folders: [String] { ContainerLayout.folders }
    /// The owner of the store, and of the entries that purgefs creates in it.
    public var owner: (user: uid_t, group: gid_t) {
        get throws(Errno) { try place.owner }
    }

    /// Gives the container, which has been emptied, to the store's owner.
    public func giveContainerToOwner() { place.giveToOwner(container.raw) }

    let settings = Mutex(KnownSettings())
    private let extents = Mutex<FileDescriptor?>(nil)
    /// Sidecars that could not be removed yet. The mutex is locked while they are removed, so that a sidecar that another
    /// thread has recreated is not removed.
    let leftSidecars = Mutex<Set<String>>([])

    private init(
        _ place: StoreDirectory, container: FileDescriptor, before: StoreBefore, isForReading: Bool = false
    ) {
        self.place = place
        self.container = container
        self.before = before
        isNew = before.isEmpty
        self.isForReading = isForReading
    }

    /// Opens a store and takes its lock (flock on the directory). With `creating`, creates the directory and the missing parts
    /// of the container's layout; otherwise creates neither. A directory with foreign entries is never turned into a store. If
    /// opening fails, removes everything that it has created.
    ///
    /// `start` is the directory that names the start to which this opening belongs. A store in that directory is removed
    /// together with the directory. A store with the start's mark is not checked again, because that start has checked the
    /// store and no other process has changed it since. `expected` is the directory that must be found, or `.new` if there was
    /// none: the owner of the folder above may have exchanged the directory.
    public static func open(
        _ path: String, creating: Bool, start: String? = nil, expected: ExpectedStore? = nil
    ) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path, creating: creating, expected: expected).belonging(to: start)
        let (before, isPrepared): (StoreBefore, Bool)
        do throws(StoreError) {
            try place.lock()
            isPrepared = start.map { StartMark.isSet($0, on: place.descriptor) } ?? false
            before = try StoreBefore(place, isPrepared: isPrepared)
        } catch {
            if place.isMade { StoreDirectory.removeEmpty(place.absolutePath) }
            throw error
        }
        do throws(StoreError) {
            if isPrepared {
                let container = try ContainerLayout(place: place).container(openingUp: true)
                return Store(place, container: container, before: before)
            }
            return try open(place, before, creating: creating, start: start)
        } catch {
            if creating { before.restore(place.descriptor) }
            throw error
        }
    }

    /// Creates a store in a directory that is now at the absolute path `path`, and whose lock the caller holds.
    public static func make(in directory: FileDescriptor, path: String) throws(StoreError) -> Store {
        let place = StoreDirectory(path: path, absolutePath: path, descriptor: directory, isMade: false)
        return try open(place, try StoreBefore(place), creating: true, start: nil)
    }

    private static func open(
        _ place: StoreDirectory, _ before: StoreBefore, creating: Bool, start: String?
    ) throws(StoreError) -> Store {
        try place.refuseForeign(before.names, creating: creating)
        // In a new directory, the files made in it show whether it can be written.
        if !place.isMade { try place.probeWriting() }
        try place.endOtherStarts(than: start)
        let layout = ContainerLayout(place: place)
        if creating {
            try place.makePrivate()
            try layout.make()
        }
        let container = try layout.container(openingUp: true)
        try place.probeAttributes(on: container)
        return Store(place, container: container, before: before)
    }

    /// Removes the parts of the store that were created since it was opened, for a failed mount.
    public func withdraw() { before.restore(directory) }

    /// Leaves the mark of a start that now releases the store. The start's daemon then opens the store as part of the same
    /// start. Until `StoreBefore.restore(after:)` or `StoreBefore.keep(after:)` is called, the start can still remove the files
    /// that it has created.
    public func leaveMark(of start: String) { StartMark.set(start, on: directory) }

    /// Opens a store only for reading, and takes its lock. Nothing in it changes, so it may be on a file system that is mounted
    /// read-only. With `forCopying`, several copying processes can hold the lock at once, and no process can mount the store
    /// meanwhile.
    public static func openForReading(
        _ path: String, forCopying: Bool = false, expected: ExpectedStore? = nil
    ) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path, expected: expected)
        try place.lock(forCopying: forCopying)
        let before = try StoreBefore(place)
        try place.refuseForeign(before.names, creating: false)
        return Store(
            place, container: try ContainerLayout(place: place).container(), before: before, isForReading: true)
    }

    /// Restricts the store to its owner (`StoreDirectory.makePrivate`). `container/` keeps its mode, which the root of the
    /// mount shows.
    public func makePrivate() throws(StoreError) { try place.makePrivate() }

    /// Opens STORE/extents, which has one sidecar for each list of extents too long for an attribute. Throws ENOENT if there is
    /// no such folder, unless `making` creates it.
    func sidecars(making: Bool) throws(Errno) -> FileDescriptor {
        try extents.withLock { (cached) throws(Errno) in
            if let cached { return cached }
            if making {
                do throws(Errno) {
                    try place.makeFolder(StoreDirectory.extentsName, in: directory, mode: 0o700)
                    try System.sync(directory.raw)
                } catch .exists {
                    // An earlier mount made it.
                }
            }
            let opened = try directory.open(StoreDirectory.extentsName, O_RDONLY | O_DIRECTORY)
            cached = opened
            return opened
        }
    }
}
