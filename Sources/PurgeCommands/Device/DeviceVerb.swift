import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let device = Verb(
        name: "device", summary: "lock, unlock or reboot the simulated device",
        synopsis: "lock|unlock|reboot [TARGET]",
        description: [
            "lock: the device is `locking` for a grace period of 10 seconds of its own time, in which everything "
                + "still works, and then `locked`. A device that was not unlocked since boot stays as it is.",
            "unlock: the device is `unlocked`, whatever its state was.",
            "reboot: tmp is emptied, open files included; the app no longer runs; the device is `beforeFirstUnlock`. "
                + "A mounted container stays mounted.",
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
