import PurgeCommandLine
import PurgeModel
import PurgeStore

/// Answers a question about a path from the journal of its container and from its present state.
struct WhyInquiry {
    typealias Query = JournalReader.Query
    let path: String
    let container: String
    let journal: any NameEvents
    /// True if the journal records no events now.
    var isOff = false
    /// The profile in effect now. Past events do not record theirs.
    var profile = Profile.documented
    /// The old path that the user or the link named, if any.
    var former: FormerPath?
    /// The present entry at the path, if any.
    let file: PresentFile?
    /// Returns a flag that the present entry has itself, without inheritance.
    let flag: (String) -> String?
    /// Returns true if a path of the container exists.
    let exists: (String) -> Bool
    /// Returns the earliest time at which the entry at a path may have existed, by the host's clock; nil if unknown.
    let since: (String) -> String?
    /// Returns the names in a folder of the container.
    let names: (String) -> [String]

    /// The number of newest events of a path that are examined.
    private static let recent = 256
    private static let mostLacks = 8
    private var history: NameHistory {
        NameHistory(
            journal: journal, exists: exists, since: since, rebootsEmptyTmp: profile.rebootEmptiesTemporary)
    }

    func report() throws(CommandFailure) -> WhyReport {
        let recent = try journal.events(Query(.at(path), limit: Self.recent))
        var report = if let file { try present(file, recent) } else { try gone(recent) }
        // Events of an earlier file with this name are irrelevant.
        let own = recent.prefix { file != nil || $0.seq > report.earlier?.seq ?? 0 }
        if file == nil {
            report.refused = own.first { $0.type == .refused }
            report.protectionDenied = own.first { $0.type == .protectionDenied }
        }
        report.journal = try extent()
        if report.answer == .unknown || report.isCertain == false && recent.isEmpty { report.nearest = try nearest() }
        report.former = former
        report.advice = WhyAdvice.sentences(report) + (former == nil ? [] : [FormerPath.advice])
        return report
    }

    private func extent() throws(CommandFailure) -> WhyReport.Extent {
        let first = try journal.events(Query(.any, newestFirst: false, limit: 1)).first
        let dropped = try journal.events(Query(.whole(.dropped)))
        // A reason such as `7 events` counts the missing events; any other reason describes them in words.
        let counts = dropped.compactMap { $0.reason?.split(separator: " ").first.flatMap { Int64($0) } }
        var lacks: [String] = []
        for reason in dropped.compactMap(\.reason) where Int64(reason.prefix { $0 != " " }) == nil {
            if lacks.count < Self.mostLacks, !lacks.contains(reason) { lacks.append(reason) }
        }
        return WhyReport.Extent(
            first: first?.seq, time: first?.time, realTime: first?.realTime,
            missing: counts.isEmpty ? nil : counts.reduce(0) { $0.addingReportingOverflow($1).partialValue },
            lacks: lacks.isEmpty ? nil : lacks, isOff: isOff ? true : nil, missingBefore: dropped.first?.seq)
    }
}

// The path exists.
extension WhyInquiry {
    private func present(_ file: PresentFile, _ recent: [Event]) throws(CommandFailure) -> WhyReport {
        var report = WhyReport(path: path, container: container, answer: .present)
        report.file = file
        let last = try history.beginning(of: path)
        let own = recent.prefix { $0.seq > last?.event.seq ?? 0 }
        let origins = try history.origins(of: path, made: since(path))
        report.origins = origins.isEmpty ? nil : origins
        let earlier = try last.flatMap { (last) throws(CommandFailure) in try told(last) }
        if earlier?.type == .replaced { report.replaced = earlier } else { report.earlier = earlier }
        let saved = try history.beginning(of: path, acrossSaves: true)
        let lost = lostFlags(recent.prefix { $0.seq > saved?.event.seq ?? 0 })
        report.lostFlags = lost.isEmpty ? nil : lost
        report.refused = own.first { $0.type == .refused }
        report.protectionDenied = own.first { $0.type == .protectionDenied }
        if let refused = report.refused, file.isWritten(after: refused) { report.isWrittenSince = true }
        if file.protection?.canBeOpened == false {
            report.answer = .inaccessible
        } else if file.kind == .file, file.size == .zero, let event = own.first(where: { $0.tombstone == true }) {
            (report.answer, report.event) = (.emptied, event)
            report.passedOver = try passedOver(event)
        } else if let newest = lost.first {
            (report.answer, report.event) = (.flagLost, newest.event)
        } else if let newest = own.first, newest.type == .refused, report.isWrittenSince == nil {
            (report.answer, report.event) = (.refused, newest)
        }
        return report
    }

