import PurgeModel
import PurgeStore

extension ControlFile {
    /// The content of a control file, which determines how reads and writes of the file are handled.
    enum Content {
        /// A report on the present state.
        case report((VolumeCore) -> String)
        /// A report that can also be set: a written text asks for a change of the device. `parse` returns nil for a malformed
        /// text.
        case setting(read: (VolumeCore) -> String, parse: (String) -> DeviceChange?)
        /// The outcome of a request, which is a purge or only its plan. It is read on the descriptor that wrote the request.
        case answer(purges: Bool)
        /// The pid of the app's process, or 0.
        case process
        /// The rules of faults.
        case faults
        /// Events from the moment at which the file is opened.
        case stream

        /// One number of the device.
        static func number(_ number: @escaping (Capacity) -> ByteCount) -> Content { .report(text(of: number)) }

        /// One number of the device that can be set.
        static func size(
            _ number: @escaping (Capacity) -> ByteCount, _ change: @escaping (SizeChange) -> DeviceChange
        ) -> Content {
            .setting(read: text(of: number), parse: { SizeChange(text: $0).map(change) })
        }

        private static func text(of number: @escaping (Capacity) -> ByteCount) -> (VolumeCore) -> String {
            { core in "\(number(core.read { $0.capacity }).bytes)\n" }
        }
    }

    struct Row {
        var content: Content
        /// The description of reading and of writing, in Markdown.
        var reads: String
        var writes: String?
        /// The help text of `purgefs set` for the file.
        var set: String?

        init(_ content: Content, reads: String, writes: String? = nil, set: String? = nil) {
            (self.content, self.reads, self.writes, self.set) = (content, reads, writes, set)
        }
    }

