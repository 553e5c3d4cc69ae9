import PurgeCommandLine
import PurgeModel

struct PathDiagnosisText {
    let diagnosis: PathDiagnosis
    let isVerbose: Bool

    private static let column = 14

    var lines: [String] {
        let rows = [
            row("place", place), row("state", state), row("purging", purging), row("policy", policy),
            row("protection", protection), row("backup", backup), row("folder", folder), row("device", device),
            row("history", history),
        ]
        let findings = FindingsText(findings: diagnosis.findings, rules: diagnosis.rules, isVerbose: isVerbose)
        return [VisibleText.of(diagnosis.path)] + rows.flatMap { $0 } + [""] + findings.lines
    }

    private func row(_ name: String, _ value: String?) -> [String] {
        guard let value else { return [] }
        let margin = String(repeating: " ", count: Self.column)
        var lines = HelpText.wrapped(value, indent: margin)
        lines[0] = HelpText.padded("  " + name, Self.column) + lines[0].dropFirst(Self.column)
        return lines
    }

    private var isFolder: Bool { diagnosis.kind == .folder }

    private var place: String {
        switch diagnosis.location.tier {
        case .temporary: "tmp: purged first, at any time, and emptied by a reboot; never backed up"
        case .caches: "Library/Caches: purged when the device needs room; never backed up"
        case .persistent: "persistent: never purged because of its place while the app is installed"
        }
    }

    private var state: String {
        let state = diagnosis.state
        let what: String
        switch diagnosis.kind {
        case .folder:
            let sum = diagnosis.folder
            what =
                "folder of \(sum.bytes.inWords) in \(FindingsText.files(sum.files)) and \(sum.folders) "
                + (sum.folders == 1 ? "folder" : "folders")
        case .symbolicLink: what = "symbolic link; its target is not checked"
        case .special: what = "neither a file nor a folder nor a link"
        case .file:
            let charged = state.charged.map { ", takes \($0.inWords)" } ?? ""
            what = "file of \(state.bytes?.inWords ?? "0 B")\(charged)" + (emptiness.map { ": \($0)" } ?? "")
        }
        let names = diagnosis.location.names > 1 ? "; it has \(diagnosis.location.names) names" : ""
        let used = state.lastUse.map { ", last used \($0)" } ?? ""
        return "\(what)\(names); changed \(state.modified)\(used)"
    }

    private var emptiness: String? {
        switch diagnosis.state.emptiness {
        case .writeRefused: "empty because the write to it was refused"
        case .emptiedByPurge: "emptied by a purge"
        case .leftEmpty: "created empty, or emptied by the app"
        case nil: nil
        }
    }

    private var purging: String {
        let name = isFolder ? "its files may" : "may"
        guard let reason = diagnosis.location.purgedBy else { return cannotGo + marks }
        var text = "\(name) be purged because of \(reason.rightInWords)"
        if diagnosis.purging.leavesTombstone { text += "; purging empties it and leaves its name" }
        if let group = diagnosis.purging.group { text += "; together with all files in \(VisibleText.of(group))" }
        return text + marks
    }

    private var cannotGo: String {
        if isFolder { return "its files may not be purged" }
        switch (diagnosis.kind, diagnosis.location.tier) {
        case (.special, .temporary): return "never purged, because it is a pipe, socket or device; a reboot removes it"
        case (.special, _): return "never purged, because it is a pipe, socket or device"
        case (.symbolicLink, .temporary): return "takes no space, so only commands and reboots remove it"
        case (.symbolicLink, .caches): return "takes no space, so only commands remove it"
        case (.symbolicLink, .persistent) where isMarked: return "takes no space, so only commands remove it"
        case (.symbolicLink, .persistent):
            return "may not be purged: it is neither in tmp nor in Library/Caches, and is not marked"
        default: return diagnosis.location.names > 1 ? "may not be purged: it is hard-linked" : "may not be purged"
        }
    }

    private var isMarked: Bool {
        let mark = diagnosis.purging.ownMark ?? diagnosis.purging.inheritedMark
        return mark.flatMap { PurgeMark(text: $0) }?.urgency != nil
    }

    private var marks: String {
        let purging = diagnosis.purging
        let own = purging.ownMark.map { "; isPurgeable is \($0)" } ?? ""
        guard own.isEmpty, let mark = purging.inheritedMark, let from = purging.inheritedFrom else { return own }
        return "; isPurgeable is \(mark), set on \(VisibleText.of(from))"
    }

