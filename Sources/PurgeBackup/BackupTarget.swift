import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// The container that a backup or an audit reads, through its mount or in a store whose lock this value holds.
struct BackupTarget {
    let source: BackupSource
    /// The absolute path of the store.
    let storePath: String
    let device: Device
    /// nil for a mount.
    private let store: Store?
    private let journal: Journal?
    private let mount: String?
    /// Why the backup cannot be recorded in the journal; nil if it can, and for a mount.
    let warning: String?

    var now: Instant { StoredClock.now(secondsAhead: device.clock) }

    /// Opens the target. `what` is the beginning of error messages, such as `cannot back up`.
    init(_ target: Target, for what: String) throws(CommandFailure) {
        switch target {
        case .mount(let path): try self.init(mount: path, what)
        case .store(let path):
            do throws(StoreError) { try self.init(store: path) } catch {
                throw CommandFailure(what, error)
            }
        }
    }

    private init(mount path: String, _ what: String) throws(CommandFailure) {
        let control = MountedControl(place: path)
        try control.requireStore(what)
        let status = try control.status()
        do throws(StoreError) {
            source = try BackupSource(mount: path)
            storePath = status.store
            guard let device = try StoreAtRest.savedSettings(of: status.store) else {
                throw StoreError(
                    "the store has no device.json", path: status.store,
                    advice: "Check that it was not removed or moved while it is mounted.")
            }
            self.device = device
        } catch { throw CommandFailure(what, error) }
        (store, journal, mount, warning) = (nil, nil, path, nil)
    }

    /// Opens a store. An unwritable store can be backed up, but its journal cannot record that.
    private init(store path: String) throws(StoreError) {
        mount = nil
        let opened = try Self.open(path)
        (store, journal) = (opened.store, opened.journal)
        warning =
            opened.journal == nil
            ? "\(path): its journal cannot be written, so the backup is not recorded in it" : nil
        device = try opened.store.loadSettings()
        if let work = device.unfinished {
            throw StoreError(
                "\(work.text) was interrupted, and some of its files are still to be removed", path: path,
                advice: "The next mount finishes it: mount the store, and try again.")
        }
        (source, storePath) = (BackupSource(opened.store, device), opened.store.absolutePath)
    }

    private static func open(_ path: String) throws(StoreError) -> (store: Store, journal: Journal?) {
        do throws(StoreError) {
            let store = try Store.open(path, creating: false)
            // A full disk is tolerated, because its files can still be read, and a backup may be the way out.
            let journal = try Journal.open(in: store, toleratingFullDisk: true)
            return (store, journal.openingFailure == nil ? journal : nil)
        } catch {
            guard error.isForLackOfWriting else { throw error }
            return (try Store.openForReading(path), nil)
        }
    }

    var header: BackupHeader {
        BackupHeader(
            created: now.iso8601, container: device.containerID, source: storePath, device: device.asSaved)
    }

    /// Returns when each file was last used, by inode, in real time like the files' own times.
    func lastUses() throws(StoreError) -> [UInt64: Journal.LastUse] {
        let saved =
            if let journal { try journal.lastUses() } else { try JournalReader(storePath: storePath).lastUses() }
        return saved.mapValues { use in
            var use = use
            use.lastUse = use.lastUse.advanced(by: TimeSpan(seconds: -device.clock))
            return use
        }
    }

    /// Records the backup in the journal. Does nothing for a read-only mount, and for a store whose journal cannot be written.
    func note(_ summary: BackupSummary) throws(CommandFailure) {
        if let mount {
            do throws(Errno) {
                try MountedControl(place: mount).write(summary.note.text, to: .deviceBackup)
            } catch .readOnly, .noEntry {} catch {
                throw CommandFailure("cannot record the backup", path: mount, error)
            }
        }
        guard let journal else { return }
        var event = summary.note.event(at: now, by: getpid())
        event.seq = journal.lastSequence + 1
        do throws(StoreError) {
            try journal.append([event])
        } catch { throw CommandFailure("cannot record the backup", error) }
        journal.close()
    }
}
