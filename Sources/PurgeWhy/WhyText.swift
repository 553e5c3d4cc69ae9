import PurgeCommandLine
import PurgeModel

/// Renders a report as text: the short answer, the facts, then advice.
struct WhyText {
    let report: WhyReport

    var lines: [String] {
        var parts = [WhyWords.wrapped("\(WhyWords.path(report.path)): \(headline)")]
        parts += paragraphs.filter { !$0.isEmpty }.map { WhyWords.wrapped($0.joined(separator: " ")) }
        parts.insert(purge?.neighbours ?? [], at: min(report.former == nil ? 2 : 3, parts.count))
        if !report.advice.isEmpty { parts.append(WhyWords.wrapped(report.advice.joined(separator: " "))) }
        return Array(parts.filter { !$0.isEmpty }.joined(separator: [""]))
    }

    /// The failure to throw instead of printing `lines`, if nothing is known of the path.
    var failure: CommandFailure {
        CommandFailure(
            "cannot say why", path: report.path, "nothing is known about it",
            advice: WhyWords.wrapped(
                ((report.former?.sentences ?? []) + journal + report.advice).joined(separator: " "), indent: "  "
            )
            .joined(separator: "\n").dropFirst(2).description)
    }

    private var purge: PurgeSentences? {
        guard let event = report.event, [.purged, .emptied].contains(report.answer) else { return nil }
        return PurgeSentences(event: event, update: report.update, passedOver: report.passedOver ?? [])
    }

    private var headline: String {
        switch report.answer {
        case .present: "it is there."
        case .inaccessible: "it is there, but cannot be opened now."
        case .emptied: "it is there, but a purge has emptied it."
        case .flagLost: "it is there, but has lost \(WhyWords.list((report.lostFlags ?? []).map(\.flag)))."
        case .refused:
            report.file == nil
                ? "it does not exist, and the last write to it found no room."
                : "it is there, but the last write to it found no room."
        case .purged: moved.map { "\($0) and purged there." } ?? "it was purged."
        case .removed: removal
        case .moved where report.isFollowed == false: "it was renamed more than \(report.moves?.count ?? 0) times."
        case .moved where report.isCertain == false:
            if report.isTaken == true {
                "its folder was moved, and a newer item has this name there."
            } else {
                isOfFolder ? "its folder was moved, and nothing in it has this name." : "it was moved, and is gone."
            }
        case .moved: "it was moved to \(WhyWords.path(report.place ?? ""))."
        case .replaced where report.folder != nil:
            "it is gone, and the folder \(WhyWords.path(report.folder ?? "")) was replaced."
        case .replaced: moved.map { "\($0) and replaced there." } ?? "it was replaced, and is gone."
        case .appDeleted: "\(went) when the app was deleted\(ifThere)."
        case .tmpEmptied: "\(went) when tmp was emptied\(ifThere)."
        case .notRestored: "it was not in the backup from which this container was restored."
        case .denied: "it was never created: the device was locked."
        case .unrecorded: "it does not exist, and the journal does not say why."
        case .unknown: "nothing is known about it."
        }
    }

    private var removal: String {
        if let folder = report.folder { return "it is gone, and so is the folder \(WhyWords.path(folder))." }
        let who = report.event.flatMap { WhyWords.process($0) }.map { "by the app, \($0)" } ?? "by the app"
        return moved.map { "\($0) and deleted there \(who)." } ?? "it was deleted \(who)."
    }

    private var moved: String? {
        report.place.map { "it was \(report.isCertain == false ? "probably " : "")moved to \(WhyWords.path($0))" }
    }
    private var went: String {
        report.place.map { "it was moved to \(WhyWords.path($0)), and was removed" } ?? "it "
            + "was removed"
    }
    private var ifThere: String { report.isCertain == false ? ", if it was there then" : "" }

    private var paragraphs: [[String]] {
        [report.former?.sentences ?? [], event, file, movesHere, replaced, refused, denied, earlier, journal]
    }
}