    private var policy: String? {
        guard let policy = diagnosis.purging.policy else { return nil }
        let age = policy.purgeAfter.flatMap { $0 > 0 ? "files are purged after \(TimeSpan(seconds: $0).text)" : nil }
        let limit = policy.sizeLimit.flatMap { $0 > .zero ? "the oldest are purged at \($0.inWords)" : nil }
        let parts = [age, limit].compactMap { $0 }
        let what = parts.isEmpty ? "no age and no limit" : parts.joined(separator: ", ")
        return "\(what), set on \(VisibleText.of(policy.path))"
    }

    private var backup: String {
        let backup = diagnosis.backup
        switch backup.reason {
        case nil: return "in the backup" + (backup.ownFlag == false ? "; isExcludedFromBackup is 0" : "")
        case .temporary: return "left out, because it is in tmp" + redundant
        case .caches: return "left out, because it is in Library/Caches" + redundant
        case .special: return "left out, because it is neither a file nor a folder nor a link"
        case .excluded:
            guard let folder = backup.excludedBy else { return "left out because of its own isExcludedFromBackup" }
            return "left out because of isExcludedFromBackup of \(VisibleText.of(folder))" + redundant
        }
    }

    private var redundant: String {
        diagnosis.backup.ownFlag == true ? "; its own isExcludedFromBackup has no effect" : ""
    }

    private var folder: String? {
        guard !isFolder else { return nil }
        let sum = diagnosis.folder
        return "\(VisibleText.of(sum.path)): \(sum.bytes.inWords) in \(FindingsText.files(sum.files))"
    }

    private var device: String {
        let device = diagnosis.device
        let free = "\(device.available.inWords) of \(device.total.inWords) free"
        let below = device.lowBelow > .zero ? "; low below \(device.lowBelow.inWords)" : ""
        return "pressure \(device.pressure.rawValue): \(free)\(below)"
    }

    private var history: String? {
        let history = diagnosis.history
        func part(_ count: Int32, _ what: String, _ last: String?) -> String? {
            guard count > 0 else { return nil }
            return "\(what) \(count == 1 ? "once" : "\(count) times")" + (last.map { ", last \($0)" } ?? "")
        }
        let parts = [
            part(history.purges, "purged", history.lastPurge),
            part(history.refusedWrites, "a write refused", history.lastRefusal),
            part(history.protectionDenied, "access denied by its class", history.lastDenial),
        ].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

// Text about when the data can be accessed.
extension PathDiagnosisText {
    private var protection: String? {
        guard let protection = diagnosis.protection else { return nil }
        let source = protection.isOwn ? "its own" : "the device's default"
        let name = "\(protection.class.rawValue) (\(source)): "
        if isFolder { return name + "the class of new items in it" }
        return name + meaning(protection.class) + ". " + now(protection)
    }

    private func meaning(_ kind: FileProtection) -> String {
        switch kind {
        case .complete: "inaccessible while the device is locked"
        case .completeWhenUserInactive: "inaccessible once the device has been locked for device.inactivity"
        case .completeUnlessOpen: "cannot be opened while the device is locked"
        case .completeUntilFirstUserAuthentication: "inaccessible from a reboot until the first unlock"
        case .none: "always accessible"
        }
    }

    /// Returns the moment that ends the time in which a file can be opened; nil if it does not end by itself.
    private func end(_ protection: PathDiagnosis.Protection) -> String? {
        guard protection.state == .locking || protection.state == .locked else { return nil }
        if !protection.class.admits(.open, in: .locked) { return "the grace period ends" }
        return protection.class.admits(.open, in: .inactive) ? nil : "access expires (device.inactivity)"
    }

    private func now(_ protection: PathDiagnosis.Protection) -> String {
        if protection.canBeOpened {
            return "It can be opened now" + (end(protection).map { ", until \($0)" } ?? "")
        }
        switch protection.state {
        case .beforeFirstUnlock:
            return "It cannot be opened now: wait for the first unlock after the reboot"
                + (protection.class == .completeUntilFirstUserAuthentication
                    ? "" : ", or use completeUntilFirstUserAuthentication, which needs no later unlock")
        default:
            return "It cannot be opened now: wait for the unlock, or use completeUntilFirstUserAuthentication"
        }
    }
}