    /// The file's row of the table.
    var row: Row {
        switch self {
        case .storageTotal:
            Row(
                .size(\.total) { .total($0) }, reads: "the size of the simulated device",
                writes: "a size, `+size`, `-size`",
                set: "size of the device: SIZE, +SIZE, -SIZE; rounded down to a multiple of 4096")
        case .storageOthers:
            Row(
                .size(\.others) { .others($0) }, reads: "bytes used by the system and other apps",
                writes: "a size, `+size`, `-size`", set: "space used by the system and other apps: SIZE, +SIZE, -SIZE")
        case .storageOthersPurgeable:
            Row(
                .size(\.othersPurgeable) { .othersPurgeable($0) }, reads: "the part of others that can be purged",
                writes: "a size, `+size`, `-size`; more than others is `EINVAL`",
                set: "the part of others that purging can reclaim: SIZE, +SIZE, -SIZE; at most others")
        case .storageOthersShare:
            Row(
                .setting(
                    read: { "\($0.read { $0.device.othersShare })\n" },
                    parse: { OthersShare.percent(text: $0).map { .othersShare($0) } }),
                reads: "the share of a shortfall taken from others.purgeable before files are purged, in percent",
                writes: "a whole number from 0 to 100",
                set: "share of a shortfall taken from others.purgeable before files are purged: PERCENT")
        case .storageUsed: Row(.number(\.used), reads: "charged bytes of this container")
        case .storageAvailable: Row(.number(\.free), reads: "free: total less others less used, not below 0")
        case .storageImportant:
            Row(.number(\.important), reads: "room for a write to a persistent place, purging included")
        case .storageOpportunistic:
            Row(.number(\.opportunistic), reads: "room for a write to `tmp`, `Library/Caches` or a marked file")
        case .storageReclaimable: Row(.number(\.reclaimable), reads: "bytes that purging would free now")
        case .storageThresholds:
            Row(
                .setting(read: { $0.thresholdText() }, parse: { ThresholdChange(text: $0).map { .thresholds($0) } }),
                reads: "`verylow`, `low`, `nearlow`, `desired`, in bytes",
                writes: "`name=size` or `name=percent%`, several of them separated by commas; all take effect or none; "
                    + "they must rise in this order; `off` sets all to 0, `default` to the profile's defaults",
                set: "limits of the pressure levels: THRESHOLDS")
        case .storagePressure:
            Row(
                .report { $0.read { $0.device.level }.rawValue + "\n" },
                reads: "`normal`, `nearLow`, `low` or `veryLow`")
        case .storageStat:
            Row(
                .report { $0.statisticsText() },
                reads: "bytes and files of each tier, marked files, refused writes, purges")
        case .storageReclaim:
            Row(
                .answer(purges: true), reads: "on the descriptor that wrote: the purged files, as JSON lines",
                writes: "a size, `tmp`, `caches`, `purgeable` (marked files elsewhere) or `all`; one of these and a "
                    + "path; `paths` or `globs`; `evenOpen ` before a command that names files or a place")
        case .storagePlan:
            Row(
                .answer(purges: false),
                reads: "on the descriptor that wrote: the files that would be purged, as JSON lines",
                writes: "as for `storage.reclaim`")
        case .storagePolicies:
            Row(
                .setting(
                    read: { $0.policiesText() }, parse: { PolicyCommand(rawValue: $0).map { .policies($0) } }),
                reads: "the directories that have a policy, as JSON lines",
                writes: "`check` (as at the launch of the app) or `reset` (empties them)")
        case .storageProfile:
            Row(
                .setting(
                    read: { $0.read { $0.device.profile }.rawValue + "\n" },
                    parse: { Profile(rawValue: $0).map { .profile($0) } }),
                reads: "the purging rules in force: `documented` or `device`",
                writes: "`documented` or `device`", set: "purging rules: documented or device")
        case .storagePurgeLatency:
            Row(
                .setting(
                    read: { $0.read { $0.device.purgeLatency }.text + "\n" },
                    parse: { TimeSpan(purgeLatency: $0).map { .purgeLatency($0) } }),
                reads: "the delay of background purges in profile `device`, in real time",
                writes: "a duration, or `0`",
                set: "delay of background purges in profile device: DURATION, or 0")
        case .deviceState:
            Row(
                .setting(read: { $0.read { $0.device.state }.shown.rawValue + "\n" }, parse: DeviceChange.init(state:)),
                reads: "`unlocked`, `locking`, `locked` or `beforeFirstUnlock`", writes: "`lock`, `unlock` or `reboot`")
        case .deviceClock:
            Row(
                .setting(read: { "\($0.read { $0.device.clock })\n" }, parse: DeviceChange.init(clock:)),
                reads: "how many seconds the device's clock is ahead of real time",
                writes: "`+` and a duration: `+30s`, `+5m`, `+2h`, `+3d`, `+1w`")
        case .deviceInactivity:
            Row(
                .setting(
                    read: { $0.read { $0.device.lock.inactivity }.text + "\n" },
                    parse: { TimeSpan(purgeLatency: $0).map { .inactivity($0) } }),
                reads: "the time that files of class `completeWhenUserInactive` stay within reach once the device is "
                    + "locked, by its clock",
                writes: "a duration, or `0`",
                set: "time until a locked device closes files of class completeWhenUserInactive: DURATION, or 0")
        case .deviceBackup:
            Row(
                .setting(read: { _ in "" }, parse: { BackupNote(text: $0).map { .backup($0) } }), reads: "nothing",
                writes: "`BYTES ENTRIES LEFTOUT`: notes in the journal that a backup was made")
        case .appState:
            Row(
                .setting(
                    read: { $0.read { $0.device.app }.rawValue + "\n" },
                    parse: { AppCommand(rawValue: $0).map { .app($0) } }),
                reads: "`foreground`, `background`, `suspended`, `terminated` or `offloaded`",
                writes: "`launch`, `background`, `suspend`, `terminate`, `update`, `delete`, `offload` or `install`")
        case .appProcess:
            Row(
                .process, reads: "the process of the app, or 0",
                writes: "a process that is stopped, continued and killed, with its descendants, as app.state says; "
                    + "`0` for none")
        case .faults:
            Row(
                .faults,
                reads: "a line for each rule of a fault: how many calls matched it, how many met the fault, and the "
                    + "rule",
                writes: "rules, a line each, which are added; `seed=NUMBER`; `off` removes all and ends a `full` "
                    + "device ([FAULTS.md](FAULTS.md))")
        case .journalSize:
            Row(
                .setting(
                    read: { "\($0.read { $0.device.journal.size.bytes })\n" },
                    parse: { JournalBounds.size(text: $0).map { .journal(.size($0)) } }),
                reads: "the maximum length of the journal's file, in bytes; 0 if no events are recorded",
                writes: "a size from 1M to 1G, or `0`",
                set: "maximum size of the journal: SIZE from 1M to 1G, or 0 "
                    + "to record no events")
        case .journalAge:
            Row(
                .setting(
                    read: { $0.read { $0.device.journal.age }.text + "\n" },
                    parse: { TimeSpan(purgeLatency: $0).map { .journal(.age($0)) } }),
                reads: "the maximum age of events in the journal, by the device's clock; `0s` for no limit",
                writes: "a duration, or `0`", set: "maximum age of events: DURATION, or 0 for no limit")
        case .status:
            Row(
                .report { JSONText.encode($0.status(), pretty: true) + "\n" },
                reads: "the state of the container as one JSON object")
        case .events: Row(.stream, reads: "events from now on, as JSON lines")
        }
    }

    /// The files that `purgefs set` can set.
    public static let settable = allCases.filter { $0.settingHelp != nil }

    public var canWrite: Bool { row.writes != nil }

    /// The help text of `purgefs set` for the file; nil if the command cannot set it.
    public var settingHelp: String? { row.set }

    /// The file's row in docs/CONTROL.md.
    public var documentation: String {
        "| `\(rawValue)` | \(row.reads) |\(row.writes.map { " \($0) " } ?? " ")|"
    }

    /// Returns the change of the device that a written text asks for; nil if the text is malformed or the file is not a
    /// setting.
    func change(_ text: String) -> DeviceChange? {
        if case .setting(_, let parse) = row.content { parse(text) } else { nil }
    }

    /// Whether reading the file returns the outcome of the last write to the same descriptor.
    var answers: Bool { if case .answer = row.content { true } else { false } }
}

extension DeviceChange {
    /// Parses a text that is written to device.state.
    fileprivate init?(state text: String) {
        switch text {
        case "lock": self = .lock
        case "unlock": self = .unlock
        case "reboot": self = .reboot
        default: return nil
        }
    }

    /// Parses a text that is written to device.clock.
    fileprivate init?(clock text: String) {
        guard text.first == "+", let span = TimeSpan(text: text.dropFirst()), span.seconds > 0 else { return nil }
        self = .clock(span)
    }
}
