import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// Writes what must survive a mount: events and last uses to the journal, the device to device.json. While the volume
/// is mounted a thread does that, once a second and when it is woken.
final class StoreKeeper: VolumeFamily {
    /// In nanoseconds; after a crash, last uses are at most 30 s old.
    private static let timeBetweenSaves: Int64 = 20_000_000_000

    let core: VolumeCore
    let journal: Journal
    /// Wakes the thread, to end or because another thread waits for it.
    let wake: Gate
    /// Held while device.json is written, so that an older state never replaces a newer one.
    private let saving = Mutex(())
    /// The content of device.json.
    private let savedDevice: Mutex<Device>
    private let isRunning = Atomic<Bool>(false)
    /// Whether it has been reported that device.json cannot be written.
    private let deviceIsFailing = Atomic<Bool>(false)
    /// Whether the journal's failure has been reported.
    private let journalIsFailing = Atomic<Bool>(false)

    init(core: VolumeCore, journal: Journal, wake: Gate, device: Device) {
        self.core = core
        self.journal = journal
        self.wake = wake
        savedDevice = Mutex(device.asSaved)
    }

    /// `chore` is also done every second.
    func start(_ threads: VolumeThreads, chore: @escaping @Sendable () -> Void) throws(Errno) {
        try threads.start("journal") { [self] in run(chore) }
        isRunning.store(true, ordering: .sequentiallyConsistent)
    }

    private func run(_ chore: () -> Void) {
        var saved = System.uptime()
        while !core.isEnding.load(ordering: .acquiring) {
            let seen = wake.generation
            flushEvents()
            if read({ $0.device.revision }) != savedDevice.withLock({ $0.revision }) { saveDevice() }
            // Files that become free or purgeable once they are unmapped: calls that wait for room get it soon.
            chore()
            // Freed here, outside of the lock.
            _ = change { $0.tree.uses.dropGone() }
            if System.uptime() - saved > Self.timeBetweenSaves {
                saved = System.uptime()
                saveLastUses()
            }
            wake.wait(while: seen, milliseconds: 1000)
        }
    }

    /// Writes everything that is left, and closes the journal. Returns what cannot be written and is lost.
    func end() -> StoreError? {
        events.append([Event(type: .unmount)])
        flushEvents()
        events.endReaders()
        events.endRecorder()
        let usesAreSaved = saveLastUses()
        let deviceIsSaved = saveDevice(durably: true) || deviceIsAsSaved
        journal.close()
        return loss(usesAreSaved: usesAreSaved, deviceIsSaved: deviceIsSaved)
    }

    private func loss(usesAreSaved: Bool, deviceIsSaved: Bool) -> StoreError? {
        if store.isForReading { return nil }
        let missing = events.missing
        var lost =
            missing == 0 ? [] : ["\(missing) \(missing == 1 ? "event is" : "events are") missing from the journal"]
        if !usesAreSaved { lost.append("the order of last use is not up to date") }
        if !deviceIsSaved { lost.append("the settings of this mount are not saved") }
        guard !lost.isEmpty else { return nil }
        return StoreError(
            "the store is incomplete: \(lost.joined(separator: ", "))", path: store.path,
            advice: "It could not be written at the end. If the disk under it is full, make room there.")
    }
}

// The journal.
extension StoreKeeper {
    private func flushEvents() {
        events.flush()
        if let failure = events.failure {
            reportJournal(failure)
        } else {
            journalIsFailing.store(false, ordering: .relaxed)
        }
    }

    /// Reported once, until it can be written again.
    private func reportJournal(_ error: StoreError) {
        if !journalIsFailing.exchange(true, ordering: .relaxed) { hooks.report(error) }
    }

    /// For commands: earlier events are in the journal when they return, if that takes no longer than half a second.
    func awaitJournal() {
        if isRunning.load(ordering: .sequentiallyConsistent) {
            events.awaitFlush(milliseconds: 500)
        } else {
            events.flush()
        }
    }

    /// Returns whether they are saved; if not, they are kept for the next time.
    @discardableResult
    func saveLastUses() -> Bool {
        if store.isForReading { return true }
        let (gone, nodes, uses) = change { state in
            let (gone, nodes) = state.tree.uses.take()
            let uses = nodes.map { Journal.LastUse(inode: $0.inode, birth: Int64($0.birthMark), lastUse: $0.lastUse) }
            return (gone, nodes, uses)
        }
        do throws(StoreError) {
            // Files that are gone come first: their inode numbers may be in use again.
            if !gone.isEmpty { try journal.forgetLastUses(of: gone) }
            if !uses.isEmpty { try journal.saveLastUses(uses) }
            return true
        } catch {
            reportJournal(error)
            change { state in state.tree.uses.restore(gone: gone, used: nodes) }
            return false
        }
    }
}

// The device.
extension StoreKeeper {
    /// Returns whether it is saved; if not, that is tried again every second.
    @discardableResult
    func saveDevice(durably: Bool = false) -> Bool {
        saving.withLock { _ in writeDevice(durably: durably) }
    }

    private func writeDevice(durably: Bool) -> Bool {
        if store.isForReading { return true }
        let now = read { $0.device }
        do throws(StoreError) {
            try store.saveSettings(now, durably: durably)
            savedDevice.withLock { $0 = now }
            deviceIsFailing.store(false, ordering: .relaxed)
            return true
        } catch {
            if !deviceIsFailing.exchange(true, ordering: .relaxed) { hooks.report(error) }
            return false
        }
    }

    /// Except for the counters.
    private var deviceIsAsSaved: Bool {
        let saved = savedDevice.withLock { $0 }
        return read { $0.device.isSame(butForCounters: saved) }
    }
}
