import PurgeCommandLine
import PurgeModel

/// The text about a purge or a plan: a line for each file in the order of purging, the sum, and for a plan the
/// meaning of each reason.
struct PurgeTable {
    let items: [PlanLine]
    let isDryRun: Bool
    /// The text for an empty purge.
    let remark: String

    var lines: [String] {
        items.map(Self.line) + HelpText.wrapped(sum, indent: "", hanging: "  ") + (isDryRun ? reasons : [])
    }

    private static func line(_ item: PlanLine) -> String {
        let path = item.path.map(VisibleText.of) ?? "(the system and other apps)"
        return columns(item.reason ?? "", item.bytes ?? .zero) + path + (item.tombstone == true ? "  (emptied)" : "")
    }

    private static func columns(_ reason: String, _ bytes: ByteCount) -> String {
        HelpText.padded(reason, 10) + HelpText.aligned(bytes.inWords, 12) + "  "
    }

    private var sum: String {
        let files = items.count { $0.path != nil }
        let (bytes, others) = (Self.bytes(items), Self.bytes(items.filter { $0.path == nil }))
        let part = others == bytes ? "all" : others.inWords
        let note = items.isEmpty ? remark : others > .zero ? "\(part) of it from others" : ""
        return "\(isDryRun ? "would purge" : "purged") \(Self.files(files)), \(bytes.inWords)"
            + (note.isEmpty ? "" : " (\(note))")
    }

    /// The lines about the reasons, in the order in which these first occur.
    private var reasons: [String] {
        var names: [String] = []
        for item in items { if let name = item.reason, !names.contains(name) { names.append(name) } }
        return names.flatMap { name -> [String] in
            let those = items.filter { $0.reason == name }
            let columns = "  " + Self.columns(name, Self.bytes(those))
            let indent = HelpText.padded("", columns.count)
            let meaning = HelpText.wrapped(Self.meaning(name, those.count), indent: indent)
            return [columns + meaning[0].dropFirst(indent.count)] + meaning.dropFirst()
        }
    }

    private static func meaning(_ reason: String, _ count: Int) -> String {
        let files = Self.files(count)
        return switch PurgeReason(rawValue: reason) {
        case .others: "purgeable space of the system and other apps"
        case .temporary: "\(files) in tmp"
        case .caches: "\(files) in Library/Caches"
        case .purgeable: "\(files) marked purgeable, or in a marked folder"
        case .policyAge: "\(files) over the age limit of a folder's policy"
        case .policySize: "\(files) over the size limit of a folder's policy"
        case .command: "\(files), empty or in use, that only commands purge"
        case .reboot, nil: files
        }
    }

    private static func bytes(_ items: [PlanLine]) -> ByteCount {
        items.reduce(.zero) { $0 + ($1.bytes ?? .zero) }
    }
    private static func files(_ count: Int) -> String { "\(count) \(count == 1 ? "file" : "files")" }
}
