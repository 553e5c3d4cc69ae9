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

    /// A state, told apart from others by two hashes, because all states together would be too large.
    private struct State: Hashable {
        let first, second: Int
        /// At the end COMMAND has succeeded, so the same state may be wrong there only.
        let isAtEnd: Bool

        init(_ calls: [SurvivingCall], isAtEnd: Bool) {
            var hashers = (Hasher(), Hasher())
            hashers.0.combine(calls)
            hashers.1.combine(1)
            hashers.1.combine(calls)
            (first, second, self.isAtEnd) = (hashers.0.finalize(), hashers.1.finalize(), isAtEnd)
        }
    }

    /// Returns a trial for each state, and one for each sync: it fails, and the power fails at the end. Of moments that leave the
    /// same state, the first counts, and so does the end.
    /// - Parameter status: with which COMMAND has ended.
    static func trials(of calls: [RecordedCall], status: Int32, most: Int?) -> [SweepTrial] {
        let record = PowerRecord(calls)
        let most = min(most ?? mostCalls, mostCalls)
        var seen: Set<State> = []
        var trials: [SweepTrial] = []
        for (end, moment) in ends(of: calls, most: most) {
            for (loss, survivors) in zip(losses, record.survivors(of: losses, before: end)) {
                guard seen.insert(State(survivors, isAtEnd: moment.isAfterLast)).inserted else { continue }
                trials.append(
                    SweepTrial(
                        moment: moment, fault: .power, rule: "\(moment.text)=\(loss.text)", loss: loss,
                        commandStatus: status))
            }
        }
        let syncs = calls.filter { $0.kind == .sync }.compactMap { SweepMoment($0) }
        return trials + spread(syncs, most).map { afterError(at: $0) }
    }

    private static func spread<Value>(_ values: [Value], _ most: Int) -> [Value] {
        values.count <= most ? values : (0..<most).map { values[$0 * values.count / most] }
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
        // The kinds share the number, so that one rename among many writes is tried.
        var groups = MomentKind.allCases.map { kind in ends.filter { $0.1.kind == kind } }.filter { !$0.isEmpty }
        groups.sort { $0.count < $1.count }
        var left = max(0, most - 1)
        ends = []
        for (index, group) in groups.enumerated() {
            let taken = spread(group, left / (groups.count - index))
            left -= taken.count
            ends += taken
        }
        ends.sort { $0.0 < $1.0 }
        // Moments are numbered when calls begin, and recorded when they have been answered.
        let kind = calls.last { $0.isChange && $0.moment != nil }?.kind
        let last = calls.filter { $0.kind == kind }.max { ($0.moment ?? 0) < ($1.moment ?? 0) }
        if let after = last.flatMap({ SweepMoment($0, isAfterLast: true) }) {
            ends.append((calls.count, after))
        }
        return ends
    }
}