    /// Returns the lost flags that the file still lacks, and that nobody has set or removed since the loss.
    private func lostFlags(_ recent: some Sequence<Event>) -> [WhyReport.LostFlag] {
        var seen: Set<String> = []
        var lost: [WhyReport.LostFlag] = []
        for event in recent where event.type == .flagLost || event.type == .mark {
            guard let reason = event.reason, let end = reason.firstIndex(of: "=") else { continue }
            let (name, value) = (String(reason[..<end]), String(reason[reason.index(after: end)...]))
            guard seen.insert(name).inserted, event.type == .flagLost, flag(name) != value else { continue }
            lost.append(WhyReport.LostFlag(flag: name, value: value, event: event))
        }
        return lost
    }
}

// The path is gone.
extension WhyInquiry {
    private func gone(_ recent: [Event]) throws(CommandFailure) -> WhyReport {
        if let report = try emptied(recent) { return report }
        let (fate, isDoubtful) = try history.fate(of: path)
        switch fate {
        case .ended(let ending, let place, let moves):
            var report = try ended(ending, at: place, moves)
            if isDoubtful { report.isCertain = false }
            return report
        case .there(let place, let moves): return try moved(to: place, moves)
        case .lost(let place, let moves, let isTaken):
            var report = try moved(to: place, moves)
            report.isCertain = false
            if isTaken { report.isTaken = true }
            return report
        case .beyond(let place, let moves):
            var report = try moved(to: place, moves)
            (report.isCertain, report.isFollowed) = (false, false)
            return report
        case .unknown: return try untold(recent)
        }
    }

    private func moved(to place: String, _ moves: [NameMove]) throws(CommandFailure) -> WhyReport {
        var report = WhyReport(path: path, container: container, answer: .moved)
        (report.event, report.place, report.moves) = (moves.last?.event, place, moves)
        return try withEarlier(report, before: moves.first?.event)
    }

    private func ended(_ ending: NameEnding, at place: String, _ moves: [NameMove]) throws(CommandFailure) -> WhyReport
    {
        let event = ending.event
        var report = WhyReport(path: path, container: container, answer: Self.answer(event))
        (report.event, report.folder) = (event, ending.above)
        if moves.isEmpty {
            let origins = try history.origins(of: path, before: event.seq)
            report.origins = origins.isEmpty || ending.isOfAll ? nil : origins
        } else {
            (report.place, report.moves) = (place, moves)
        }
        if event.type == .purge {
            report.passedOver = try passedOver(event)
            report.update = try update(with: event)
        }
        report = try withEarlier(report, before: report.origins?.last?.event ?? moves.first?.event ?? event)
        if try !isKnown(ending, moves) { report.isCertain = false }
        return report
    }

    /// Returns true if the journal proves that the name existed when it ended.
    private func isKnown(_ ending: NameEnding, _ moves: [NameMove]) throws(CommandFailure) -> Bool {
        if ending.above != nil { return false }
        if !ending.isOfAll || moves.contains(where: { $0.folder == nil }) { return true }
        if let move = try history.origins(of: path, before: ending.event.seq).first, move.folder == nil { return true }
        let last = try journal.events(Query(.at(path), before: ending.event.seq, limit: 1)).first
        return last.map { !$0.endsName && $0.type != .protectionDenied } ?? false
    }

    private static func answer(_ event: Event) -> WhyReport.Answer {
        switch event.type {
        case .purge: .purged
        case .replaced: .replaced
        case .renamed: .moved
        case .app where event.reason == AppCommand.delete.rawValue: .appDeleted
        case .app, .device: .tmpEmptied
        case .restore: .notRestored
        default: .removed
        }
    }

    private func withEarlier(_ report: WhyReport, before event: Event?) throws(CommandFailure) -> WhyReport {
        var report = report
        guard let event, let last = try history.lastEnding(of: path, before: event.seq),
            !NameHistory.areOneStep(event, last.event)
        else { return report }
        report.earlier = try told(last)
        return report
    }

    /// Returns the event that ended an earlier file of the name, or nil if only a folder above ended. If the whole container
    /// ended and the journal does not prove that the file existed then, the ending before counts.
    private func told(_ ending: NameEnding) throws(CommandFailure) -> Event? {
        if ending.above != nil { return nil }
        if try isKnown(ending, []) { return ending.event }
        guard let last = try history.lastEnding(of: path, before: ending.event.seq), !last.isOfAll else { return nil }
        return try told(last)
    }

