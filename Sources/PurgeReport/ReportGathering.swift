import Glibc
import PurgeCommandLine
import PurgeContainers

import PurgeModel
import PurgeStore
import PurgeSystem

/// Collects the content of a report on one container. If the journal or files cannot be read, a remark says so. If the control
/// files cannot be read, `gather` throws.
package struct ReportGathering {
    private static let mostFiles = 20
    /// The number of times that `snapshot` tries to read a status and a journal of the same moment.
    private static let attempts = 5

    private let target: Target
    /// True if another process keeps the journal locked. Waiting again for each read would take a minute.
    private var isJournalLocked = false
    private var content = ReportContent(
        time: .init(simulated: Instant(nanoseconds: System.now()), real: Instant(nanoseconds: System.now())),
        version: Version.number)

    package init(_ target: Target, run: ReportContent.Run? = nil) {
        self.target = target
        content.run = run
    }

    /// Gathers the content. `addFindings` adds the findings of a diagnosis.
    package mutating func gather(addFindings: (Target, inout ReportContent) -> Void) throws(CommandFailure)
        -> ReportContent
    {
        try gatherNumbers()
        // By now this process has released the store's lock.
        if isJournalLocked {
            content.remarks.append("There are no findings: the journal cannot be read")
        } else {
            addFindings(target, &content)
        }
        return content
    }

    private mutating func gatherNumbers() throws(CommandFailure) {
        let control = try target.open(forReading: true)
        do throws(CommandFailure) {
            try gather(control)
        } catch {
            // The first failure is the one to report.
            do throws(CommandFailure) { try control.close() } catch {}
            throw error
        }
        try control.close()
    }

    /// Gathers the parts that can be read although the store cannot be opened.
    package mutating func gatherRemains(of store: String, _ failure: CommandFailure) -> ReportContent {
        content.remarks.append("The container could not be read: \(failure.message)")
        readSamples(of: store)
        readHistory(of: store, upTo: nil)
        return content
    }

    private mutating func gather(_ control: any ControlEndpoint) throws(CommandFailure) {
        content.remarks += control.warnings
        // Flush before the status is read, because the status is the last point of the curves.
        if control.isMounted {
            try control.requireStore("cannot make the report")
            try control.flushJournal()
        }
        readSamples(of: try control.status().store)
        let (status, last) = try snapshot(control)
        let now = Instant(nanoseconds: System.now())
        content.time = .init(simulated: now.advanced(by: TimeSpan(seconds: status.device.clock)), real: now)
        content.status = status
        if let work = status.device.unfinished?.text {
            content.remarks.append("Not finished: \(work). The next mount finishes it.")
        }
        readHistory(of: status.store, upTo: last)
        try readSettings(control, status)
        readFiles(control, status)
    }

    /// Returns a status, and the number of the last event before it, or nil if the journal cannot be read. If events keep
    /// arriving in between, the status may be newer than the tables, but is never older.
    func snapshot(_ control: any ControlEndpoint) throws(CommandFailure) -> (StatusReport, last: Int64?) {
        var status = try control.status()
        var last: Int64?
        for _ in 0..<Self.attempts {
            let before = try lastSequence(control, status.store)
            status = try control.status()
            last = before
            if before == (try lastSequence(control, status.store)) { break }
        }
        return (status, last)
    }

    /// Returns nil if the journal cannot be read.
    private func lastSequence(_ control: any ControlEndpoint, _ store: String) throws(CommandFailure) -> Int64? {
        if isJournalLocked { return nil }
        if control.isMounted { try control.flushJournal() }
        do throws(CommandFailure) { return try History(store: store).lastSequence() } catch { return nil }
    }

    private mutating func readHistory(of store: String, upTo last: Int64?) {
        var history = ReportHistory()
        defer { content.history = history }
        content.hasHistory = false
        if isJournalLocked { return }
        do throws(CommandFailure) {
            try History(store: store).visit(after: 0, EventFilter(types: Set(EventType.allCases))) { event in
                if event.seq <= last ?? .max { history.add(event) }
            }
            content.hasHistory = true
        } catch { addRemark(error) }
    }

    private mutating func readSamples(of store: String) {
        do throws(StoreError) {
            content.samples = try JournalReader(storePath: store).samples().compactMap { ReportContent.Sample($0) }
        } catch {
            isJournalLocked = error.isForLock
            addRemark(CommandFailure("cannot read the journal", error))
        }
    }

    /// Adds a remark once, even if reading samples and events fails for the same reason.
    private mutating func addRemark(_ failure: CommandFailure) {
        if !content.remarks.contains(failure.message) { content.remarks.append(failure.message) }
    }
}

// Settings and files.
extension ReportGathering {
    private mutating func readSettings(_ control: any ControlEndpoint, _ status: StatusReport) throws(CommandFailure) {
        let (storage, device, limits) = (status.storage, status.device, status.thresholds)
        func add(_ name: String, _ value: String) { content.settings.append(.init(name: name, value: value)) }
        add("profile", status.profile)
        add("total", storage.total.inWords)
        add("others", storage.others.inWords)
        add("others, purgeable", storage.othersPurgeable.inWords)
        if let share = storage.othersShare { add("others' share", "\(share) %") }
        add(
            "thresholds",
            limits == .off
                ? "off"
                : "very low \(limits.veryLow.inWords), low \(limits.low.inWords), near low \(limits.nearLow.inWords), "
                    + "desired \(limits.desired.inWords)")
        if let name = protection(of: status.store) { add("default protection", name) }
        add("device", "\(device.state), boot \(device.boots)")
        add("clock", device.clock > 0 ? "\(DurationText.inWords(seconds: device.clock)) ahead" : "real time")
        add("app", status.app.state.rawValue)
        for file in Setting.settable.compactMap({ ControlFile(rawValue: $0.name) }) where !Self.shown.contains(file) {
            let value = try control.content(of: file)
            if file == .journalSize { content.isRecorded = value.split(separator: "\n") != ["0"] }
            add(file.rawValue, value.split(separator: "\n").joined(separator: ", "))
        }
        content.policies = try control.content(of: .storagePolicies).split(separator: "\n").compactMap { line in
            do { return try JSONText.decode(PolicyLine.self, from: String(line)) } catch { return nil }
        }
    }

    /// The settings that the status already contains.
    private static let shown: Set<ControlFile> = [
        .storageTotal, .storageOthers, .storageOthersPurgeable, .storageOthersShare, .storageThresholds,
        .storageProfile,
    ]

    private func protection(of store: String) -> String? {
        do throws(StoreError) {
            return try StoreAtRest.savedSettings(of: store)?.protection.appleName
        } catch { return nil }
    }

    private mutating func readFiles(_ control: any ControlEndpoint, _ status: StatusReport) {
        System.raiseDescriptorLimit()
        do throws(Errno) {
            var largest = LargestFiles(Self.mostFiles)
            try largest.walk(try control.cleanableFolder())
            let root = control.isMounted ? control.place : status.store + "/container"
            content.largest = largest.files(in: try FileDescriptor.open(root, O_RDONLY | O_DIRECTORY))
            if largest.unread > 0 {
                content.remarks.append(
                    largest.unread == 1
                        ? "1 folder could not be read; its files are not shown."
                        : "\(largest.unread) folders could not be read; their files are not shown.")
            }
        } catch { content.remarks.append("The files could not be read: \(error)") }
    }
}
