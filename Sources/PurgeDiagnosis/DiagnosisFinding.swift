import PurgeModel

/// The severity of a finding, worst first.
package enum DiagnosisSeverity: String, CaseIterable, Comparable, Codable, Sendable {
    /// Data is lost, will be lost, or cannot be reached when it is needed.
    case error
    /// The problem costs space, work or the user's patience, or a setting does not achieve its purpose.
    case warning
    /// The developer should know about it.
    case note

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    package static func < (a: DiagnosisSeverity, b: DiagnosisSeverity) -> Bool { a.rank < b.rank }
}

/// The rules about how an app stores files (docs/DIAGNOSIS.md, Rules), worst first.
package enum DiagnosisRule: String, CaseIterable, Codable, Sendable {
    case writeRefused, databaseMayBePurged, userContentMayBePurged, userContentExcluded, protectionDenied, noPermission
    case purgedAgain, purgedTarget, stalePath, flagLost, reusedCache, oldTemporary, purgeableInBackup, ineffectiveMark,
        largeBackup, hugeDocuments, largeDocuments, largeFile, largeCaches
    case lockHeld, emptyFile, protectionNone, policyWithoutLimit, unusualName, redundantExclusion
}

/// An observation about how an app stores files that a developer should look at.
package struct DiagnosisFinding: Hashable, Codable, Sendable {
    package var rule: DiagnosisRule
    package var severity: DiagnosisSeverity
    /// The path; nil for the container as a whole.
    package var path: String?
    package var bytes: ByteCount?
    /// The number of files, if there may be several.
    var files: Int64?
    /// A few words on what exactly was found.
    package var detail: String?
    package var advice: String

    init(
        _ rule: DiagnosisRule, severity: DiagnosisSeverity? = nil, path: String?, bytes: ByteCount? = nil,
        files: Int64? = nil, detail: String? = nil, advice: String? = nil
    ) {
        (self.rule, self.severity) = (rule, severity ?? rule.severity)
        (self.path, self.bytes, self.files, self.detail) = (path, bytes, files, detail)
        self.advice = advice ?? rule.advice
    }

    /// Converts a finding of a backup audit. For a large file, adapts the severity and the advice to the kind of content.
    init(_ finding: BackupFinding) {
        let rule = DiagnosisRule(finding.rule)
        self.init(rule, path: finding.path, bytes: finding.bytes, files: finding.files)
        guard finding.rule == .largeFile, let path = finding.path else { return }
        if UserContent.isLike(path: path) {
            severity = .note
            advice =
                "User content belongs in Documents and in the backup: keep it, and tell the user when it gets over "
                + "1 GB. Exclude it only if it can be recreated."
        } else if !path.hasPrefix("Documents/") {
            advice = "Downloaded media needs no backup: set isExcludedFromBackup on it or on its folder."
        }
    }
}