    /// Returns the skipped files, which only the first event of each step of a purge lists. Purges with the same trigger,
    /// process and cause within the same second count as one.
    private func passedOver(_ purge: Event) throws(CommandFailure) -> [PassedOver]? {
        if let own = purge.passedOver { return own }
        let before = try journal.events(Query(.any, before: purge.seq, limit: 300))
        return before.prefix { event in
            event.type == .purge && event.trigger == purge.trigger && event.pid == purge.pid
                && event.cause == purge.cause && event.time.prefix(19) == purge.time.prefix(19)
        }.first { $0.passedOver != nil }?.passedOver
    }

    /// Returns the update that emptied tmp, whose event follows the events of the files; nil if the purge was not part of one.
    private func update(with purge: Event) throws(CommandFailure) -> Event? {
        guard purge.reason == PurgeReason.temporary.rawValue, purge.trigger == .command else { return nil }
        let next = try journal.events(Query(.whole(.app), after: purge.seq, newestFirst: false, limit: 1)).first
        return next?.reason == AppCommand.update.rawValue && next?.pid == purge.pid ? next : nil
    }

    /// Answers for a path whose end no event records.
    private func untold(_ recent: [Event]) throws(CommandFailure) -> WhyReport {
        var report = WhyReport(path: path, container: container, answer: .unknown)
        if let denied = recent.first, denied.type == .protectionDenied, denied.reason?.hasPrefix("create ") ?? false {
            (report.answer, report.event) = (.denied, denied)
        } else if let refused = recent.first, refused.type == .refused {
            (report.answer, report.event) = (.refused, refused)
        } else if Place.at(path: path.utf8) == .temporary, let event = try history.emptyingOfTmp(Query(.any)),
            event.seq > recent.first?.seq ?? 0
        {
            (report.answer, report.event) = (.tmpEmptied, event)
            report.isCertain = recent.isEmpty ? false : nil
        } else {
            report.event = if let event = recent.first { event } else { try newestBelow() }
            if report.event != nil { report.answer = .unrecorded }
        }
        return report
    }

    /// Answers for a file that a move had brought to tmp before tmp was emptied, although the last recorded ending is an
    /// earlier file's.
    private func emptied(_ recent: [Event]) throws(CommandFailure) -> WhyReport? {
        guard Place.at(path: path.utf8) == .temporary, let event = try history.emptyingOfTmp(Query(.any)),
            let last = try history.lastEnding(of: path, before: .max), event.seq > last.event.seq
        else { return nil }
        let origins = try history.origins(of: path, before: event.seq)
        guard let arrival = origins.first, arrival.folder == nil, arrival.event.seq > last.event.seq else { return nil }
        var report = WhyReport(path: path, container: container, answer: .tmpEmptied)
        (report.event, report.origins) = (event, origins)
        report.earlier = try told(last)
        return report
    }

    /// Returns the newest event below a folder that is gone, among the events of the first 64 paths below it.
    private func newestBelow() throws(CommandFailure) -> Event? {
        var newest: Event?
        for below in try journal.paths(near: path + "/", backwards: false, limit: 64) {
            guard below.utf8.starts(with: (path + "/").utf8) else { break }
            let event = try journal.events(Query(.at(below), limit: 1)).first
            if let event, event.seq > newest?.seq ?? 0 { newest = event }
        }
        return newest
    }
}

// Suggestions for a mistyped path.
extension WhyInquiry {
    private static let mostNames = 2000

    private func nearest() throws(CommandFailure) -> String? {
        let known =
            try journal.paths(near: path, backwards: false, limit: 32)
            + journal.paths(near: path, backwards: true, limit: 32)
        let parts = path.pathNames
        var folder: [String] = []
        for (index, name) in parts.enumerated() {
            if exists((folder + [name]).joined(separator: "/")) {
                folder.append(name)
                continue
            }
            let told = known.map(\.pathNames).filter { $0.count > index && Array($0[..<index]) == folder }
            let candidates = names(folder.joined(separator: "/")).prefix(Self.mostNames) + told.map { $0[index] }
            guard let near = Suggestion.nearest(to: name, among: candidates.filter { $0 != name }) else { return nil }
            let rest = (folder + [near] + parts[(index + 1)...]).joined(separator: "/")
            let isKnown = index == parts.count - 1 || exists(rest) || known.contains(rest)
            return isKnown ? rest : (folder + [near]).joined(separator: "/")
        }
        return nil
    }
}
