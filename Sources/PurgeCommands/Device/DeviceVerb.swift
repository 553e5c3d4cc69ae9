import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension OptionSpec {
    static let now = OptionSpec(
        "now",
        "with lock: advance the device's clock by 10 seconds, over the grace period, so that the device is locked at once"
    )
}

extension Verb {
    static let device = Verb(
        name: "device", summary: "lock, unlock or reboot the simulated device, or print its state",
        synopsis: "lock|unlock|reboot|state [TARGET] [--now]",
        description: [
            "lock: the device is `locking` for a grace period of 10 seconds of its own time, in which everything "
                + "still works, and then `locked`. A device that was not unlocked since boot stays as it is.",
            "unlock: the device is `unlocked`, whatever its state was.",
            "reboot: tmp is emptied (not in profile device), open files included; the app no longer runs; the device is "
                + "`beforeFirstUnlock`. A mounted container stays mounted.",
            "state: print the state.",
        ],
        options: [.now], operands: 1...2, words: ControlFile.deviceState.words + ["state"],
        exitStatus: ExitStatus.plain,
        examples: [
            "purgefs device lock --now ./app", "purgefs device state ./app", "purgefs device reboot ./app",
            "purgefs device unlock ./app",
        ]
    ) { (invocation) throws(CommandFailure) in
        let word = try invocation.word()
        let isNow = invocation.arguments.has(.now)
        guard !isNow || word == "lock" else { throw .usage("--now is an option of 'purgefs device lock'") }
        guard word != "state" else {
            try Target.with(invocation.target(at: 1), forReading: invocation.console) {
                (control) throws(CommandFailure) in
                try invocation.console.print(control.lockState())
            }
            return ExitStatus.done
        }
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            try control.command(word, to: .deviceState, doing: "\(word) the device")
            guard isNow, try control.lockState() == LockState.locking.rawValue else { return }
            let gracePeriod = DeviceLock.lockingTime.seconds
            try control.command("+\(gracePeriod)s", to: .deviceClock, doing: "end the grace period")
        }
        return ExitStatus.done
    }
}

extension ControlEndpoint {
    fileprivate func lockState() throws(CommandFailure) -> String {
        String(try content(of: .deviceState).prefix { $0 != "\n" })
    }
}
