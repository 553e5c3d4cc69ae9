import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

// Work that must not be left half done. A mark is saved before the first file is removed, and cleared after the last one. If
// the daemon ends in between, the next mount finds the mark and finishes the work. That mount removes files only if the store
// also has a note that some are left (`RemovalNote`).
extension DeviceChanges {
    /// Carries out the work. ECANCELED if the store cannot keep the mark; the store is then left as it was. ENOTEMPTY if
    /// entries are left in a container that was to be emptied.
    func carryOut(_ work: DeviceWork, _ pid: pid_t) throws(Errno) {
        guard keeper.saveDevice(durably: true) else {
            change { state in state.tree.accounts.change { $0.abandon() } }
            keeper.saveDevice()  // the mark may have been saved, though not durably
            throw .canceled
        }
        let freed = remove(work, pid)
        try make(by: pid) { device, now in finish(&device, freed, pid, now) }
        if work == .delete, read({ !$0[root].entries.isEmpty }) { throw .notEmpty }
    }

    /// Finishes work that an earlier mount of the store began, while nobody uses the files yet. If completion cannot be saved,
    /// this throws, and the store is not used, because the next mount would make the change once more.
    func finishInterrupted() throws(StoreError) {
        guard let work = read({ $0.device.unfinished }), !store.isForReading else { return }
        let freed = try store.removalNote.exists ? remove(work, 0) : .zero
        change { state in
            _ = step(&state) { device, now in finish(&device, freed, 0, now) }
        }
        guard keeper.saveDevice(durably: true) else {
            throw StoreError(
                "device.json cannot be written, so \(work.text) that was interrupted stays unfinished",
                path: store.path,
                advice: "Make room on the disk under the store, or make it writable.")
        }
        if work == .delete { containerFolders.make() }
    }

    private func finish(_ device: inout Device, _ freed: ByteCount, _ pid: pid_t, _ now: Instant) -> [DeviceEffect] {
        device.finish(newID: Device.freshID(), freed: freed, by: pid, at: now)
    }

    private func remove(_ work: DeviceWork, _ pid: pid_t) -> ByteCount {
        let folder = EmptiedFolder(core: core, work: work, pid: pid)
        let freed = purgedNames.awaitingAnnouncements { debt in folder.empty(&debt) }
        if work == .delete { containerFolders.resetRoot() }
        return freed
    }
}