extension DiagnosisFinding: Comparable {
    /// Compares by severity, then by rule, then by bytes with the most first, then by path.
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
            case .hugeDocuments: .hugeDocuments
            case .largeDocuments: .largeDocuments
            case .userContentExcluded: .userContentExcluded
            case .largeFile: .largeFile
            case .reusedCache: .reusedCache
            case .emptyFile: .emptyFile
            case .redundantExclusion: .redundantExclusion
            }
    }

    var rank: Int { Self.allCases.firstIndex(of: self) ?? Self.allCases.count }

    /// The severity of most findings of this rule.
    var severity: DiagnosisSeverity {
        switch self {
        case .writeRefused, .databaseMayBePurged, .userContentMayBePurged, .userContentExcluded, .protectionDenied,
            .noPermission:
            .error
        case .purgedAgain, .purgedTarget, .stalePath, .flagLost, .reusedCache, .oldTemporary, .purgeableInBackup,
            .ineffectiveMark, .largeBackup, .hugeDocuments, .largeDocuments, .largeFile, .largeCaches:
            .warning
        case .lockHeld, .emptyFile, .protectionNone, .policyWithoutLimit, .unusualName, .redundantExclusion: .note
        }
    }

    /// The problem, as a heading.
    package var title: String {
        switch self {
        case .writeRefused: "failed writes that were never retried"
        case .databaseMayBePurged: "databases that may be purged"
        case .userContentMayBePurged: "user content that may be purged"
        case .userContentExcluded: BackupFinding.Rule.userContentExcluded.title
        case .protectionDenied: "files that were accessed while their class kept them closed"
        case .noPermission: "files and folders that the app may not read"
        case .purgedAgain: "files that were purged and recreated more than once"
        case .purgedTarget: "links to files that were purged"
        case .stalePath: "paths into a container that no longer exists"
        case .flagLost: "flags that were lost when the file was replaced"
        case .reusedCache: BackupFinding.Rule.reusedCache.title
        case .oldTemporary: "files in tmp that are older than three days"
        case .purgeableInBackup: "purgeable files that are backed up"
        case .ineffectiveMark: "isPurgeable=0 where it has no effect"
        case .largeBackup: BackupFinding.Rule.largeBackup.title
        case .hugeDocuments: BackupFinding.Rule.hugeDocuments.title
        case .largeDocuments: BackupFinding.Rule.largeDocuments.title
        case .largeFile: BackupFinding.Rule.largeFile.title
        case .largeCaches: "Library/Caches over 100 MB without a limit"
        case .lockHeld: "files that the app kept locked while it was suspended"
        case .emptyFile: BackupFinding.Rule.emptyFile.title
        case .protectionNone: "files of protection class none"
        case .policyWithoutLimit: "directory policies without age or limit"
        case .unusualName: "names that other file systems or programs may not accept"
        case .redundantExclusion: BackupFinding.Rule.redundantExclusion.title
        }
    }

    /// The advice for most findings of this rule.
    var advice: String {
        switch self {
        case .writeRefused: Self.writeRefusedAdvice
        case .databaseMayBePurged:
            "A database does not recreate itself, and losing one of its files breaks it. Move it to "
                + "Library/Application Support, without marks; exclude it from the backup if it can be recreated."
        case .userContentMayBePurged:
            "Only data that can be recreated or downloaded again should be purgeable. Move it to Documents, and "
                + "remove its marks and policies."
        case .protectionDenied:
            "Use completeUntilFirstUserAuthentication for files needed in the background, or wait for the unlock."
        case .noPermission: "Restore the owner's permission (chmod u+rwX), and find the code that removed it."
        case .purgedAgain:
            "The app relies on them. If they cannot be recreated at any time, move them to Library/Application "
                + "Support and exclude them from the backup."
        case .purgedTarget:
            "The links are dangling. Keep their targets where they are not purged, or recreate the targets before use."
        case .stalePath: Self.stalePathAdvice
        case .flagLost:
            "An atomic save makes a new file without the flags of the old one: set them after each save, or set them "
                + "on the folder."
        case .oldTemporary:
            "tmp is purged first, and emptied by a reboot. Move files that can be recreated to Library/Caches and "
                + "others to Library/Application Support, or remove them."
        case .purgeableInBackup: "Purgeable data needs no backup: set isExcludedFromBackup on them too."
        case .ineffectiveMark:
            "Everything here may be purged. Move files that must stay to Library/Application Support."
        case .largeCaches:
            "Trim the cache in the app, or give its folders a limit: purgefs policy add DIR --limit SIZE."
        case .lockHeld: Self.lockHeldAdvice
        case .protectionNone:
            "Their data can be read on a device that was never unlocked. Use completeUntilFirstUserAuthentication, "
                + "unless they are needed before the first unlock."
        case .policyWithoutLimit: "Only a reset or (if manual) `purgefs clean` empties them. Set an age or a limit."
        case .unusualName: "Use plain characters in one Unicode form, and store the user's own text elsewhere."
        case .userContentExcluded, .reusedCache, .largeBackup, .hugeDocuments, .largeDocuments, .largeFile, .emptyFile,
            .redundantExclusion:
            audit?.advice ?? ""
        }
    }

    private static let writeRefusedAdvice =
        "There was no room for it, so the file is empty or cut short. Check the capacity before writing, write to a "
        + "temporary name, rename it when complete, and check the result of each write."

    private static let lockHeldAdvice =
        "In the container of an app group, such a lock ends the app (0xdead10cc). End transactions and release locks "
        + "before the app is suspended."

    private static let stalePathAdvice =
        "An update, a restore or a reinstallation gives the container another path. Store paths relative to the "
        + "container, or bookmarks, and resolve them at each start. `purgefs why OLDPATH` finds the file."

    /// The corresponding rule of a backup audit.
    private var audit: BackupFinding.Rule? { BackupFinding.Rule(rawValue: rawValue) }
}
