import PurgeModel
import PurgeSystem

extension Verb {
    static let set = Verb(
        name: "set", summary: "change the simulated device",
        synopsis: "[TARGET] NAME=VALUE...",
        description: [
            "Writes values to control files, in the order given. All are looked at before the first is written; "
                + "one that the container refuses stops the rest. A change is accepted even if it leaves too little "
                + "room: then purging makes room, and the command returns when that is over.",
            HelpText.targetMeaning,
        ],
        options: [], operands: 1...(.max),
        sections: [
            HelpSection(title: "NAMES", lines: SettableName.allCases.map { .init($0.rawValue, $0.meaning) }),
            HelpSection(
                title: "VALUES",
                lines: [
                    .init("SIZE", "4096, 64K, 512M, 64G (powers of 1024) or 64GB (powers of 1000)"),
                    .init("+SIZE, -SIZE", "so much more or less than now"),
                    .init(
                        "THRESHOLDS",
                        "LEVEL=LIMIT, with commas between several: verylow=5%,low=512M. LEVEL: verylow, low, "
                            + "nearlow, desired, in rising order. LIMIT: a size, or a percentage that follows the "
                            + "total. `off`: no background purge and no cushion"),
                ]),
        ],
        exitStatus: plainExitStatus
    ) { (invocation) throws(CommandFailure) in
        let (target, assignments) = try Assignment.split(invocation.arguments.operands)
        try Target.with(target) { (control) throws(CommandFailure) in try Assignment.carryOut(assignments, on: control)
        }
        return ExitStatus.done
    }
}

/// What can be set.
private enum SettableName: String, CaseIterable {
    case total = "storage.total"
    case others = "storage.others"
    case othersPurgeable = "storage.others.purgeable"
    case thresholds = "storage.thresholds"

    var meaning: String {
        switch self {
        case .total: "size of the device: SIZE, +SIZE, -SIZE; rounded down to 4096"
        case .others: "what the system and other apps use: SIZE, +SIZE, -SIZE"
        case .othersPurgeable: "the part of others that is purged first: SIZE, +SIZE, -SIZE; at most others"
        case .thresholds: "limits of the pressure levels: THRESHOLDS"
        }
    }

    /// What a value looks like.
    var form: String {
        self == .thresholds
            ? "LEVEL=LIMIT,... or off (LEVEL: verylow, low, nearlow, desired; LIMIT: 512M, 10.5%)"
            : "SIZE, +SIZE or -SIZE (4096, 64K, 512M, 64G; 64GB in powers of 1000)"
    }

    /// What the control file takes for `value`; nil for what it would refuse as it stands.
    func content(for value: String) -> String? {
        guard self == .thresholds else { return SizeChange(text: value) == nil ? nil : value }
        if value == "off" { return value }
        let lines = value.split(separator: ",", omittingEmptySubsequences: false).map { item in
            item.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 == "=" || $0 == ":" }
        }
        let isGood = lines.allSatisfy { words in
            words.count == 2 && ["verylow", "low", "nearlow", "desired"].contains(words[0])
                && ThresholdSetting(text: words[1]) != nil
        }
        guard isGood, Set(lines.map { $0[0] }).count == lines.count else { return nil }
        return lines.map { "\($0[0]) \($0[1])" }.joined(separator: "\n")
    }

    /// Why a value that is well formed may be refused.
    func refusal(_ control: any ControlEndpoint) -> String {
        func now(_ name: SettableName) -> String {
            do throws(Errno) {
                return String(try control.read(name.rawValue).split(separator: "\n").joined(separator: ", "))
            } catch { return "unknown" }
        }
        return switch self {
        case .total, .others: "It must come to 0 up to 1 EiB; now it is \(now(self))."
        case .othersPurgeable:
            "It must come to 0 up to storage.others, which is \(now(.others)); now it is \(now(self))."
        case .thresholds: "They must rise: verylow, low, nearlow, desired; now they are \(now(self))."
        }
    }
}

/// `NAME=VALUE`, understood.
private struct Assignment {
    var name: SettableName
    var value: String
    var content: String

    /// The target is the first operand, if that is no assignment: a `/` before the `=` makes it a path.
    static func split(_ operands: [String]) throws(CommandFailure) -> (target: String?, [Assignment]) {
        let isTarget = operands.first.map { $0.prefix { $0 != "=" }.contains("/") || !$0.contains("=") } ?? false
        let rest = isTarget ? operands.dropFirst() : operands[...]
        guard !rest.isEmpty else { throw .usage("nothing to set") }
        var assignments: [Assignment] = []
        for word in rest { assignments.append(try Assignment(word)) }
        return (isTarget ? operands.first : nil, assignments)
    }

    private init(_ word: String) throws(CommandFailure) {
        guard let equals = word.firstIndex(of: "=") else { throw .usage("'\(word)' is not NAME=VALUE") }
        let text = String(word[..<equals])
        guard let name = SettableName(rawValue: text) else {
            let names = SettableName.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("'\(text)' cannot be set; there are \(names)")
        }
        value = String(word[word.index(after: equals)...])
        guard let content = name.content(for: value) else {
            throw .usage("\(text): '\(value)' is not \(name.form)")
        }
        self.name = name
        self.content = content
    }

    static func carryOut(_ assignments: [Assignment], on control: any ControlEndpoint) throws(CommandFailure) {
        for (index, assignment) in assignments.enumerated() {
            do throws(Errno) {
                try control.write(assignment.content, to: assignment.name.rawValue)
            } catch {
                let before = assignments[..<index].map { "\($0.name.rawValue)=\($0.value)" }
                let advice = [
                    error == .invalid ? assignment.name.refusal(control) : "",
                    before.isEmpty ? "Nothing was changed." : "Already set: \(before.joined(separator: " ")).",
                ]
                throw CommandFailure(
                    "cannot set \(assignment.name.rawValue)=\(assignment.value)", path: control.place, "\(error)",
                    advice: advice.filter { !$0.isEmpty }.joined(separator: "\n  "))
            }
        }
    }
}
