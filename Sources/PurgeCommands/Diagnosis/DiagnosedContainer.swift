import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

/// A container whose files are looked at: through its mount, or in a store whose lock this value has. Nothing in it
/// changes, and no file is opened, because that would count as a use.
final class DiagnosedContainer {
    static let what = "cannot diagnose"

    let root: FileDescriptor
    /// The mount point or the store, for messages.
    let place: String
    let status: StatusReport
    /// As device.json has it.
    let device: Device
    /// Absolute.
    let storePath: String
    let histories: PathHistories
    /// When each file was last used, by inode, on the scale of the files' own times.
    let lastUses: [UInt64: Instant]
    /// What is missing, for the user.
    private(set) var warnings: [String]
    /// nil for a mount.
    private let store: Store?
    var isInStore: Bool { store != nil }

    var now: Instant { DeviceClock(secondsAhead: status.device.clock).now }
    var context: Diagnosis.Context { Diagnosis.Context(now: now, protection: device.protection) }

    /// Of what happened, only what concerns `path` is read, if that is given.
    init(_ target: Target, only path: String? = nil) throws(CommandFailure) {
        place = target.place
        switch target {
        case .mount(let mount):
            let control = MountedControl(place: mount)
            status = try control.status()
            storePath = status.store
            try control.flushJournal()
            do throws(Errno) { root = try FileDescriptor.open(mount, O_RDONLY | O_DIRECTORY) } catch {
                throw CommandFailure(Self.what, path: mount, error)
            }
            (store, warnings) = (nil, [])
            device = try Self.settings(of: status.store)
        case .store(let stored):
            let (report, missing) = try target.with(forReading: true, warnings: nil) {
                (control) throws(CommandFailure) in (try control.status(), control.warnings)
            }
            (status, warnings) = (report, missing)
            let opened: Store
            do throws(StoreError) { opened = try Store.openForReading(stored) } catch {
                throw CommandFailure(Self.what, error)
            }
            (store, root, storePath) = (opened, opened.container, opened.absolutePath)
            device = try Self.settings(of: stored)
        }
        (histories, lastUses) = Self.past(of: storePath, only: path, device, &warnings)
        if let work = status.device.unfinished {
            warnings.append("\(work.text) was interrupted: the next mount finishes it, and removes what is still there")
        }
    }

    private static func settings(of store: String) throws(CommandFailure) -> Device {
        do throws(StoreError) {
            guard let device = try StoreAtRest.savedSettings(of: store) else {
                throw StoreError(
                    "the store has no device.json", path: store,
                    advice: "Check that it was not removed or moved while it is mounted.")
            }
            return device
        } catch { throw CommandFailure(what, error) }
    }

    /// Of one path.
    private static let mostEvents = 100_000

    /// A container can be diagnosed without its journal.
    private static func past(
        of store: String, only path: String?, _ device: Device, _ warnings: inout [String]
    ) -> (PathHistories, [UInt64: Instant]) {
        var histories = PathHistories()
        var uses: [UInt64: Instant] = [:]
        do throws(StoreError) {
            let journal = try JournalReader(storePath: store)
            if let path {
                let events = try journal.events(at: path, types: PathHistory.types, limit: mostEvents)
                for event in events.reversed() { histories.note(event) }
            } else {
                try journal.visit(JournalReader.Filter(types: PathHistory.types)) {
                    histories.note($0)
                    return true
                }
            }
        } catch { warnings.append(unknown("what happened before is", error)) }
        do throws(StoreError) {
            let back = TimeSpan(seconds: -device.clock)
            uses = try JournalReader(storePath: store).lastUses().mapValues { $0.lastUse.advanced(by: back) }
        } catch { warnings.append(unknown("last uses are", error)) }
        return (histories, uses)
    }

    private static func unknown(_ what: String, _ error: StoreError) -> String {
        "\(what) not known: \(CommandFailure("cannot read the journal", error).message)"
    }

    func note(_ warning: String) { warnings.append(warning) }

    func failure(_ path: String, _ error: Errno) -> CommandFailure {
        let inner = path.isEmpty ? "" : "/\(path)"
        return CommandFailure(Self.what, path: place + (isInStore ? "/container" : "") + inner, error)
    }
}

/// What has happened to each path of a container. A path takes a few dozen bytes, since only a hash of it is kept.
struct PathHistories {
    private var histories: [Int: PathHistory] = [:]

    mutating func note(_ event: Event) {
        guard let path = event.path else { return }
        histories[Self.key(path), default: PathHistory()].note(event)
    }

    /// Relative to the container.
    subscript(path: String) -> PathHistory { histories[Self.key(path)] ?? PathHistory() }

    /// Of its bytes: paths that differ can be equal as strings.
    private static func key(_ path: String) -> Int {
        var hasher = Hasher()
        var path = path
        path.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }
}