// The event that explains the answer.
extension WhyText {
    private var event: [String] {
        guard let event = report.event else { return [] }
        let moves = moves(report.moves ?? [])
        if let purge { return moves + purge.all + unsure }
        switch report.answer {
        case .removed:
            if let folder = report.folder { return moves + [emptied(folder, event)] }
            return moves + ["It was deleted \(WhyWords.when(event))\(WhyWords.by(event))." + held(event)] + unsure
        case .replaced:
            if let folder = report.folder { return moves + [emptied(folder, event)] }
            return moves + [replacement(event)]
                + (report.place == nil ? ["The journal does not say what became of the earlier file."] : unsure)
        case .moved: return moves + whereabouts
        case .appDeleted:
            return moves + [
                "The app was deleted \(WhyWords.when(event))\(WhyWords.by(event)), which removes everything in the container."
            ] + unsure
        case .tmpEmptied:
            let cause = event.type == .app ? "The app was updated" : "The device was rebooted"
            return moves
                + [
                    "\(cause) \(WhyWords.when(event))\(WhyWords.by(event)), which empties tmp, including its "
                        + "folders."
                ] + unsure
        case .notRestored:
            return [
                "This container was restored \(WhyWords.when(event)) (\(VisibleText.of(event.reason ?? ""))). "
                    + "A backup omits tmp, Library/Caches and excluded items. Files from before the restore belong to "
                    + "an earlier life of the container."
            ]
        case .flagLost, .denied, .refused, .present, .inaccessible, .emptied, .purged, .unknown: return []
        case .unrecorded: return [last(event)]
        }
    }

    /// True if only ancestor folders were renamed.
    private var isOfFolder: Bool { report.moves?.allSatisfy { $0.folder != nil } ?? false }

    /// Describes the destination of a moved file that may no longer be there.
    private var whereabouts: [String] {
        let place = WhyWords.path(report.place ?? "")
        if report.isFollowed == false { return ["It was renamed again after that; later renames were not followed."] }
        guard report.isCertain == false else { return [] }
        if report.isTaken == true { return ["The item that is now at \(place) came there later."] + unsure }
        return isOfFolder
            ? ["There is nothing at \(place) now."] + unsure
            : ["There is nothing at \(place) now, and the journal does not say why."]
    }

    /// Describes the removal or replacement of a folder, which must be empty for either.
    private func emptied(_ folder: String, _ event: Event) -> String {
        let place = WhyWords.path(folder)
        let what =
            event.type == .replaced
            ? replacement(event, place) : "\(place) was removed \(WhyWords.when(event))\(WhyWords.by(event))."
        return what
            + " A folder must be empty for that, so its content was removed earlier; the journal does not say how."
    }

    private var unsure: [String] {
        guard report.isCertain == false, report.folder == nil else { return [] }
        return moved != nil && report.earlier != nil
            ? ["It may have been removed earlier: the journal does not record new files, so it cannot tell."]
            : ["The journal does not record new files, so it cannot tell whether it was there then."]
    }

    private func held(_ event: Event) -> String {
        guard let bytes = event.bytes, bytes > .zero else { return "" }
        return " It held \(bytes.inWords)."
    }

    private static let shown = 10

    private func moves(_ moves: [NameMove]) -> [String] {
        let left = moves.count - 2 * Self.shown
        if left > 0 {
            return sentences(moves.prefix(Self.shown)) + ["Then it, or its folder, was renamed \(left) times."]
                + sentences(moves.suffix(Self.shown))
        }
        return sentences(moves[...])
    }

    private func sentences(_ moves: ArraySlice<NameMove>) -> [String] {
        moves.map { move in
            let what =
                move.folder.map { "Its folder \(WhyWords.path($0)) was" }
                ?? (move.from.isPath(report.path) ? "It was" : "Then it was")
            return "\(what) renamed to \(WhyWords.path(move.folder == nil ? move.to : move.event.to ?? "")) "
                + "\(WhyWords.when(move.event))\(WhyWords.by(move.event))."
        }
    }

    private func replacement(_ event: Event, _ what: String = "it") -> String {
        let source = "renamed \(event.to.map(WhyWords.path) ?? "another file") over \(what)"
        return "\(WhyWords.capitalized(WhyWords.process(event) ?? "a process")) \(source) \(WhyWords.when(event))."
    }

    private func last(_ event: Event) -> String {
        let subject = event.path.map { $0.isPath(report.path) ? "it" : WhyWords.path($0) } ?? "it"
        return "The last event of \(subject) in the journal is of type \(event.type.rawValue), "
            + "\(WhyWords.when(event))\(WhyWords.by(event))" + (event.reason.map { " (\(WhyWords.path($0)))." } ?? ".")
    }
}

// The present file, and other known facts.
extension WhyText {
    private var file: [String] { report.file.map { PresentSentences(file: $0).all } ?? [] }

