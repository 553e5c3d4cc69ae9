import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

/// A container under diagnosis, reached through its mount or in a store that this object has locked. Nothing in it changes, and
/// no file is opened through a mount, because that counts as a use.
final class DiagnosedContainer {
    static let what = "cannot diagnose"

    let root: FileDescriptor
    /// The mount point or the store, for messages.
    let place: String
    let status: StatusReport
    /// The device as saved in device.json.
    let device: Device
    /// The absolute path of the store.
    let storePath: String
    private(set) var histories: PathHistories
    /// The last use of each file by inode, on the scale of the times that apps see, not by the device's clock.
    let lastUses: [UInt64: Instant]
    /// Messages to the user about missing information and interrupted work.
    private(set) var warnings: [String]
    /// The locked store; nil for a mount.
    private let store: Store?
    var isInStore: Bool { store != nil }

    /// The absolute paths through which the container is reached.
    var roots: [[UInt8]] { [status.mountpoint, storePath + "/container"].compactMap { $0.map { Array($0.utf8) } } }

    var now: Instant { StoredClock.now(secondsAhead: status.device.clock) }
    var context: Diagnosis.Context { Diagnosis.Context(now: now, protection: device.protection) }

    /// The part of the journal to read.
    enum Past {
        case whole
        /// The events of one path.
        case of(String)
        case nothing
    }

    init(_ target: Target, past: Past = .whole) throws(CommandFailure) {
        // A walk keeps a descriptor open for each level of folders.
        System.raiseDescriptorLimit()
        place = target.place
        switch target {
        case .mount(let mount):
            let control = MountedControl(place: mount)
            try control.requireStore(Self.what)
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
        (histories, lastUses) = Self.read(past, of: storePath, device, &warnings)
        if let work = status.device.unfinished {
            warnings.append("\(work.text) was interrupted: the next mount finishes it, and removes the remaining files")
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

    /// The maximum number of events read for one path.
    private static let mostEvents = 100_000

    /// Reads the journal. A failure becomes a warning, because a container can be diagnosed without its journal.
    private static func read(
        _ past: Past, of store: String, _ device: Device, _ warnings: inout [String]
    ) -> (PathHistories, [UInt64: Instant]) {
        var histories = PathHistories()
        var uses: [UInt64: Instant] = [:]
        do throws(StoreError) {
            switch past {
            case .nothing: return (histories, uses)
            case .of(let path): try histories.read(path, from: JournalReader(storePath: store), most: mostEvents)
            case .whole:
                try JournalReader(storePath: store).visit(JournalReader.Filter(types: PathHistory.types)) {
                    histories.note($0)
                    return true
                }
            }
        } catch { warnings.append(unknown("the history is", error)) }
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

    /// The UUIDs that the container has had.
    private(set) lazy var lives = ContainerLives(store: storePath)

    /// The maximum number of bytes of all files' content that a diagnosis reads.
    private static let mostContent: Int64 = 1 << 30
    private var contentLeft = DiagnosedContainer.mostContent

    /// Returns whether `bytes` more bytes of content may be read. The first refusal becomes a warning.
    func mayRead(_ bytes: Int64) -> Bool {
        guard contentLeft >= 0 else { return false }
        contentLeft -= bytes
        if contentLeft < 0 { note("more than 1 GiB of files may hold old paths: the rest was not searched for them") }
        return contentLeft >= 0
    }

    /// The files of the container in its store, where reading one is not a use; nil if they cannot be reached.
    private(set) lazy var content: FileDescriptor? = {
        if let store { return store.container }
        do throws(Errno) { return try FileDescriptor.openWithoutLinks("\(storePath)/container".utf8) } catch {
            return nil
        }
    }()

    /// Reads the history of a path that the initial read did not cover.
    func readHistory(of path: String) {
        do throws(StoreError) {
            try histories.read(path, from: JournalReader(storePath: storePath), most: Self.mostEvents)
        } catch {}  // the initial read has usually failed as well, with a warning
    }

    /// Returns the time of the last purge of the file at a path. Returns nil if there was none, if the app has changed the name
    /// since, or if the journal cannot be read.
    func lastPurge(of path: String) -> Instant? {
        guard histories[path].purges > 0 else { return nil }
        do throws(StoreError) {
            let types = EventType.ofApp.union([.purge])
            let last = try JournalReader(storePath: storePath).events(.init(.at(path), types, limit: 1)).first
            return last.flatMap { $0.type == .purge ? Instant(iso8601: $0.time) : nil }
        } catch { return nil }
    }

    func failure(_ path: String, _ error: Errno) -> CommandFailure {
        let inner = path.isEmpty ? "" : "/\(path)"
        return CommandFailure(Self.what, path: place + (isInStore ? "/container" : "") + inner, error)
    }
}

/// The history of each path of a container. It keeps only a hash of each path. Most paths in a journal were purged once and are
/// gone; each of these takes 16 bytes, for its hash and the time of its purge.
struct PathHistories {
    private var purgedOnce: [Int: Instant] = [:]
    private var histories: [Int: PathHistory] = [:]

    mutating func note(_ event: Event) {
        guard let key = event.path?.pathHash, histories[key]?.note(event) == nil else { return }
        let purged = purgedOnce.removeValue(forKey: key)
        if purged == nil, let time = PathHistory.onlyPurge(event) {
            purgedOnce[key] = time
        } else {
            var history = purged.map(PathHistory.init(purgedAt:)) ?? PathHistory()
            history.note(event)
            histories[key] = history
        }
    }

    /// Returns the history of a path relative to the container.
    subscript(path: String) -> PathHistory {
        let key = path.pathHash
        return histories[key] ?? purgedOnce[key].map(PathHistory.init(purgedAt:)) ?? PathHistory()
    }

    /// Adds the newest events of a path that has no history yet.
    fileprivate mutating func read(_ path: String, from journal: JournalReader, most: Int) throws(StoreError) {
        let events = try journal.events(.init(.at(path), PathHistory.types, limit: most))
        for event in events.reversed() { note(event) }
    }
}
