import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

// Warnings in the log of a mount.
extension MountService {
    /// Reports a crash of the last daemon, and prepares this one to leave its last words.
    static func handleCrashes(_ store: Store) {
        if let words = store.takeLastWords() {
            note(
                "purgefs: warning: \(store.path): its last daemon crashed; last-words.old.txt there says more:\n  \(words)"
            )
        }
        do throws(Errno) {
            try System.leaveLastWords(at: store.lastWordsPath, owner: System.status(store.directory.raw).st_uid)
        } catch {
            note("purgefs: warning: a crash of the daemon would leave no last-words.txt: \(error)")
        }
    }

    /// Returns the settings. Throws if the app is to start and is offloaded.
    static func installed(_ settings: Device, _ request: MountRequest) throws(StoreError) -> Device {
        guard request.appState != nil, settings.app == .offloaded, !request.isReadOnly else { return settings }
        throw StoreError(
            "the app is offloaded, so it cannot start", path: request.storePath,
            advice: "Install it first: purgefs app install \(ShellWord.of(request.storePath))")
    }

    /// Warns only if this mount was given a size, because the device in the store may be meant to be full.
    static func warnOfFullDevice(_ settings: Device, _ given: SettingsChange) {
        guard given.total != nil || given.others != nil, settings.others >= settings.total else { return }
        note(
            "purgefs: warning: --others \(settings.others.inWords) leaves nothing of --total \(settings.total.inWords)\n"
                + "  Writes fail with ENOSPC unless purging makes room. Use a larger --total or a smaller --others.")
    }

    /// Warns that the app may get EIO although the simulated device has room.
    static func warnOfSmallDisk(_ volume: Volume, _ store: Store) {
        let disk: statvfs
        // The mount does not depend on this number, so the warning is skipped if the number cannot be read.
        do throws(Errno) { disk = try System.fileSystemStatus(store.container.raw) } catch { return }
        let (bytes, overflow) = disk.f_bavail.multipliedReportingOverflow(by: disk.f_frsize)
        let room = ByteCount(overflow ? .max : Int64(clamping: bytes))
        let free = ByteCount(volume.statistics(at: volume.root).available * 4096)
        if room < free {
            note(
                "purgefs: warning: \(store.path): the disk under the store has \(room.inWords) left, "
                    + "the simulated device \(free.inWords)\n"
                    + "  Writes beyond the real disk fail with EIO. Use a smaller --total or another disk.")
        }
    }

    /// Warns of interrupted work. A read-only mount shows the container as it is.
    static func warnOfUnfinishedWork(_ volume: Volume, _ store: Store) {
        guard let work = volume.device.unfinished else { return }
        note(
            "purgefs: warning: \(store.path): \(work.text) was interrupted and stays unfinished, because the mount is "
                + "read-only\n  To finish it, mount without -o ro, or run `purgefs check --repair`.")
    }

    /// Warns of miscounted references. References that the kernel still holds mean nothing: once it has begun to unmount, it
    /// sends no FORGET, and not every RELEASE.
    static func warnOfLosses(_ census: Census) {
        guard census.unclosed != 0 || census.overdrawn != 0 else { return }
        note("purgefs: warning: files were not closed, or references miscounted: \(census.line)")
    }
}
