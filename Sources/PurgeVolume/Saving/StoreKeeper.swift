import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

/// Saves everything that must survive a mount: events and last uses in the journal, the device in device.json. While the volume
/// is mounted, a thread saves about once a second and whenever it is woken.
final class StoreKeeper: VolumeFamily {
    /// In milliseconds: the time between the starts of two writes of events, and the shortest pause between the writes.
    private static let timeBetweenFlushes: Int64 = 800
    private static let shortestRest: Int64 = 100
    /// In nanoseconds. After a crash, the saved last uses are at most 30 s old.
    private static let timeBetweenSaves: Int64 = 20_000_000_000
    private static let timeBetweenPrunings: Int64 = 10_000_000_000

    let core: VolumeCore
    let journal: Journal
    /// Wakes the thread early: because it must end, because another thread waits for it, or because many events are waiting.
    let wake: Gate
    /// Locked while device.json is written, so that an older state never replaces a newer one.
    private let saving: Mutex<Saving>
    /// The content of device.json.
    private let savedDevice: Mutex<Device>
    private let isRunning = Atomic<Bool>(false)
    /// Whether a failure of the journal has been reported, and whether the journal has failed since events were last flushed.
    private let journalIsFailing = Atomic<Bool>(false)
    private let journalHasFailed = Atomic<Bool>(false)
    /// The first damage by which the journal lost events, as found during this mount.
    private let lostHistory = Mutex<StoreError?>(nil)
    let samples: SampleTaker
    /// The bounds at the last pruning of the journal, and when to look again for events that have become too old.
    private let bounded = Mutex<(bounds: JournalBounds, next: Int64)?>(nil)

    init(core: VolumeCore, journal: Journal, wake: Gate, device: Device) {
        self.core = core
        self.journal = journal
        self.wake = wake
        samples = SampleTaker(core: core, journal: journal)
        savedDevice = Mutex(device.asSaved)
        saving = Mutex(Saving(note: device.unfinished == nil ? .unknown : .made))
    }

    private enum NoteState { case none, made, unknown }

    private struct Saving {
        /// Whether the store has the note that files are being removed (`RemovalNote`). If device.json was read with the mark
        /// of unfinished work, the note exists already, or is not needed because the files are gone.
        var note: NoteState
        /// The failure to write device.json, which has been reported; nil if it was written.
        var failure: StoreError?
    }

    /// Starts the thread, which also does `chore` about every second.
    func start(_ threads: VolumeThreads, chore: @escaping @Sendable () -> Void) throws(Errno) {
        try threads.start("journal") { [self] in run(chore) }
        isRunning.store(true, ordering: .sequentiallyConsistent)
    }

    private func run(_ chore: () -> Void) {
        var saved = System.uptime()
        while let seen = wake.generation(unless: { core.isEnding.load(ordering: .acquiring) }) {
            let began = System.uptime()
            samples.take()
            flushEvents()
            // Nobody reads the device.json of a temporary store before `end` writes it.
            if !store.isTemporary { saveChangedDevice() }
            // The chore removes leftovers, and finds files that have been unmapped and so become free or purgeable. Calls that
            // wait for room get it soon.
            chore()
            // The nodes are freed here, outside the lock.
            _ = change { $0.tree.uses.dropGone() }
            if System.uptime() - saved > Self.timeBetweenSaves {
                saved = System.uptime()
                saveLastUses()
            }
            let rest = Self.timeBetweenFlushes - (System.uptime() - began) / 1_000_000
            wake.wait(while: seen, milliseconds: max(Self.shortestRest, rest))
        }
    }

