import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let app = Verb(
        name: "app", summary: "launch, terminate, update or delete the app",
        synopsis: "launch|terminate|update|delete [TARGET]",
        description: [
            "Says what happens to the app; no program is started or ended. `purgefs run` launches the app before "
                + "COMMAND and terminates it afterwards. In a mount it is not running until it is launched.",
            "launch: folders that every container has are made again where they are missing. The container must be "
                + "mounted.",
            "terminate: the app does not run any more.",
            "update: the container gets another UUID, and tmp is emptied, whatever is open there; everything else is "
                + "kept. The app does not run any more.",
            "delete: everything in the container is removed, whatever is open, and it gets another UUID. The next launch "
                + "or mount makes its folders again.",
            HelpText.targetMeaning,
        ],
        options: [], operands: 1...2, words: AppCommand.allCases.map(\.rawValue),
        exitStatus: ExitStatus.plain,
        examples: ["purgefs app launch ./app", "purgefs app update ./app", "purgefs app delete ./app"]
    ) { (invocation) throws(CommandFailure) in
        let word = try invocation.word()
        try Target.with(invocation.target(at: 1)) { (control) throws(CommandFailure) in
            guard control.isMounted || word != AppCommand.launch.rawValue else {
                throw CommandFailure(
                    "cannot launch the app", path: control.place, "the container is not mounted",
                    advice: "Mount it first: purgefs mount \(control.place) MOUNTPOINT")
            }
            try control.command(word, to: .appState, doing: "\(word) the app")
        }
        return ExitStatus.done
    }
}
