import PurgeModel

/// A call of COMMAND, as the counting run has seen it.
struct SweepMoment: Hashable {
    let kind: MomentKind
    /// The number among the calls of this kind, from 1.
    let number: Int64
    let path: String
    let process: String?
    /// Whether this is the moment after the last call.
    var isAfterLast = false

    /// Reads the call from an event of a fault.
    init?(_ event: Event) {
        guard event.type == .fault, let parts = event.cause?.split(separator: "#"), parts.count == 2,
            let kind = MomentKind(rawValue: String(parts[0])), let number = Int64(parts[1])
        else { return nil }
        (self.kind, self.number) = (kind, number)
        (path, process) = (event.path ?? "", event.process)
    }

    /// A call of a record; with `isAfterLast`, the moment after the last one, which is of the same kind as `call`.
    init?(_ call: RecordedCall, isAfterLast: Bool = false) {
        guard let kind = call.kind, let number = call.moment else { return nil }
        (self.kind, self.number) = (kind, isAfterLast ? number + 1 : number)
        (path, process) = (isAfterLast ? "(after the last call)" : call.path, nil)
        self.isAfterLast = isAfterLast
    }

    var text: String { "\(kind.rawValue)#\(number)" }
}

/// What `--moments` names: a fault that is tried at each call of some kinds.
enum SweepFault: String, CaseIterable {
    /// One call fails, or it and all later ones of its kind.
    case error, errors
    case full, short, purge, lock, power

    /// The rule for a call; nil if the fault makes no difference there.
    func rule(at moment: SweepMoment) -> String? {
        fault(at: moment.kind).map { "\(moment.text)\(self == .errors ? "+" : "")=\($0)" }
    }

    private func fault(at kind: MomentKind) -> String? {
        switch self {
        case .error, .errors: "EIO"
        case .full: kind == .write ? "full" : nil
        case .short: kind == .write || kind == .read ? "short" : nil
        case .purge, .lock: rawValue
        case .power: nil  // from the record
        }
    }
}

/// One fault at one call, which a run of COMMAND is to meet.
struct SweepTrial: Hashable {
    let moment: SweepMoment
    let fault: SweepFault
    let rule: String
    /// The loss of power, if there is one.
    var loss: PowerLoss?
    /// COMMAND's exit status in the recorded run.
    var commandStatus: Int32 = 0
    /// The rule of a loss of power after the fault of `rule`. Without it, the loss is `rule` itself, and its state is made from
    /// the record.
    var powerRule: String?

    var rules: [String] { [rule] + (powerRule.map { [$0] } ?? []) }
    var text: String { rules.joined(separator: " ") }

    /// Returns the trials for these calls. If there are more than `most`, returns that many: the groups with one fault and one
    /// kind of call take turns, and each group gives trials from its whole course.
    static func trials(
        of moments: [SweepMoment], _ faults: [SweepFault], power: [SweepTrial], most: Int?
    ) -> [SweepTrial] {
        let groups = faults.flatMap { fault in
            MomentKind.allCases.map { kind in
                moments.filter { $0.kind == kind }.compactMap { moment -> SweepTrial? in
                    fault.rule(at: moment).map { SweepTrial(moment: moment, fault: fault, rule: $0) }
                } + power.filter { $0.fault == fault && $0.moment.kind == kind }
            }
        }
        let all = Array(groups.joined())
        guard let most, most < all.count else { return all }
        var shares = [Int](repeating: 0, count: groups.count)
        var left = most
        while left > 0 {
            for index in groups.indices where left > 0 && shares[index] < groups[index].count {
                shares[index] += 1
                left -= 1
            }
        }
        return zip(groups, shares).flatMap { group, share in (0..<share).map { group[$0 * group.count / share] } }
    }
}
