import PurgeModel

/// How bad a finding is, the worst first.
package enum DiagnosisSeverity: String, CaseIterable, Comparable, Codable, Sendable {
    /// Data is lost, will be lost, or is out of reach when it is needed.
    case error
    /// It costs space, work or the user's patience, or does not do what it was meant for.
    case warning
    /// Worth knowing.
    case note

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    package static func < (a: DiagnosisSeverity, b: DiagnosisSeverity) -> Bool { a.rank < b.rank }
}

/// What can be wrong with how an app stores a file (docs/DIAGNOSIS.md, Rules); the worst first.
package enum DiagnosisRule: String, CaseIterable, Codable, Sendable {
    case writeRefused, databaseMayBePurged, userContentMayBePurged, userContentExcluded, protectionDenied, noPermission
    case purgedAgain, purgedTarget, flagLost, reusedCache, oldTemporary, purgeableInBackup, ineffectiveMark,
        largeBackup,
        largeFile, largeCaches
    case emptyFile, protectionNone, policyWithoutLimit, unusualName, redundantExclusion
}

/// Something about how an app stores its files that a developer should look at.
package struct DiagnosisFinding: Hashable, Codable, Sendable {
    package var rule: DiagnosisRule
    var severity: DiagnosisSeverity
    /// nil if it is about the whole container.
    package var path: String?
    package var bytes: ByteCount?
    /// How many files it is about, if it may be more than one.
    var files: Int64?
    /// What exactly was found, in a few words.
    package var detail: String?
    /// What to do about it.
    package var advice: String

    init(
        _ rule: DiagnosisRule, severity: DiagnosisSeverity? = nil, path: String?, bytes: ByteCount? = nil,
        files: Int64? = nil, detail: String? = nil, advice: String? = nil
    ) {
        (self.rule, self.severity) = (rule, severity ?? rule.severity)
        (self.path, self.bytes, self.files, self.detail) = (path, bytes, files, detail)
        self.advice = advice ?? rule.advice
    }

    /// The same of what an audit of the backup has found.
    init(_ finding: BackupFinding) {
        let rule = DiagnosisRule(finding.rule)
        self.init(rule, path: finding.path, bytes: finding.bytes, files: finding.files)
        guard finding.rule == .largeFile, let path = finding.path else { return }
        if UserContent.isLike(path: path) {
            severity = .note
            advice =
                "User content belongs in Documents and in the backup: keep it, and tell the user when it gets over "
                + "1 GB. Exclude it only if it can be had again."
        } else if !path.hasPrefix("Documents/") {
            advice = "Downloaded media needs no backup: set isExcludedFromBackup on it or on its folder."
        }
    }
}

extension DiagnosisFinding: Comparable {
    /// The worst first, then the most bytes, then by path.
    package static func < (a: DiagnosisFinding, b: DiagnosisFinding) -> Bool {
        if a.severity != b.severity { return a.severity < b.severity }
        if a.rule != b.rule { return a.rule.rank < b.rule.rank }
        let (mine, theirs) = (a.bytes ?? .zero, b.bytes ?? .zero)
        if mine != theirs { return mine > theirs }
        return (a.path ?? "").utf8.lexicographicallyPrecedes((b.path ?? "").utf8)
    }
}

extension DiagnosisRule {
    init(_ rule: BackupFinding.Rule) {
        self =
            switch rule {
            case .largeBackup: .largeBackup
            case .userContentExcluded: .userContentExcluded
            case .largeFile: .largeFile
            case .reusedCache: .reusedCache
            case .emptyFile: .emptyFile
            case .redundantExclusion: .redundantExclusion
            }
    }

    var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    /// Of most of its findings.
    var severity: DiagnosisSeverity {
        switch self {
        case .writeRefused, .databaseMayBePurged, .userContentMayBePurged, .userContentExcluded, .protectionDenied,
            .noPermission:
            .error
        case .purgedAgain, .purgedTarget, .flagLost, .reusedCache, .oldTemporary, .purgeableInBackup, .ineffectiveMark,
            .largeBackup, .largeFile, .largeCaches:
            .warning
        case .emptyFile, .protectionNone, .policyWithoutLimit, .unusualName, .redundantExclusion: .note
        }
    }

