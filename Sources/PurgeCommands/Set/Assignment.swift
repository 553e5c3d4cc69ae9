import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem
import PurgeVolume

extension ControlFile {
    /// Finds a settable file by its name; `storage.` may be omitted.
    init?(settable text: String) {
        guard let file = Self.settable.first(where: { $0.rawValue == text || $0.rawValue == "storage." + text })
        else { return nil }
        self = file
    }

    /// Returns `NAME=VALUE` from this name and the word after it; nil if the result would not be accepted.
    fileprivate func joined(with word: String?) -> String? {
        guard let word, ControlFile(settable: String(word.prefix { $0 != "=" })) == nil,
            objection(to: content(for: word)) == nil
        else { return nil }
        return "\(rawValue)=\(word)"
    }

    /// Returns the message about a name that cannot be set.
    static func objection(to text: String) -> String {
        switch text {
        case ControlFile.deviceState.rawValue, "state", "device", "lock", "locked":
            return "'\(text)' cannot be set; use 'purgefs device lock', 'unlock' or 'reboot'"
        case ControlFile.deviceClock.rawValue, "clock", "time":
            return "'\(text)' cannot be set; use 'purgefs clock advance DURATION'"
        case ControlFile.appState.rawValue, "app":
            return "'\(text)' cannot be set; use 'purgefs app launch' and the like"
        default: break
        }
        let names = settable.map(\.rawValue)
        let near = Suggestion.nearest(to: text, among: names) ?? Suggestion.nearest(to: "storage." + text, among: names)
        return "'\(text)' cannot be set; "
            + (near.map { "did you mean '\($0)'?" } ?? "these can: \(names.joined(separator: ", "))")
    }

    /// Returns why the control file would refuse `value` whatever the other settings are; nil if it may accept it.
    fileprivate func objection(to value: String) -> String? {
        if self == .storageTotal, let objection = SizeText.objection(toDevice: value) {
            return "'\(value)': \(objection)"
        }
        return switch self {
        case .storageThresholds: Self.objection(toThresholds: value)
        case .storageOthersShare:
            OthersShare.percent(text: value) == nil ? "'\(value)' is not a whole number from 0 to 100" : nil
        case .storageProfile: OptionSpec.profile.objection(to: value)
        case .storagePurgeLatency, .deviceInactivity: DurationText.objection(toDelay: value)
        case .journalAge where TimeSpan(purgeLatency: value) != nil: nil
        case .journalAge where value.first != "-": DurationText.objection(to: value)
        case .journalAge: DurationText.objection(toDelay: value)
        case .journalSize where JournalBounds.size(text: value) == nil:
            SizeText.objection(to: value) ?? "'\(value)' is neither 0 nor from 1M to 1G"
        default:
            SizeText.objection(to: value.first == "+" || value.first == "-" ? String(value.dropFirst()) : value)
        }
    }

    /// Whether a percentage was probably meant, as in `low=5`.
    private static func lacksUnit(_ item: Substring) -> Bool {
        guard let number = item.split(separator: "=").last.flatMap({ Int($0) }) else { return false }
        return (1...100).contains(number)
    }

    private static func objection(toThresholds value: String) -> String? {
        let items = value.split(separator: ",")
        if let bare = items.first(where: lacksUnit) {
            return "'\(bare)' has no unit, and would be bytes; did you mean '\(bare)%'?"
        }
        if ThresholdChange(text: value) != nil { return nil }
        for limit in items.compactMap({ $0.split(separator: "=").last }) {
            // Reports a limit that has the form of a size, but an impossible value.
            guard case .failure(let fault) = ByteCount.reading(limit), fault != .malformed else { continue }
            return SizeText.objection(to: String(limit))
        }
        let levels = ThresholdLevel.allCases.map(\.rawValue)
        let unknown = items.map { String($0.prefix { $0 != "=" }) }.first { !levels.contains($0) }
        return "'\(value)' is not LEVEL=LIMIT,..., off or default (LEVEL: verylow, low, nearlow, desired, each once; "
            + "LIMIT: 512M, 10.5%)" + (unknown.map { Suggestion.hint(for: $0, among: levels) } ?? "")
    }

