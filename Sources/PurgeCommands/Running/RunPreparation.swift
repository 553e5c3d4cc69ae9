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

    /// The mount has failed: removes what was made for it, including a store that the user has named if it is new.
    func withdraw() throws(CommandFailure) {
        before.restore(after: area.root)
        try area.remove()
    }

    /// The run is over: removes what was made for it, except a store that the user has named.
    func end() throws(CommandFailure) {
        before.keep(after: area.root)
        try area.remove()
    }

    /// `named` is the store that the user gave. Without one, the first directory for temporary
    /// files that can hold a store is used.
    static func make(store named: String?) throws(CommandFailure) -> RunPreparation {
        var refusal: CommandFailure?
        for directory in RunArea.candidates() {
            RunArea.removeAbandoned(in: directory)
            let area: RunArea
            do throws(CommandFailure) {
                area = try RunArea.make(in: directory)
            } catch {
                refusal = refusal ?? error
                continue
            }
            do throws(CommandFailure) {
                return try RunPreparation(area, store: named ?? area.store)
            } catch {
                refusal = refusal ?? error
                try area.remove()
                if named != nil { throw error }
            }
        }
        throw refusal
            ?? CommandFailure(
                "cannot make a temporary directory", path: "/tmp", "no directory for it is outside of containers",
                advice: "Set TMPDIR to a directory that can be written.")
    }

    /// The path of the mount point contains the container's UUID, so the store is made first.
    private init(_ area: RunArea, store path: String) throws(CommandFailure) {
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