    /// What is wrong.
    package var title: String {
        switch self {
        case .writeRefused: "writes that were refused, and never done again"
        case .databaseMayBePurged: "databases that may be purged"
        case .userContentMayBePurged: "user content that may be purged"
        case .userContentExcluded: BackupFinding.Rule.userContentExcluded.title
        case .protectionDenied: "files that were needed while their class kept them closed"
        case .noPermission: "files and folders that their own app may not read"
        case .purgedAgain: "files that were purged and made again, more than once"
        case .purgedTarget: "links to files that were purged"
        case .flagLost: "flags that were lost when the file was replaced"
        case .reusedCache: BackupFinding.Rule.reusedCache.title
        case .oldTemporary: "files in tmp that are older than three days"
        case .purgeableInBackup: "purgeable files that are backed up"
        case .ineffectiveMark: "isPurgeable=0 where it has no effect"
        case .largeBackup: BackupFinding.Rule.largeBackup.title
        case .largeFile: BackupFinding.Rule.largeFile.title
        case .largeCaches: "Library/Caches over 100 MB without a limit"
        case .emptyFile: BackupFinding.Rule.emptyFile.title
        case .protectionNone: "files of protection class none"
        case .policyWithoutLimit: "directory policies without age or limit"
        case .unusualName: "names that other file systems or programs may not accept"
        case .redundantExclusion: BackupFinding.Rule.redundantExclusion.title
        }
    }

    /// What to do about most of its findings.
    var advice: String {
        switch self {
        case .writeRefused:
            "The device was full, so the file is empty or cut short. Ask for the capacity before writing, write to "
                + "another name and rename it when it is whole, and check what write returns."
        case .databaseMayBePurged:
            "A database is not made again by itself, and it breaks when one of its files goes. Move it to "
                + "Library/Application Support, without marks; exclude it from the backup if it can be had again."
        case .userContentMayBePurged:
            "Only what can be made or downloaded again may be purgeable. Move it to Documents, and take marks and "
                + "policies off it."
        case .protectionDenied:
            "Use completeUntilFirstUserAuthentication for what is needed in the background, or wait for the unlock."
        case .noPermission: "Give its owner the permission again (chmod u+rwX), and see what took it away."
        case .purgedAgain:
            "The app counts on them. If they cannot be made again at any time, move them to Library/Application "
                + "Support and exclude them from the backup."
        case .purgedTarget:
            "They lead nowhere. Keep what they lead to where it is not purged, or make it again before it is used."
        case .flagLost:
            "An atomic save makes a new file without the flags of the old one: set them after each save, or set them "
                + "on the folder."
        case .oldTemporary:
            "tmp is purged first, and emptied by a reboot. Move to Library/Caches what can be made again, to "
                + "Library/Application Support what cannot, and remove the rest."
        case .purgeableInBackup: "What can be had again needs no backup: set isExcludedFromBackup on them, too."
        case .ineffectiveMark:
            "Everything in tmp and Library/Caches may be purged. What must stay belongs in Library/Application Support."
        case .largeCaches:
            "Keep the cache small by yourself, or give its folders a limit: purgefs policy add DIR --limit SIZE."
        case .protectionNone:
            "Their data can be read on a device that was never unlocked. Use completeUntilFirstUserAuthentication, "
                + "unless they are needed before the first unlock."
        case .policyWithoutLimit: "Only a reset removes anything from them. Give them an age or a limit."
        case .unusualName:
            "Make names of plain characters, in one Unicode form, and keep what the user typed elsewhere."
        case .userContentExcluded, .reusedCache, .largeBackup, .largeFile, .emptyFile, .redundantExclusion:
            audit?.advice ?? ""
        }
    }

    /// The rule of an audit of the backup that it stands for.
    private var audit: BackupFinding.Rule? { BackupFinding.Rule(rawValue: rawValue) }
}