    /// Returns the content of the control file for `value`: `LEVEL:LIMIT` is another spelling of `LEVEL=LIMIT`.
    func content(for value: String) -> String {
        self == .storageThresholds ? value.map { $0 == ":" ? "=" : String($0) }.joined() : value
    }

    /// Returns why a well-formed value may have been refused.
    fileprivate func refusal(_ control: any ControlEndpoint) -> String {
        func now(_ name: ControlFile) -> String {
            do throws(Errno) {
                return String(try control.read(name).split(separator: "\n").joined(separator: ", "))
            } catch { return "unknown" }
        }
        return switch self {
        case .storageTotal, .storageOthers: "The result must be between 0 and 1 EiB; now it is \(now(self))."
        case .storageOthersPurgeable:
            "The result must be between 0 and storage.others, which is \(now(.storageOthers)); now it is \(now(self))."
        case .storageThresholds:
            "They must rise in the order verylow, low, nearlow, desired; now they are \(now(self))."
        default: "Now it is \(now(self))."
        }
    }
}

/// A parsed `NAME=VALUE`.
struct Assignment {
    var name: ControlFile
    var value: String
    var content: String

    /// Splits the operands into target and assignments. The first operand is the target unless it is an assignment; a `/`
    /// before the `=` makes it a path.
    static func split(_ operands: [String]) throws(CommandFailure) -> (target: String?, [Assignment]) {
        let isTarget = operands.first.map { $0.prefix { $0 != "=" }.contains("/") || !$0.contains("=") } ?? false
        let rest = isTarget ? operands.dropFirst() : operands[...]
        guard !rest.isEmpty else { throw .usage("nothing to set: NAME=VALUE is missing") }
        var assignments: [Assignment] = []
        for (word, next) in zip(rest, rest.dropFirst().map { Optional($0) } + [nil]) {
            if let joined = ControlFile(settable: word)?.joined(with: next) {
                throw .usage("'\(word)' and '\(next ?? "")' must be one word: did you mean '\(joined)'?")
            }
            if !isTarget, !word.contains("="), ControlFile(settable: word) == nil {
                throw .usage("'\(word)' is not NAME=VALUE; TARGET comes first")
            }
            assignments.append(try Assignment(word, after: isTarget ? operands.first : nil))
        }
        return (isTarget ? operands.first : nil, assignments)
    }

    init(_ word: String, after target: String?) throws(CommandFailure) {
        guard let equals = word.firstIndex(of: "=") else {
            if let name = ControlFile(settable: word) { throw .usage("\(name.rawValue)=VALUE: the value is missing") }
            let joined = target.flatMap { ControlFile(settable: $0)?.joined(with: word) }
            throw .usage("'\(word)' is not NAME=VALUE" + (joined.map { "; did you mean '\($0)'?" } ?? ""))
        }
        let text = String(word[..<equals])
        guard let name = ControlFile(settable: text) else { throw .usage(ControlFile.objection(to: text)) }
        self.name = name
        value = String(word[word.index(after: equals)...])
        content = name.content(for: value)
        if let objection = name.objection(to: content) { throw .usage("\(name.rawValue): \(objection)") }
    }

    static func carryOut(_ assignments: [Assignment], on control: any ControlEndpoint) throws(CommandFailure) {
        for (index, assignment) in assignments.enumerated() {
            do throws(Errno) {
                try control.write(assignment.content, to: assignment.name)
            } catch {
                let before = assignments[..<index].map { "\($0.name.rawValue)=\($0.value)" }
                let word = "\(assignment.name.rawValue)=\(assignment.value)"
                guard error != .ioError else {
                    try control.requireStore("cannot save \(word)")
                    throw CommandFailure(
                        "cannot save \(word)", path: control.place, "\(error)",
                        advice: control.isMounted
                            ? "The change is in force, but is lost at the unmount unless a later change is saved.\n"
                                + "  Make room on the disk under the store, and set it again."
                            : "The store is unchanged. Make room on the disk under it, and set it again.")
                }
                let advice = [
                    error == .invalid ? assignment.name.refusal(control) : "",
                    before.isEmpty ? "Nothing was changed." : "Already set: \(before.joined(separator: " ")).",
                ]
                throw CommandFailure(
                    "cannot set \(word)", path: control.place, "\(error)",
                    advice: advice.filter { !$0.isEmpty }.joined(separator: "\n  "))
            }
        }
    }
}
