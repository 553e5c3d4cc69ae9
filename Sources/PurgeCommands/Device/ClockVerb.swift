import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let clock = Verb(
        name: "clock", summary: "advance the clock of the simulated device",
        synopsis: "advance DURATION [TARGET]",
        description: [
            "DURATION is 30s, 5m, 2h, 3d or 1w, and at least 1s. The clock of a device only moves forward, and goes on from there with "
                + "real time. What is due by then happens before the command returns.",
            HelpText.targetMeaning,
        ],
        options: [], operands: 2...3, words: ["advance"],
        exitStatus: ExitStatus.plain,
        examples: ["purgefs clock advance 3d ./app"]
    ) { (invocation) throws(CommandFailure) in
        let word = try invocation.word()
        let text = invocation.arguments.operands[1]
        let duration = text.first == "+" ? String(text.dropFirst()) : text
        if let objection = DurationText.objection(to: duration) {
            let isSwapped = invocation.target(at: 2).map { TimeSpan(text: $0) != nil } ?? false
            throw .usage(objection + (isSwapped ? "; DURATION comes before TARGET" : ""))
        }
        try Target.with(invocation.target(at: 2)) { (control) throws(CommandFailure) in
            try control.command("+" + duration, to: .deviceClock, doing: "\(word) the clock by \(duration)")
        }
        return ExitStatus.done
    }
}