    /// Describes the moves that led to the path. An atomic save counts as a replacement, not as a move.
    private var movesHere: [String] {
        (report.origins ?? []).filter { report.replaced?.to != $0.from }.map { move in
            let what = move.folder == nil ? "It" : "Its folder"
            let from = WhyWords.path(move.folder == nil ? move.from : move.event.path ?? "")
            return "\(what) had been renamed from \(from) \(WhyWords.when(move.event))\(WhyWords.by(move.event))."
        }
    }

    private var replaced: [String] {
        guard let event = report.replaced else { return [] }
        var sentences = [
            "\(WhyWords.capitalized(WhyWords.process(event) ?? "a process")) last replaced it \(WhyWords.when(event))"
                + (event.to.map { ", by renaming \(WhyWords.path($0)) over it." } ?? ".")
        ]
        for lost in report.lostFlags ?? [] {
            sentences.append(
                "The earlier file had its own \(lost.flag)=\(WhyWords.path(lost.value)), and the new one does not: a "
                    + "flag belongs to a file, not to its name.")
        }
        return sentences
    }

    private var refused: [String] {
        guard let event = report.refused else { return [] }
        let size = event.bytes.map { "of \($0.inWords) " } ?? ""
        let level = event.pressure.map { " The pressure level was \($0.rawValue)." } ?? ""
        let since = report.isWrittenSince == true ? " It has been written to since then." : ""
        return [
            "A write \(size)to it\(WhyWords.by(event)) found no room \(WhyWords.when(event)) (ENOSPC).\(level)\(since)"
        ]
    }

    /// Parses a reason such as `open complete locked`.
    private var denied: [String] {
        guard let event = report.protectionDenied else { return [] }
        let words = (event.reason ?? "").split(separator: " ").map { WhyWords.path(String($0)) }
        let state = words.last.map {
            $0 == LockState.inactive.rawValue ? "had been locked for device.inactivity" : "was \($0)"
        }
        let details = words.count == 3 ? ": its class is \(words[1]), and the device \(state ?? "")" : ""
        let call =
            ["open": "open it", "create": "create it", "setClass": "change its class"][words.first ?? ""]
            ?? "use its data"
        let who = WhyWords.capitalized(WhyWords.process(event) ?? "a process")
        return ["\(who) could not \(call) \(WhyWords.when(event)) (EPERM)\(details)."]
    }

    private var earlier: [String] {
        guard let event = report.earlier else { return [] }
        let what =
            switch event.type {
            case .purge: "was purged"
            case .removed: "was deleted"
            case .renamed: "was renamed to \(WhyWords.path(event.to ?? ""))"
            case .replaced: "was replaced"
            case .app: "was removed when the app was deleted, in an earlier life of the container,"
            default: "belonged to an earlier life of the container, which ended"
            }
        return [
            "An earlier file of this name \(what) \(WhyWords.when(event))\(WhyWords.by(event)) "
                + "(`purgefs events --all --path PATH` shows all events of a name)."
        ]
    }

    private var journal: [String] {
        var sentences: [String] = []
        let isOpen = report.isCertain == false || [.unknown, .unrecorded].contains(report.answer)
        if isOpen, !report.journal.isWhole, let time = report.journal.time {
            sentences.append(
                "The journal goes back only to \(WhyWords.moment(time)); older events were removed.")
        }
        if isOpen || report.journal.missingBefore ?? 0 > report.event?.seq ?? 0 { sentences += missing }
        if report.journal.isOff == true {
            sentences.append("No events are recorded now (journal.size is 0), so this answer may be incomplete.")
        }
        if report.isExact == false {
            sentences.append("Its name is not UTF-8; the journal cannot tell it from similar names.")
        }
        if report.answer == .unknown {
            sentences.append(
                "It does not exist, and the journal has no event of it. The journal does not record new files.")
        }
        if let nearest = report.nearest { sentences.append("Did you mean \(WhyWords.path(nearest))?") }
        return sentences
    }

    private var missing: [String] {
        let counted = report.journal.missing.map { ["\($0) events that were dropped"] } ?? []
        let lacks = counted + (report.journal.lacks ?? []).map { VisibleText.of($0) }
        return lacks.isEmpty
            ? [] : ["This answer may be incomplete: the journal lacks \(lacks.joined(separator: "; "))."]
    }
}
