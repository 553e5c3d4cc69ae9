import PurgeCommandLine
import PurgeModel
import PurgeSystem
import PurgeVolume

/// Messages about rules of faults.
enum FaultText {
    /// Returns why the daemon would refuse a text for `faults`; empty if it accepts the text.
    static func objection(to text: String) -> String {
        do throws(FaultRule.Objection) {
            guard case .add(let rules, _) = try FaultCommand(text: text) else { return "" }
            if rules.count > FaultRules.most { return "more than \(FaultRules.most) rules" }
            for case .error(let name) in rules.map(\.fault) where Errno(fault: name) == nil {
                return words(for: .fault(name))
            }
            for case .power in rules.map(\.fault) {
                return "the power can fail only in a run that has the rule from its start: purgefs run --fault "
                    + ShellWord.of(text)
            }
            return ""
        } catch { return words(for: error) }
    }

    private static func words(for objection: FaultRule.Objection) -> String {
        switch objection {
        case .form: return "it is not KIND=FAULT, such as 'write#3=ENOSPC'"
        case .kind(let word):
            let kinds = MomentKind.allCases.map(\.rawValue)
            return "'\(word)' is not a kind of call: \(kinds.joined(separator: ", "))"
                + Suggestion.hint(for: word, among: kinds)
        case .emptyGlob: return "nothing follows @; a pattern for the path does, such as 'write@Documents/*=EIO'"
        case .number(let text):
            return "'\(text)' is not #N, #N+ or %P, with N from 1 and P from 1 to 100"
        case .fault(let word) where word.hasPrefix("power"):
            return "'\(word)' is not power, power=none, power=ordered or power=torn; the last two may have a seed, "
                + "such as 'power=torn:7'"
        case .fault(let word):
            return "'\(word)' is not a fault: the name of an error such as ENOSPC, a duration such as 20ms or 2s, "
                + FaultRule.words.joined(separator: ", ")
                + Suggestion.hint(for: word, among: FaultRule.words + Errno.names)
        case .delayTooLong: return "a call can be delayed for an hour at most"
        case .notShortened: return "only read and write can be short"
        }
    }
}
