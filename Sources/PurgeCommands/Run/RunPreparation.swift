import Glibc
import PurgeBackup
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The parts prepared for a run: its temporary directory, its store and its mount point.
struct RunPreparation {
    let area: RunArea
    let store: String
    let mountpoint: String
    /// The directory of the store.
    let directory: KnownDirectory
    /// The last sequence number in the store's journal.
    let lastSequence: Int64
    /// How many writes the store had refused before the run.
    let refusedBefore: Int64
    private let before: StoreBefore
    /// The store that the user named, if it was created as a copy.
    private let copied: NewStore?
    var isCopied: Bool { copied != nil }
    /// Removes leftovers of earlier runs.
    let cleaning: RunCleaning

    /// Removes everything that was created for the run, including a new store that the user named.
    func withdraw() throws(CommandFailure) {
        cleaning.join()
        if let copied { copied.withdraw() } else { before.restore(after: area.root) }
        try area.remove()
    }

    /// Removes everything that was created for the run, except a store that the user named. A copy that COMMAND has not seen is
    /// removed too, because it is useless and would block the next attempt.
    func end(hasRun: Bool) throws(CommandFailure) {
        if copied != nil, !hasRun { return try withdraw() }
        cleaning.join()
        before.keep(after: area.root)
        try area.remove()
    }

    /// Prepares a run. `named` is the user's store, if any. Without one, the store is in the first directory for temporary
    /// files that can hold it. With an origin, the store is new and begins as a copy of it. The first content of a new store is
    /// created with `protection` as the default class.
    static func make(
        store named: NamedStore?, copyOf origin: CopyOrigin?, protection: FileProtection?, allowsOther: Bool
    ) throws(CommandFailure) -> RunPreparation {
        var refusals = Refusals()
        let surroundings = Surroundings(mounts: MountEntry.all())
        let places = RunArea.mountPlaces(surroundings)
        let mountPlaces = RunArea.mayChoosePlace(allowsOther: allowsOther) ? places : []
        for directory in RunArea.candidates(surroundings) where refusals.allow(directory) {
            let area: RunArea
            do throws(CommandFailure) {
                area = try RunArea.make(in: directory, mountingIn: mountPlaces)
            } catch {
                refusals.add(error, in: directory, .directory)
                continue
            }
            var copied: NewStore?
            do throws(CommandFailure) {
                if let origin {
                    do throws(StoreError) { copied = try copy(origin, to: named, area) } catch {
                        let failure = CommandFailure("cannot fill the container", error)
                        if named != nil || error.reach == .everywhere || System.endSignal() != nil { throw failure }
                        try area.remove()
                        refusals.add(failure, in: directory, error.reach)
                        continue
                    }
                }
                return try RunPreparation(
                    area, store: named, copied, protection, RunCleaning(directory, mounts: places))
            } catch {
                copied?.withdraw()
                try area.remove()
                if named != nil || origin != nil || System.endSignal() != nil { throw error }
                refusals.add(error, in: directory, .directory)
            }
        }
        throw refusals.first
            ?? CommandFailure(
                "cannot make a temporary directory", path: "/tmp", "no directory for it is outside of containers",
                advice: "Set TMPDIR to a directory that can be written.")
    }

    /// Why directories for temporary files were not suitable.
    private struct Refusals {
        private(set) var first: CommandFailure?
        /// File systems that are full, or fail as a whole for another reason.
        private var devices: Set<Int64> = []

        mutating func add(_ failure: CommandFailure, in directory: String, _ reach: StoreError.Reach) {
            first = first ?? failure
            if reach == .fileSystem, let device = Self.device(of: directory) { devices.insert(device) }
        }

        func allow(_ directory: String) -> Bool {
            devices.isEmpty || Self.device(of: directory).map { !devices.contains($0) } ?? true
        }

        private static func device(of directory: String) -> Int64? {
            do throws(Errno) { return try System.device(at: AT_FDCWD, directory) } catch { return nil }
        }
    }

    /// Copies the origin. A temporary store that is incomplete is removed with the directory of the run. Returns the new
    /// store if it was named.
    private static func copy(
        _ origin: CopyOrigin, to named: NamedStore?, _ area: RunArea
    ) throws(StoreError) -> NewStore? {
        let copy = StoreCopy(of: origin, ProgressLine.progress("copying", path: area.root))
        if let named { return try copy.make(at: named.path, expected: named.expected, start: area.root) }
        let store: Store
        do throws(StoreError) { store = try Store.open(area.store, creating: true, start: area.root) } catch {
            var failure = error
            failure.reach = .directory
            throw failure
        }
        try copy.fill(temporary: store)
        return nil
    }

    /// Opens the store and creates the mount point. The store comes first, because the mount point's path contains the
    /// container's UUID.
    private init(
        _ area: RunArea, store named: NamedStore?, _ copied: NewStore?, _ protection: FileProtection?,
        _ cleaning: RunCleaning
    ) throws(CommandFailure) {
        let path = named?.path ?? area.store
        let container: String
        do throws(StoreError) {
            let store = try Store.open(
                path, creating: true, start: area.root,
                expected: copied.map { ExpectedStore.directory($0.directory.identity) } ?? named?.expected)
            do throws(StoreError) {
                do throws(Errno) { directory = try KnownDirectory(store.directory) } catch {
                    throw .failed("the store cannot be examined", path: path, error)
                }
                var settings = try store.loadSettings()
                if !store.before.hasSettings, let protection { settings.protection = protection }
                try store.saveSettings(settings)
                (container, refusedBefore) = (settings.containerID, settings.counters.refusedWrites)
                lastSequence = try Journal.lastSequence(in: store)
            } catch {
                store.withdraw()
                throw error
            }
            before = store.before
            store.leaveMark(of: area.root)
        } catch { throw CommandFailure("cannot open the store", error) }
        self.area = area
        self.copied = copied
        self.cleaning = cleaning
        store = path
        do throws(CommandFailure) {
            mountpoint = try area.makeMountpoint(container: container)
        } catch {
            if copied == nil { before.restore(after: area.root) }
            throw error
        }
    }
}
