import PurgeModel

/// The states that a loss of power can leave, from one record of COMMAND.
struct SweepPower {
    /// The losses that are tried at each call: nothing survives that was not synced; everything up to then; the names without
    /// data; and two with any blocks.
    private static let losses = [
        PowerLoss(.none), PowerLoss(.ordered), PowerLoss(.torn), PowerLoss(.torn, seed: 1), PowerLoss(.torn, seed: 2),
    ]
    /// The largest number of calls at which the power fails: each takes time in proportion to all calls before it.
    private static let mostCalls = 1000

    /// Returns a trial for each state, and one for each sync: it fails, and the power fails at the end. Of moments that leave the
    /// same state, the first counts, and so does the end, at which COMMAND has succeeded.
    static func trials(of calls: [RecordedCall], most: Int?) -> [SweepTrial] {
        let record = PowerRecord(calls)
        struct State: Hashable {
            let calls: [SurvivingCall]
            let isAtEnd: Bool
        }
        var seen: Set<State> = []
        var trials: [SweepTrial] = []
        for (end, moment) in ends(of: calls, most: min(most ?? mostCalls, mostCalls)) {
            for loss in losses {
                let state = State(calls: record.survivors(of: loss, before: end), isAtEnd: moment.isAfterLast)
                guard seen.insert(state).inserted else { continue }
                trials.append(
                    SweepTrial(moment: moment, fault: .power, rule: "\(moment.text)=\(loss.text)", loss: loss))
            }
        }
        let syncs = calls.filter { $0.kind == .sync }.compactMap { SweepMoment($0) }
        return trials + syncs.map { afterError(at: $0) }
    }

    /// A rule for a call that never comes: the power fails after the last one.
    private static func afterError(at moment: SweepMoment) -> SweepTrial {
        SweepTrial(
            moment: moment, fault: .power, rule: "\(moment.text)=EIO", loss: PowerLoss(.none),
            powerRule: "sync#\(Int32.max)=power")
    }

    /// The calls before which the power may fail, and the moment after the last one. Calls that change nothing leave what the
    /// one before them has left.
    private static func ends(of calls: [RecordedCall], most: Int) -> [(end: Int, moment: SweepMoment)] {
        var ends = calls.indices.compactMap { index -> (Int, SweepMoment)? in
            guard calls[index].isChange || calls[index].kind == .sync else { return nil }
            return SweepMoment(calls[index]).map { (index, $0) }
        }
        if ends.count > most - 1 { ends = (0..<max(0, most - 1)).map { ends[$0 * ends.count / max(1, most - 1)] } }
        // Moments are numbered when calls begin, and recorded when they have been answered.
        let kind = calls.last { $0.isChange && $0.moment != nil }?.kind
        let last = calls.filter { $0.kind == kind }.max { ($0.moment ?? 0) < ($1.moment ?? 0) }
        if kind != nil, let after = last.flatMap({ SweepMoment($0, isAfterLast: true) }) {
            ends.append((calls.count, after))
        }
        return ends
    }
}
