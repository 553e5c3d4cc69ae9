import PurgeModel
import Synchronization

/// The control file `storage.stat`.
extension VolumeCore {
    func statisticsText() -> String {
        let report = status()
        let lines: [(String, Int64)] = [
            ("temporary.bytes", report.tiers.temporary.bytes.bytes), ("temporary.files", report.tiers.temporary.files),
            ("caches.bytes", report.tiers.caches.bytes.bytes), ("caches.files", report.tiers.caches.files),
            ("persistent.bytes", report.tiers.persistent.bytes.bytes),
            ("persistent.files", report.tiers.persistent.files),
            ("purgeable.bytes", report.marked.purgeable.bytes.bytes),
            ("purgeable.files", report.marked.purgeable.files),
            ("excluded.bytes", report.marked.excludedFromBackup.bytes.bytes),
            ("excluded.files", report.marked.excludedFromBackup.files),
            ("refused.writes", report.counters.refusedWrites),
            ("purged.files", report.counters.purgedFiles), ("purged.bytes", report.counters.purgedBytes),
            ("app.terminated", Int64(appTerminations.load(ordering: .relaxed))),
            ("host.refused", Int64(hostRefusals.load(ordering: .relaxed))),
            ("announcements.late", Int64(lateAnnouncements.load(ordering: .relaxed))),
        ]
        return lines.map { "\($0.0) \($0.1)\n" }.joined()
    }
}
