/// The faults in force, and how often their rules have matched (docs/FAULTS.md).
public struct FaultRules: Sendable {
    private struct Entry {
        let rule: FaultRule
        var matched: Int64 = 0
        var made: Int64 = 0
    }

    /// The largest number of rules. Each is compared with every call.
    public static let most = 100

    private var entries: [Entry] = []
    /// Decides which calls a percentage takes, so that a run can be repeated.
    private var seed: UInt64 = 0
    /// How many calls of each kind there have been while faults were in force.
    private var calls: [MomentKind: Int64] = [:]

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Whether a rule concerns reads.
    public var concernsReads: Bool { entries.contains { $0.rule.kind == .read } }

    /// Carries out a command. Returns false, and changes nothing, if there would be too many rules.
    public mutating func carryOut(_ command: FaultCommand) -> Bool {
        switch command {
        case .off: self = FaultRules()
        case .add(let rules, let seed):
            guard entries.count + rules.count <= Self.most else { return false }
            entries += rules.map { Entry(rule: $0) }
            if let seed { self.seed = seed }
        }
        return true
    }

    /// Counts a call. Returns its number among the calls of its kind, and the rules whose faults it meets, in the order in
    /// which they were set. `matches` compares a pattern with the path of the call.
    public mutating func meet(
        _ kind: MomentKind, matches: (String) -> Bool
    ) -> (number: Int64, rules: [FaultRule]) {
        calls[kind, default: 0] += 1
        var due: [FaultRule] = []
        for index in entries.indices where entries[index].rule.kind == kind {
            let rule = entries[index].rule
            if let glob = rule.glob, !matches(glob) { continue }
            entries[index].matched += 1
            guard takes(entries[index].matched, rule.choice, entry: index) else { continue }
            entries[index].made += 1
            due.append(rule)
        }
        return (calls[kind] ?? 0, due)
    }

    private func takes(_ number: Int64, _ choice: FaultRule.Choice, entry: Int) -> Bool {
        switch choice {
        case .all: true
        case .only(let wanted): number == wanted
        case .from(let first): number >= first
        case .percent(let share):
            Self.mixed(seed ^ Self.mixed(UInt64(entry) << 48 ^ UInt64(bitPattern: number))) % 100 < UInt64(share)
        }
    }

    /// The finalizer of the generator SplitMix64.
    static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
        return z ^ z >> 31
    }

    /// A line for each rule: how many calls have matched it, how many of them met the fault, and the rule.
    public var text: String { entries.map { "\($0.matched) \($0.made) \($0.rule.text)\n" }.joined() }
}

/// A text that is written to the control file `faults`.
public enum FaultCommand: Hashable, Sendable {
    /// Adds rules, and sets the seed of their percentages if one is given.
    case add([FaultRule], seed: UInt64?)
    /// Removes all rules, and ends their effects.
    case off

    /// Parses `off`, or lines of which each is a rule or `seed=NUMBER`.
    public init(text: String) throws(FaultRule.Objection) {
        guard !text.utf8.contains(0) else { throw .form }
        guard text != "off" else {
            self = .off
            return
        }
        var rules: [FaultRule] = []
        var seed: UInt64?
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(Substring.init) {
            if line.hasPrefix("seed=") {
                guard let number = UInt64(line.dropFirst(5)) else { throw .number(String(line)) }
                seed = number
            } else {
                rules.append(try FaultRule(text: String(line)))
            }
        }
        self = .add(rules, seed: seed)
    }
}
