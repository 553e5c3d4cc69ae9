import Glibc
import PurgeSystem
import Synchronization

/// A directory that holds one simulated app container between mounts (docs/RULES.md, Words):
/// `container/`, `device.json`, `journal.sqlite`, and `extents/` if a file needed it.
/// The owner of this object has the store to itself.
public final class Store: Sendable {
    let place: StoreDirectory
    /// `container/`: the app's files.
    public let container: FileDescriptor
    /// Whether this call made the store.
    public let isNew: Bool
    /// What was there before this call.
    public let before: StoreBefore
    /// Whether it goes when the processes that use it have ended.
    public var isTemporary: Bool { place.isTemporary }
    /// Whether it was opened only for reading: nothing in it may change.
    public let isForReading: Bool

    /// As it was given.
    public var path: String { place.path }
    /// With symbolic links resolved.
    public var absolutePath: String { place.absolutePath }
    /// The store itself; it holds the lock until this object is destroyed.
    public var directory: FileDescriptor { place.descriptor }

    /// Whether a command is removing files, or was interrupted in that.
    public var removalNote: RemovalNote { RemovalNote(place: place) }

    /// Folders of a new container, each after its parent.
    public static var folders: [String] { ContainerLayout.folders }
    /// To whom it belongs, and what is made in it.
    public var owner: (user: uid_t, group: gid_t) {
        get throws(Errno) { try place.owner }
    }

    /// Gives the container, which has been emptied, to the store's owner.
    public func giveContainerToOwner() { place.giveToOwner(container.raw) }

    let settings = Mutex(KnownSettings())
    private let extents = Mutex<FileDescriptor?>(nil)
    /// Sidecars that could not be removed yet. Held while they are removed, so that none is removed that another thread
    /// has made again.
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

    /// Opens a store and takes its lock (flock on the directory). With `creating`, makes the directory
    /// and whatever is missing of the container's layout; without it, changes nothing. A directory with other
    /// things in it is never turned into a store. If this fails, what was made is removed again.
    /// `start` is the name of the start that this is a part of: a directory of its own. A store in there is removed with it,
    /// and one that has its mark was checked by it, and has been left alone since. `known` is the directory that has to be
    /// there, if it was there before: the owner of the folder above can have exchanged it.
    public static func open(
        _ path: String, creating: Bool, start: String? = nil, known: FileIdentity? = nil
    ) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path, creating: creating, known: known).belonging(to: start)
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

    /// Makes a store in a directory whose lock the caller has, and which is at `path` now.
    public static func make(in directory: FileDescriptor, path: String) throws(StoreError) -> Store {
        let place = StoreDirectory(path: path, absolutePath: path, descriptor: directory, isMade: false)
        return try open(place, try StoreBefore(place), creating: true, start: nil)
    }

    private static func open(
        _ place: StoreDirectory, _ before: StoreBefore, creating: Bool, start: String?
    ) throws(StoreError) -> Store {
        try place.refuseForeign(before.names, creating: creating)
        // What is made in a new directory shows whether it can be written.
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

    /// For a mount that has failed: removes what was made of the store since it was opened.
    public func withdraw() { before.restore(directory) }

    /// Leaves the name of a start that releases the store now and whose daemon opens it under the same name. Until
    /// `StoreBefore.restore(after:)` or `StoreBefore.keep(after:)`, that start can remove what it has made.
    public func leaveMark(of start: String) { StartMark.set(start, on: directory) }

    /// Opens a store only for reading, and takes its lock: nothing in it changes, so it may be on a file system that is
    /// mounted read-only. Several processes at the same time can have it `forCopying`, and none can mount it meanwhile.
    public static func openForReading(
        _ path: String, forCopying: Bool = false, known: FileIdentity? = nil
    ) throws(StoreError) -> Store {
        let place = try StoreDirectory.open(path, known: known)
        try place.lock(forCopying: forCopying)
        let before = try StoreBefore(place)
        try place.refuseForeign(before.names, creating: false)
        return Store(
            place, container: try ContainerLayout(place: place).container(), before: before, isForReading: true)
    }

    /// Only its owner can reach what is in the store: the directory is 0700, our own files are
    /// 0600. `container/` keeps its mode, which the root of the mount shows.
    public func makePrivate() throws(StoreError) { try place.makePrivate() }

    /// STORE/extents: one sidecar for each list of extents that is too long for an attribute.
    /// ENOENT if there is no such folder; `making` makes it.
    func sidecars(making: Bool) throws(Errno) -> FileDescriptor {
        try extents.withLock { (cached) throws(Errno) in
            if let cached { return cached }
            if making {
                do throws(Errno) {
                    try place.makeFolder(StoreDirectory.extentsName, in: directory, mode: 0o700)
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