    /// Writes everything that is pending and closes the journal, unless the store is to be discarded. Returns an error if data
    /// is lost because it cannot be written or because the store was removed.
    func end(keepingStore: Bool) -> StoreError? {
        recordEnd()
        if !keepingStore { events.summarizeRefusals() }
        events.append([Event(type: .unmount)])
        guard keepingStore else {
            // Readers that missed events in the stream, or do not get its end, look for them in the journal.
            if events.hasMuchToWrite { flushEvents() }
            events.endReaders()
            events.endRecorder()
            if !events.isRecordComplete { flushEvents() }
            return nil
        }
        samples.take(.always)
        flushEvents()
        events.endReaders()
        events.endRecorder()
        let usesAreSaved = saveLastUses()
        reportDamage()
        let deviceIsSaved = saveDevice(durably: true)
        journal.close()
        return loss(usesAreSaved: usesAreSaved, unsaved: deviceIsSaved ? [] : unsavedSettings)
    }

    /// Returns whether somebody has removed a directory since it was opened. It then has no name, and nothing can be created in
    /// it.
    private func isRemoved(_ directory: FileDescriptor) -> Bool {
        do throws(Errno) { return try System.status(directory.raw).st_nlink == 0 } catch { return false }
    }

    private func loss(usesAreSaved: Bool, unsaved: [String]) -> StoreError? {
        if store.isForReading { return nil }
        for (directory, name) in [(store.directory, "the store"), (store.container, "the store's container/")]
        where isRemoved(directory) {
            return StoreError(
                "\(name) was removed while it was mounted", path: store.path,
                advice: "The content of the container is lost.")
        }
        let missing = events.missing
        var lost =
            missing == 0 ? [] : ["\(missing) \(missing == 1 ? "event is" : "events are") missing from the journal"]
        if !usesAreSaved { lost.append("the order of last use is not up to date") }
        if !unsaved.isEmpty {
            lost.append("the settings of this mount are not saved (\(unsaved.joined(separator: ", ")))")
        }
        guard !lost.isEmpty else { return lostHistory.withLock { $0 } }
        let failure = saving.withLock { $0.failure?.what } ?? "it could not be written at the end"
        return StoreError(
            "the store is incomplete: \(lost.joined(separator: ", "))", path: store.path,
            advice: failure.prefix(1).uppercased() + failure.dropFirst()
                + ". If the disk under it is full, make room there.")
    }
}

// Writing the journal.
extension StoreKeeper {
    func flushEvents() {
        boundJournal()
        events.flush()
        reportDamage()
        if let failure = events.failure { reportJournal(failure) }
        if !journalHasFailed.exchange(false, ordering: .relaxed) { journalIsFailing.store(false, ordering: .relaxed) }
    }

    private func reportDamage() {
        let damage = takeDamage()
        for each in damage {
            port.report(each.message)
            if each.losesEvents { lostHistory.withLock { $0 = $0 ?? each.message } }
        }
        if !damage.isEmpty { events.flush() }
    }

    /// Returns the damage to the journal found since the last call, and records as events the gaps that it has left.
    func takeDamage() -> [JournalDamage] {
        let damage = journal.takeDamage()
        for lack in damage.compactMap(\.lack) { events.note(lack) }
        return damage
    }

    /// Notes a gap if the last mount was killed, because that mount did not write the events of its last second.
    func noteCut() {
        if journal.isForReading { return }
        do throws(StoreError) {
            guard try journal.endsWithinAMount() else { return }
            events.note("about one second of events: the last mount did not end with an unmount")
        } catch { reportJournal(error) }
    }

    /// Resumes the recording of events if the journal has this mount but no longer records events. Without the unmount, the
    /// mount would seem to have crashed.
    private func recordEnd() {
        if events.isRecording || journal.isForReading { return }
        events.flush()
        do throws(StoreError) {
            if try journal.endsWithinAMount() { events.record(true) }
        } catch { reportJournal(error) }
    }

    private func boundJournal() {
        let bounds = read { $0.device.journal }
        let wasRecording = events.isRecording
        events.record(bounds.recordsEvents)
        if !wasRecording { events.note("events from the time when none were recorded (journal.size was 0)") }
        if journal.isForReading { return }
        let now = System.uptime()
        let isDue = bounded.withLock { $0.map { $0.bounds != bounds || $0.next <= now } ?? true }
        guard isDue else { return }
        do throws(StoreError) {
            try journal.keep(within: bounds, at: clock.now)
            bounded.withLock { $0 = (bounds, now + Self.timeBetweenPrunings) }
        } catch { reportJournal(error) }
    }

