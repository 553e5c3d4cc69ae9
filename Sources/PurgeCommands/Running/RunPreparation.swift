import PurgeBackup
import PurgeModel
import PurgeStore
import PurgeSystem

/// What a run is prepared with: its temporary directory, its store and its mount point.
struct RunPreparation {
    let area: RunArea
    let store: String
    let mountpoint: String
    /// The last sequence number in the store's journal.
    let lastSequence: Int64
    private let before: StoreBefore
    /// Removes what earlier runs have left, beside this one.
    private let cleaning: WorkThread?

    /// The mount has failed: removes what was made for it, including a store that the user has named if it is new.
    func withdraw() throws(CommandFailure) {
        cleaning?.join()
        before.restore(after: area.root)
        try area.remove()
    }

    /// The run is over: removes what was made for it, except a store that the user has named.
    func end() throws(CommandFailure) {
        cleaning?.join()
        before.keep(after: area.root)
        try area.remove()
    }

    /// `named` is the store that the user gave. Without one, the first directory for temporary
    /// files that can hold a store is used. With an origin, the store is a new one that begins as a copy of that.
    static func make(store named: String?, copyOf origin: CopyOrigin?) throws(CommandFailure) -> RunPreparation {
        var refusal: CommandFailure?
        for directory in RunArea.candidates() {
            let area: RunArea
            do throws(CommandFailure) {
                area = try RunArea.make(in: directory)
            } catch {
                refusal = refusal ?? error
                continue
            }
            do throws(CommandFailure) {
                if let origin { try copy(origin, to: named, area) }
                return try RunPreparation(area, store: named ?? area.store, cleaning: clean(directory))
            } catch {
                refusal = refusal ?? error
                try area.remove()
                if named != nil || System.endSignal() != nil { throw error }
            }
        }
        throw refusal
            ?? CommandFailure(
                "cannot make a temporary directory", path: "/tmp", "no directory for it is outside of containers",
                advice: "Set TMPDIR to a directory that can be written.")
    }

    /// There may be thousands of other files in the directory, and what is there to remove may be large.
    private static func clean(_ directory: String) -> WorkThread? {
        do throws(Errno) {
            return try WorkThread(name: "cleaning") { RunArea.removeAbandoned(in: directory) }
        } catch {
            RunArea.removeAbandoned(in: directory)
            return nil
        }
    }

    /// A temporary store that is not complete is removed with the directory of the run.
    private static func copy(
        _ origin: CopyOrigin, to named: String?, _ area: RunArea
    ) throws(CommandFailure) {
        let copy = StoreCopy(of: origin, ProgressLine.progress("copying", path: area.root))
        do throws(StoreError) {
            if let named { return try copy.make(at: named) }
            try copy.fill(temporary: try Store.open(area.store, creating: true, start: area.root))
        } catch { throw CommandFailure("cannot fill the container", error) }
    }

    /// The path of the mount point contains the container's UUID, so the store is made first.
    private init(_ area: RunArea, store path: String, cleaning: WorkThread?) throws(CommandFailure) {
        let container: String
        do throws(StoreError) {
            let store = try Store.open(path, creating: true, start: area.root)
            do throws(StoreError) {
                (container, lastSequence) = try Self.prepare(store)
            } catch {
                store.withdraw()
                throw error
            }
            before = store.before
            store.leaveMark(of: area.root)
        } catch { throw CommandFailure("cannot open the store", error) }
        self.area = area
        self.cleaning = cleaning
        store = path
        do throws(CommandFailure) {
            mountpoint = try area.makeMountpoint(container: container)
        } catch {
            before.restore(after: area.root)
            throw error
        }
    }

    private static func prepare(_ store: Store) throws(StoreError) -> (container: String, lastSequence: Int64) {
        let settings = try store.loadSettings()
        try store.saveSettings(settings)
        return (settings.containerID, try Journal.lastSequence(in: store))
    }
}
