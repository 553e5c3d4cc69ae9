import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let device = Verb(
        name: "device", summary: "lock, unlock or reboot the simulated device",
        synopsis: "lock|unlock|reboot [TARGET]",
        description: [
            "lock: the device is `locking` for 10 seconds of its own time, in which everything can still be read, and "
                + "then `locked`. A device that has not been unlocked since it booted stays as it is.",
            "unlock: the device is `unlocked`, whatever it was.",
            "reboot: tmp is emptied, whatever is open there; the app does not run any more; the device is in the state "
                + "before the first unlock. A mounted container stays mounted.",
            HelpText.targetMeaning,
        ],
        options: [], operands: 1...2, words: ControlFile.deviceState.words,
        exitStatus: ExitStatus.plain,
        examples: ["purgefs device lock ./app", "purgefs device reboot ./app", "purgefs device unlock ./app"]
    ) { (invocation) throws(CommandFailure) in
        let word = try invocation.word()
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            try control.command(word, to: .deviceState, doing: "\(word) the device")
        }
        return ExitStatus.done
    }
}
