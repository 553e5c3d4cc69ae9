import PurgeModel

// The findings of the rules for a single entry. Other findings come from the audit of the backup and from sums.
extension DiagnosisRule {
    /// The total size of files without a limit in Library/Caches beyond which they need one.
    static let largestCaches = ByteCount(100_000_000)

    static func findings(of entry: DiagnosedEntry, in context: Diagnosis.Context) -> [DiagnosisFinding] {
        var found = ofState(entry) + ofMarks(entry)
        if entry.isFile { found += ofPlace(entry, at: context.now) + ofProtection(entry, context.protection) }
        if entry.kind == .folder { found += ofFolder(entry) }
        return found
    }

    private static func finding(
        _ rule: DiagnosisRule, _ entry: DiagnosedEntry, _ detail: String? = nil, advice: String? = nil
    ) -> DiagnosisFinding {
        DiagnosisFinding(
            rule, path: entry.path.isEmpty ? "." : entry.path, bytes: entry.isFile ? entry.size : nil, detail: detail,
            advice: advice)
    }

    private static func times(_ count: Int32) -> String { count == 1 ? "once" : "\(count) times" }

    private static func ofState(_ entry: DiagnosedEntry) -> [DiagnosisFinding] {
        var found: [DiagnosisFinding] = []
        if entry.lacksRefusedData {
            found.append(
                finding(
                    .writeRefused, entry,
                    (entry.size == .zero ? "empty" : "cut short") + ", refused \(times(entry.history.refusals))"))
        }
        if entry.isTombstone {
            found.append(
                finding(
                    .emptyFile, entry, "emptied by a purge",
                    advice: "A file of 0 bytes stands for a purged one: restore its content before use."))
        }
        if let target = entry.purgedTarget {
            found.append(finding(.purgedTarget, entry, "to \(target.path), purged \(target.time.iso8601)"))
        }
        if let stale = entry.stalePath { found.append(finding(.stalePath, entry, stale.inWords)) }
        if let lock = entry.history.lastLock {
            found.append(finding(.lockHeld, entry, "\(lock), \(times(entry.history.locks))"))
        }
        if entry.isClosed { found.append(finding(.noPermission, entry)) }
        if let problem = entry.nameProblem { found.append(finding(.unusualName, entry, problem.rawValue)) }
        return found
    }

    private static func ofPlace(_ entry: DiagnosedEntry, at now: Instant) -> [DiagnosisFinding] {
        var found: [DiagnosisFinding] = []
        if let reason = entry.reasonToGo {
            let detail = "because of \(reason.rightInWords)"
            if FileKind.isDatabase(entry.path) {
                found.append(finding(.databaseMayBePurged, entry, detail))
            } else if FileKind.isUserContent(entry.path) {
                found.append(finding(.userContentMayBePurged, entry, detail))
            }
        }
        if entry.history.purges > 1, entry.size > .zero {
            found.append(finding(.purgedAgain, entry, "purged \(times(entry.history.purges))"))
        }
        // A copied or unpacked file may have been changed long before it arrived.
        let since = max(entry.modified, entry.arrived ?? .distantPast)
        if entry.standing.tier == .temporary, since.advanced(by: PurgeRule.temporaryAge) <= now {
            found.append(finding(.oldTemporary, entry))
        }
        return found
    }

    private static func ofProtection(_ entry: DiagnosedEntry, _ standard: FileProtection) -> [DiagnosisFinding] {
        let own = entry.standing.flags.protection
        if own == FileProtection.none, entry.standing.folderProtection != FileProtection.none {
            return [finding(.protectionNone, entry)]
        }
        let effective = own ?? standard
        // If the class was changed so that it would no longer refuse, there is nothing to report.
        let state = entry.history.deniedState ?? .beforeFirstUnlock
        guard entry.history.denials > 0, !effective.admits(.open, in: state) else { return [] }
        let detail = "\(effective.rawValue), refused \(times(entry.history.denials))"
        let isBeforeUnlock = effective == .completeUntilFirstUserAuthentication
        return [
            finding(
                .protectionDenied, entry, detail,
                advice: isBeforeUnlock
                    ? "It was accessed before the first unlock after a reboot: wait for the unlock, or use class none "
                        + "for files that are needed earlier." : nil)
        ]
    }

    private static func ofMarks(_ entry: DiagnosedEntry) -> [DiagnosisFinding] {
        let (standing, flags) = (entry.standing, entry.standing.flags)
        var found: [DiagnosisFinding] = []
        if entry.history.lostExclusion, flags.isExcluded == nil, standing.placement.exclusion == nil {
            found.append(finding(.flagLost, entry, "\(StorageAttribute.isExcludedFromBackup.rawValue)=1"))
        }
        if let lost = entry.history.lostMark, flags.mark == nil, standing.tier == .persistent,
            standing.mark(hasSeveralNames: entry.hasSeveralNames) != lost
        {
            found.append(finding(.flagLost, entry, "\(StorageAttribute.isPurgeable.rawValue)=\(lost.text)"))
        }
        if flags.mark?.urgency != nil, standing.tier == .persistent, standing.placement.exclusion == nil {
            found.append(finding(.purgeableInBackup, entry))
        }
        if flags.mark == .notPurgeable, standing.tier != .persistent {
            found.append(finding(.ineffectiveMark, entry))
        }
        return found
    }

    private static func ofFolder(_ entry: DiagnosedEntry) -> [DiagnosisFinding] {
        let flags = entry.standing.flags
        var found: [DiagnosisFinding] = []
        if flags.protection == FileProtection.none, entry.standing.folderProtection != FileProtection.none {
            found.append(finding(.protectionNone, entry, "for new items in it"))
        }
        if !flags.policy.isEmpty, !flags.policy.isLimited { found.append(finding(.policyWithoutLimit, entry)) }
        return found
    }
}

extension DiagnosedEntry.StalePath {
    /// The old path, relative to its container, what replaced that container, and whether the path exists now.
    fileprivate var inWords: String {
        let source = texts.map { count in
            let place = place.map { ", \(count == 1 ? "in" : "first in") \($0)" }
            return "\(count) \(count == 1 ? "text" : "texts")\(place ?? ""): "
        }
        let inner = path.inner.isEmpty ? "the whole" : String(decoding: path.inner, as: UTF8.self)
        let end = end.map { ", before the \($0.type == .restore ? "restore" : $0.reason ?? "change") of \($0.time)" }
        let now = path.inner.isEmpty ? "" : isHere ? "; it is here now" : "; there is no such entry now"
        return (source ?? "to ") + "\(inner) of container \(path.container)" + (end ?? "") + now
    }
}

extension PurgeReason {
    /// The property that allows a purge to take the file.
    var rightInWords: String {
        switch self {
        case .temporary: "its place, tmp"
        case .caches: "its place, Library/Caches"
        case .purgeable: "its mark, isPurgeable"
        case .policyAge, .policySize: "the policy of its folder"
        case .others, .reboot, .command: rawValue
        }
    }
}
