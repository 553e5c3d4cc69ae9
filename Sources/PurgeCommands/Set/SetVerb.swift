import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem
import PurgeVolume

extension Verb {
    static let set = Verb(
        name: "set", summary: "change the simulated device",
        synopsis: "[TARGET] NAME=VALUE...",
        description: [
            "Writes values to control files, in the order given. All values are checked before the first is written; "
                + "the first one that the container refuses ends the command. A change is accepted even if it leaves "
                + "too little room: purging then makes room, before the command returns."
        ],
        options: [], operands: 1...(.max), settings: Setting.settable,
        sections: [
            HelpSection(
                title: "NAMES (`storage.` may be omitted)",
                lines: ControlFile.settable.map { .init($0.rawValue, $0.settingHelp ?? "") }),
            HelpSection(
                title: "VALUES",
                lines: [
                    .init("SIZE", "4096, 64K, 1.5G, 64MiB (powers of 1024) or 64GB (powers of 1000)"),
                    .init("+SIZE, -SIZE", "relative to the current value"),
                    .init("PERCENT", "a whole number from 0 to 100"),
                    .init("DURATION", "30s, 5m, 2h, 3d, 1w"),
                    .init(
                        "THRESHOLDS",
                        "LEVEL=LIMIT, separated by commas: verylow=5%,low=512M. LEVEL is verylow, low, nearlow or "
                            + "desired, and limits rise in this order. LIMIT is a size, a percentage that follows the "
                            + "total, or the smaller of both: 5%/512M. `off`: no background purge and no reserve; "
                            + "`default`: the thresholds of the profile"
                    ),
                ]),
        ],
        exitStatus: ExitStatus.plain,
        examples: [
            "purgefs set ./app storage.others=40G storage.others.purgeable=+1G",
            "purgefs set ./app thresholds=verylow=5%,low=10%",
        ]
    ) { (invocation) throws(CommandFailure) in
        let (target, assignments) = try Assignment.split(invocation.arguments.operands)
        try Target.with(target) { (control) throws(CommandFailure) in try Assignment.carryOut(assignments, on: control)
        }
        return ExitStatus.done
    }
}
