import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Synchronization

extension Volume {
    /// `flags` are those of open(2).
    public func openControl(_ node: Node, flags: Int32 = O_RDWR) throws(Errno) -> ControlHandle {
        guard let file = control.file(node) else { throw .isDirectory }
        let handle = ControlHandle(
            file: file, reader: file == .events ? events.addReader() : nil,
            isReadable: flags & O_ACCMODE != O_WRONLY)
        if file == .storagePressure {
            handle.levelChangesSeen = read { $0.device.levelChanges }
            control.addPressureReader(handle)
        }
        return handle
    }

    public func closeControl(_ handle: ControlHandle) {
        if let reader = handle.reader { events.remove(reader) }
        if handle.file == .storagePressure { control.removePressureReader(handle) }
    }

    /// Bytes from `offset` on; at offset 0 the content is made anew.
    public func readControl(_ handle: ControlHandle, offset: Int64, limit: Int) -> [UInt8] {
        if offset == 0 {
            if handle.file == .storagePressure { handle.levelChangesSeen = read { $0.device.levelChanges } }
            if !handle.file.answers { handle.content = Array(controlText(handle.file).utf8) }
        }
        let content = handle.content
        return Array(content.dropFirst(Int(max(0, offset))).prefix(limit))
    }

    /// What poll(2) answers.
    public func pollEvents(_ handle: ControlHandle) -> UInt32 {
        var events: Int32 = 0
        if handle.file.canWrite { events |= POLLOUT }
        if let reader = handle.reader {
            if reader.isReadable { events |= POLLIN }
        } else {
            events |= POLLIN
        }
        if handle.file == .storagePressure,
            read({ $0.device.levelChanges }) != handle.levelChangesSeen
        {
            events |= POLLPRI | POLLERR
        }
        return UInt32(events)
    }

    public func controlText(_ file: ControlFile) -> String {
        settleMappings()
        let (capacity, level) = read { ($0.capacity, $0.device.level) }
        switch file {
        case .storageTotal: return "\(capacity.total.bytes)\n"
        case .storageOthers: return "\(capacity.others.bytes)\n"
        case .storageOthersPurgeable: return "\(capacity.othersPurgeable.bytes)\n"
        case .storageUsed: return "\(capacity.used.bytes)\n"
        case .storageAvailable: return "\(capacity.free.bytes)\n"
        case .storageImportant: return "\(capacity.important.bytes)\n"
        case .storageOpportunistic: return "\(capacity.opportunistic.bytes)\n"
        case .storageReclaimable: return "\(capacity.reclaimable.bytes)\n"
        case .storageThresholds:
            let limits = capacity.thresholds
            return "verylow \(limits.veryLow.bytes)\nlow \(limits.low.bytes)\n"
                + "nearlow \(limits.nearLow.bytes)\ndesired \(limits.desired.bytes)\n"
        case .storageStat: return statText()
        case .storagePressure: return level.rawValue + "\n"
        case .status: return JSONText.encode(status(), pretty: true) + "\n"
        case .storageReclaim, .storagePlan, .events: return ""
        }
    }

    private func statText() -> String {
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
            ("host.refused", Int64(core.hostRefusals.load(ordering: .relaxed))),
            ("announcements.late", Int64(core.lateAnnouncements.load(ordering: .relaxed))),
        ]
        return lines.map { "\($0.0) \($0.1)\n" }.joined()
    }
}
