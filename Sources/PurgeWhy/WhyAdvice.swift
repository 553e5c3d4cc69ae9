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
            report.isCertain == false ? [] : ["Look for it there, or change the program that renames it."]
        case .replaced:
            report.folder == nil
                ? ["It was not purged: the program that renamed the other file replaced this one."] : []
        case .appDeleted: ["Only data outside of the container, such as a backup or a server, outlives the app."]
        case .tmpEmptied: [reboot]
        case .notRestored: notRestored
        case .refused: refused(report)
        case .denied: denied(report)
        case .unrecorded: []
        case .unknown: ["Check the path."]
        }
    }

    private static let keep =
        "Keep files that cannot be recreated in Library/Application Support or Documents. Large files that can be "
        + "recreated but must stay belong there too, excluded from the backup (purgefs mark --exclude-from-backup)."
    private static let reboot =
        "Use tmp only for short-lived files: keep files that can be recreated in Library/Caches, and others in "
        + "Library/Application Support."
    private static let notRestored = [
        "Keep files that must survive a restore in Documents or Library/Application Support, and do not exclude them "
            + "from the backup."
    ]

    private static func purge(_ event: Event, _ report: WhyReport) -> [String] {
        if report.update != nil { return [reboot, keep] }
        if event.trigger == .command {
            return [
                "The device was not short of space: find the program that gave the "
                    + "command."
            ]
        }
        if report.moves != nil, Place.at(path: report.path.utf8).tier == .persistent, event.tier != .persistent {
            return [
                "A file's place decides whether it is purgeable. At its earlier place, it would have been purged only "
                    + "if it was marked purgeable."
            ]
        }
        switch event.reason.flatMap(PurgeReason.init(rawValue:)) {
        case .temporary: return [reboot, "Open files are skipped."]
        case .reboot: return [reboot]
        case .caches:
            return [
                keep,
                "In Library/Caches, recently used files and files marked --purgeable=high are purged last; open files "
                    + "are skipped.",
            ]
        case .purgeable:
            return [
                "If it must stay, remove the mark from the file or its folder (purgefs mark --not-purgeable). Files "
                    + "marked --purgeable=high are purged last."
            ]
        case .policyAge:
            return [
                "Give the directory a longer age: purgefs policy add DIR --after AGE."
            ]
        case .policySize:
            return ["Give the directory a larger limit (purgefs policy add DIR --limit SIZE), or keep less in it."]
        case .command, .others, nil: return ["No rule caused this purge: find the program that gave the command."]
        }
    }

    private static func removed(_ report: WhyReport) -> [String] {
        guard report.folder == nil else { return [] }
        let process = report.event?.process
        if process == "mv" {
            return ["mv to another file system copies a file and removes the original: look for the copy."]
        }
        return ["purgefs did not purge it: find out why that program deletes it."]
    }

    private static func flagLost(_ report: WhyReport) -> [String] {
        let flags = (report.lostFlags ?? []).map(\.flag)
        return [
            "Set \(WhyWords.list(flags)) again after each atomic save, write to the file in place, or set it on the "
                + "folder"
                + (flags.contains(StorageAttribute.fileProtection.rawValue)
                    ? "." : ", where it applies to everything below it.")
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
            "Create the file before the device is locked, or in a folder with another class: completeUnlessOpen "
                + "allows new files while the device is locked, and completeUntilFirstUserAuthentication also allows "
                + "reading them."
        ]
    }

    private static func refused(_ report: WhyReport) -> [String] {
        var sentences = [
            report.event?.tier == .persistent
                ? "Check volumeAvailableCapacityForImportantUsage before the write, and write to a temporary name "
                    + "first, so that a failed write leaves the old file."
                : "A write to tmp, to Library/Caches or to a marked file purges nothing for itself and may use only free "
                    + "space (in profile documented, only above the low threshold): check "
                    + "volumeAvailableCapacityForOpportunisticUsage first."
        ]
        if let file = report.file, file.kind == .file, file.size == .zero {
            sentences.append("A failed write can leave an empty file, as here.")
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
