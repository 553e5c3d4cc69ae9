import PurgeContainers
import PurgeModel

/// Advice on how to prevent the loss, or on the next step.
enum WhyAdvice {
    static func sentences(_ report: WhyReport) -> [String] {
        switch report.answer {
        case .present: file(report)
        case .inaccessible: inaccessible(report)
        case .emptied, .purged: report.event.map { purge($0, report) } ?? []
        case .flagLost: flagLost(report)
        case .removed: removed(report)
        case .moved:
            report.isCertain == false ? [] : ["Look for it there, or change what renames it."]
        case .replaced:
            report.folder == nil
                ? ["Nothing was purged: the program that renamed the other file has replaced this one."] : []
        case .appDeleted: ["Only what is outside of the container, such as a backup or a server, outlives its app."]
        case .tmpEmptied: [reboot]
        case .notRestored: notRestored
        case .refused: refused(report)
        case .denied: denied(report)
        case .unrecorded: []
        case .unknown: ["Check the path."]
        }
    }

    private static let keep =
        "Keep what cannot be made again in Library/Application Support or Documents. Large files that can be had again but "
        + "must stay belong there too, excluded from the backup (purgefs mark --exclude-from-backup)."
    private static let reboot =
        "tmp is only for what is needed at the moment: keep in Library/Caches what can be made again, and in "
        + "Library/Application Support what cannot."
    private static let notRestored = [
        "Keep what must survive a restore in Documents or Library/Application Support, and do not exclude it from "
            + "the backup."
    ]

    private static func purge(_ event: Event, _ report: WhyReport) -> [String] {
        if report.update != nil { return [reboot, keep] }
        if event.trigger == .command { return ["No lack of space has taken it: look for what gave that command."] }
        if report.moves != nil, Place.at(path: report.path.utf8).tier == .persistent, event.tier != .persistent {
            return [
                "The place of a file decides what may happen to it: where it was before, no rule would have taken it, "
                    + "unless it was marked purgeable."
            ]
        }
        switch event.reason.flatMap(PurgeReason.init(rawValue:)) {
        case .temporary: return [reboot, "A file that is open is passed over."]
        case .reboot: return [reboot]
        case .caches:
            return [
                keep,
                "Of the files in Library/Caches, those that were used last, and those that are marked "
                    + "--purgeable=high, go last; a file that is open is passed over.",
            ]
        case .purgeable:
            return [
                "Remove the mark from the file, or from the folder that has it, if it must stay (purgefs mark "
                    + "--not-purgeable); --purgeable=high makes it go last."
            ]
        case .policyAge:
            return [
                "Give the directory a longer age (purgefs policy add DIR --after), or open the file now and then: that is a use."
            ]
        case .policySize:
            return ["Give the directory a larger limit (purgefs policy add DIR --limit), or keep less in it."]
        case .command, .others, nil: return ["No rule asked for it: look for the command that did."]
        }
    }

    private static func removed(_ report: WhyReport) -> [String] {
        guard report.folder == nil else { return [] }
        let process = report.event?.process
        if process == "mv" {
            return ["mv to another file system copies a file and removes it here: look for it where mv took it."]
        }
        return ["No rule of storage has taken it: look in that program for what deletes the file."]
    }

    private static func flagLost(_ report: WhyReport) -> [String] {
        let flags = (report.lostFlags ?? []).map(\.flag)
        return [
            "Set \(WhyWords.list(flags)) again after each atomic save, or write to the file in place, or set it on the "
                + "folder"
                + (flags.contains(StorageAttribute.fileProtection.rawValue)
                    ? "." : ", which acts on all that is in it.")
        ]
    }

    private static func inaccessible(_ report: WhyReport) -> [String] {
        guard let protection = report.file?.protection else { return [] }
        let other = protection.state == .beforeFirstUnlock ? FileProtection.none : .completeUntilFirstUserAuthentication
        return [
            "Wait until the device is unlocked (purgefs device unlock), or give the file a class that can be read in "
                + "this state: purgefs mark --protection \(other.rawValue)."
        ]
    }

    private static func denied(_ report: WhyReport) -> [String] {
        [
            "Make the file before the device is locked, or in a folder with another class: with completeUnlessOpen a "
                + "file can be made while the device is locked, and with completeUntilFirstUserAuthentication it can be read too."
        ]
    }

    private static func refused(_ report: WhyReport) -> [String] {
        var sentences = [
            report.event?.tier == .persistent
                ? "Read volumeAvailableCapacityForImportantUsage before the write, and write to another name first, so that a "
                    + "failure leaves the old file."
                : "In tmp and Library/Caches, and of marked files, a write takes only what is free above the low threshold: "
                    + "read volumeAvailableCapacityForOpportunisticUsage before it."
        ]
        if let file = report.file, file.kind == .file, file.size == .zero {
            sentences.append("The file is empty: a write that fails can leave such a file.")
        }
        return sentences
    }

    private static func file(_ report: WhyReport) -> [String] {
        guard let file = report.file else { return [] }
        if let refusal = file.refusal, refusal.reason == .severalNames || refusal.reason == .linkedOutside {
            return [RefusalText.advice(refusal.reason, users: [], isRoot: true)]
        }
        guard file.turn != nil, file.tier != .persistent else { return [] }
        return [file.tier == .temporary ? reboot : keep]
    }
}
