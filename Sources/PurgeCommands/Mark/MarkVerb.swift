import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeVolume

extension OptionSpec {
    fileprivate static let purgeable = OptionSpec(
        "purgeable", .optionalChoice("URGENCY", Urgency.allCases.map(\.rawValue)),
        "make it purgeable, wherever it is; URGENCY is low (the default), medium or high; low is purged first")
    fileprivate static let notPurgeable = OptionSpec(
        "not-purgeable", "make it not purgeable, even in a purgeable folder (no effect in tmp and Library/Caches)")
    fileprivate static let excludeFromBackup = OptionSpec("exclude-from-backup", "leave it out of backups")
    fileprivate static let includeInBackup = OptionSpec(
        "include-in-backup", "remove its own exclusion from backups")
    fileprivate static let group = OptionSpec("group", "folders only: purge the files below it together")
    fileprivate static let noGroup = OptionSpec(
        "no-group", "folders only: purge the files below it one by one, whatever a folder above it says")
    fileprivate static let tombstone = OptionSpec(
        "tombstone", "folders only: purging empties the files below it, and keeps their names")
    fileprivate static let noTombstone = OptionSpec(
        "no-tombstone", "folders only: purging removes the files below it, whatever a folder above it says")
    fileprivate static let markProtection = OptionSpec(
        "protection",
        .choice("CLASS", FileProtection.allCases.map(\.rawValue), others: FileProtection.allCases.map(\.appleName)),
        "set its protection class: \(FileProtection.allCases.map(\.rawValue).joined(separator: ", "))")
}

extension Verb {
    static let mark = Verb(
        name: "mark", summary: "set purgeable, backup and protection marks on files and folders",
        synopsis: "PATH... [--purgeable[=URGENCY]|--not-purgeable] "
            + "[--exclude-from-backup|--include-in-backup] [--protection CLASS] [--group|--no-group] "
            + "[--tombstone|--no-tombstone]",
        description: [
            "Sets the extended attributes user.purgefs.isPurgeable, isExcludedFromBackup, fileProtection, "
                + "purgeGroup and purgeTombstone, as setfattr(1) does. PATH is in a mount, or in the container/ of a "
                + "store that is not mounted. A folder's mark applies to everything below it; its protection class "
                + "applies to new items in it."
        ],
        options: [
            OptionSpec.purgeable, OptionSpec.notPurgeable, OptionSpec.excludeFromBackup, OptionSpec.includeInBackup,
            OptionSpec.markProtection, OptionSpec.group, OptionSpec.noGroup, OptionSpec.tombstone,
            OptionSpec.noTombstone,
        ],
        operands: 1...(.max), exitStatus: ExitStatus.plain,
        examples: ["purgefs mark --purgeable=high ./app/Documents/album"]
    ) { (invocation) throws(CommandFailure) in try MarkVerb.run(invocation) }
}

private enum MarkVerb {
    typealias Mark = OfflineMarks.Mark
    private static let what = "cannot mark"

    static func run(_ invocation: Invocation) throws(CommandFailure) -> Int32 {
        let marks = try marks(invocation.arguments)
        var status = ExitStatus.done
        for path in invocation.arguments.operands {
            do throws(CommandFailure) {
                try apply(marks, to: path)
            } catch {
                invocation.console.warn(error.message)
                status = error.status
            }
        }
        return status
    }

    private static func marks(_ arguments: Arguments) throws(CommandFailure) -> [Mark] {
        try refuse(.purgeable, .notPurgeable, arguments)
        try refuse(.excludeFromBackup, .includeInBackup, arguments)
        try refuse(.group, .noGroup, arguments)
        try refuse(.tombstone, .noTombstone, arguments)
        var marks: [Mark] = []
        // The protection class comes first, because only this mark may be refused by a locked device.
        if let name = arguments.text(.markProtection), let kind = FileProtection(text: name) {
            marks.append((.fileProtection, kind.appleName))
        }
        if let urgency = arguments.text(.purgeable) { marks.append((.isPurgeable, urgency.isEmpty ? "low" : urgency)) }
        if arguments.has(.notPurgeable) { marks.append((.isPurgeable, "0")) }
        if arguments.has(.excludeFromBackup) { marks.append((.isExcludedFromBackup, "1")) }
        if arguments.has(.includeInBackup) { marks.append((.isExcludedFromBackup, "0")) }
        if arguments.has(.group) { marks.append((.purgeGroup, "1")) }
        if arguments.has(.noGroup) { marks.append((.purgeGroup, "0")) }
        if arguments.has(.tombstone) { marks.append((.purgeTombstone, "1")) }
        if arguments.has(.noTombstone) { marks.append((.purgeTombstone, "0")) }
        guard !marks.isEmpty else { throw .usage("no mark given: name one, such as --purgeable=high") }
        return marks
    }

    private static func refuse(_ a: OptionSpec, _ b: OptionSpec, _ arguments: Arguments) throws(CommandFailure) {
        if arguments.has(a) && arguments.has(b) { throw .usage("\(a.text) and \(b.text) exclude each other") }
    }

    private static func apply(_ marks: [Mark], to path: String) throws(CommandFailure) {
        let resolved: String
        do throws(Errno) {
            resolved = try System.resolved(path)
        } catch { throw CommandFailure(what, path: path, error) }
        guard let entry = try ContainerEntry(resolved, named: path, for: what) else {
            throw CommandFailure(
                what, path: path, "it is not in a container",
                advice: "Name a path in a mount, or in the container/ of a store.")
        }
        try set(marks, on: entry, path)
        do throws(StoreError) { try entry.record(marks.map { ($0.attribute, $0.value) }) } catch {
            throw CommandFailure(what, error)
        }
    }

    /// Sets the marks on an entry, or none of them if one does not fit its kind.
    private static func set(_ marks: [Mark], on entry: ContainerEntry, _ path: String) throws(CommandFailure) {
        try check(marks, fit: entry, path)
        for mark in marks {
            let key = mark.attribute.storeKey
            do throws(Errno) {
                try entry.set(mark.attribute, mark.value)
            } catch .notPermitted {
                throw CommandFailure(
                    "cannot set \(key)=\(mark.value)", path: path, Errno.notPermitted,
                    advice: mark.attribute == .fileProtection
                        ? "Only its owner or root may set it, and not on a file that the locked device protects: "
                            + "purgefs device unlock."
                        : "Only files and folders can be marked, by their owner or root.")
            } catch { throw CommandFailure("cannot set \(key)=\(mark.value)", path: path, error) }
        }
    }

    private static func check(
        _ marks: [Mark], fit entry: ContainerEntry, _ path: String
    ) throws(CommandFailure) {
        let kind: mode_t
        do throws(Errno) {
            kind = try System.status(entry.descriptor.raw).kind
        } catch { throw CommandFailure(what, path: path, error) }
        guard kind == S_IFREG || kind == S_IFDIR else {
            throw CommandFailure(
                what, path: path, "it is a device, a pipe or a socket", advice: "Only files and folders can be marked.")
        }
        guard kind == S_IFREG, let mark = marks.first(where: \.attribute.isForDirectoriesOnly) else { return }
        let (name, option) = (mark.attribute.rawValue, option(mark))
        throw CommandFailure(
            what, path: path, "it is a file, and \(name) is only for folders",
            advice: "Name its folder, or leave out \(option). Nothing was set on the file.")
    }

    private static func option(_ mark: Mark) -> String {
        let (on, off): (OptionSpec, OptionSpec) =
            mark.attribute == .purgeGroup ? (.group, .noGroup) : (.tombstone, .noTombstone)
        return (mark.value == "1" ? on : off).text
    }
}
