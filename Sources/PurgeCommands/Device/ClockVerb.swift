import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let clock = Verb(
        name: "clock", summary: "advance the clock of the simulated device",
        synopsis: "advance DURATION [TARGET]",
        description: [
            "Moves the device's clock forward by DURATION: 30s, 5m, 2h, 3d or 1w, and at least 1s. From then on, the "
                + "clock advances with real time again. Everything that is due by then, such as the end of a grace "
                + "period, happens before the command returns."
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