    /// Reports a failure of the journal, but no further failures until everything has been written again.
    private func reportJournal(_ error: StoreError) {
        journalHasFailed.store(true, ordering: .relaxed)
        if !journalIsFailing.exchange(true, ordering: .relaxed) { port.report(error) }
    }

    /// Waits, for at most half a second, until earlier events and the resulting numbers are in the journal. If the thread does
    /// not run, writes them at once. Commands call this before they return, except for changes of the device on a temporary
    /// store.
    func awaitJournal() {
        samples.take(.exact)
        if isRunning.load(ordering: .sequentiallyConsistent) {
            events.awaitFlush(milliseconds: 500)
        } else {
            flushEvents()
        }
    }

    /// Saves last uses in the journal. Returns whether they are saved; if not, they are kept for the next time.
    @discardableResult
    func saveLastUses() -> Bool {
        if store.isForReading { return true }
        let (gone, nodes, uses) = change { state in
            let (gone, nodes) = state.tree.uses.take()
            let uses = nodes.map { node in
                Journal.LastUse(inode: node.inode, birth: Int64(node.birthMark), lastUse: state[node].lastUse)
            }
            return (gone, nodes, uses)
        }
        do throws(StoreError) {
            // Removed files come first, because their inode numbers may be in use again.
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

// Saving the device.
extension StoreKeeper {
    /// Saves the device in device.json. Returns whether it is saved; if not, the thread tries again every second.
    @discardableResult
    func saveDevice(durably: Bool = false) -> Bool {
        saving.withLock { saving in writeDevice(durably: durably, &saving) }
    }

    private func saveChangedDevice() {
        if read({ $0.device.revision }) != savedDevice.withLock({ $0.revision }) { saveDevice() }
    }

    private func writeDevice(durably: Bool, _ saving: inout Saving) -> Bool {
        if store.isForReading { return true }
        let now = read { $0.device }
        do throws(StoreError) {
            try noteRemoval(now.unfinished != nil, &saving)
            try store.saveSettings(now, durably: durably)
            savedDevice.withLock { $0 = now }
            saving.failure = nil
            return true
        } catch {
            if saving.failure == nil { port.report(error) }
            saving.failure = error
            // device.json may have the mark nevertheless, if only the last step has failed.
            if let work = now.unfinished { savedDevice.withLock { $0.unfinished = work } }
            return false
        }
    }

    /// Creates the note before the mark of the work is saved, and removes it before the mark is removed. If the end of the work
    /// cannot be saved, the next mount finds the mark without the note, and so keeps the files created since.
    private func noteRemoval(_ isRemoving: Bool, _ saving: inout Saving) throws(StoreError) {
        if isRemoving, saving.note != .made {
            try clearMark()
            saving.note = .unknown
            try store.removalNote.make()
            saving.note = .made
        } else if !isRemoving, saving.note != .none {
            // If this fails, saving a device.json without the mark has the same effect.
            do throws(StoreError) {
                saving.note = try store.removalNote.remove() ? .none : .unknown
            } catch { port.report(error) }
        }
    }

    /// Clears the mark of earlier work whose end could not be saved, because the note that is about to be made is not for that
    /// work.
    private func clearMark() throws(StoreError) {
        guard savedDevice.withLock({ $0.unfinished }) != nil else { return }
        var unmarked = read { $0.device }
        unmarked.abandon()
        try store.saveSettings(unmarked)
        savedDevice.withLock { $0 = unmarked }
    }

    /// Names of the settings that differ from device.json, without the counters.
    private var unsavedSettings: [String] {
        let saved = savedDevice.withLock { $0 }
        return read { $0.device.changes(since: saved) }
    }
}
