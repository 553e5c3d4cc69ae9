import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let app = Verb(
        name: "app", summary: "launch, terminate, update or delete the app",
        synopsis: "launch|terminate|update|delete [TARGET]",
        description: [
            "Tells the device about the app; no program is started or ended. `purgefs run` launches the app before "
                + "COMMAND and terminates it afterwards. After `purgefs mount`, the app does not run until it is "
                + "launched.",
            "launch: the app runs. Missing standard folders are made again, and directory policies are carried out. The "
                + "container must be mounted.",
            "terminate: the app no longer runs.",
            "update: the container gets another UUID, and tmp is emptied, open files included; everything else is "
                + "kept. The app no longer runs.",
            "delete: everything in the container is removed, open files included, and the container gets another "
                + "UUID. The next launch or mount makes its folders again.",
        ],
        options: [], operands: 1...2, words: AppCommand.allCases.map(\.rawValue),
        exitStatus: ExitStatus.plain,
        examples: ["purgefs app launch ./app", "purgefs app update ./app", "purgefs app delete ./app"]
    ) { (invocation) throws(CommandFailure) in
        let word = try invocation.word()
        if word == AppCommand.delete.rawValue {
            try Target.requireWhole(invocation.target(at: 1), "cannot delete the app")
        }
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            guard control.isMounted || word != AppCommand.launch.rawValue else {
                throw CommandFailure(
                    "cannot launch the app", path: control.place, "the container is not mounted",
                    advice: "Mount it first: purgefs mount \(ShellWord.of(control.place)) MOUNTPOINT")
            }
            try control.command(word, to: .appState, doing: "\(word) the app")
        }
        return ExitStatus.done
    }
}
