import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeSystem

extension Verb {
    static let app = Verb(
        name: "app", summary: "change the state of the app, update, delete or offload it",
        synopsis: AppCommand.allCases.map(\.rawValue).joined(separator: "|") + " [TARGET]",
        description: [
            "Tells the device about the app; no program is started. `purgefs run` launches the app before COMMAND and "
                + "terminates it afterwards. After `purgefs mount`, the app does not run until it is launched. The "
                + "processes of COMMAND, or of the process in the control file app.process, follow the state of the app. "
                + "For launch, background and suspend, the container must be mounted.",
            "launch: the app is in the foreground; a suspended one continues. At the start of an app that did not run, "
                + "missing standard folders are made again, and directory policies are carried out in the "
                + "background.",
            "background: the app runs in the background. This starts a terminated app and continues a suspended one.",
            "suspend: the processes are stopped. If they hold a lock on a file outside of the container, the system "
                + "terminates the app (0xdead10cc).",
            "terminate: the app no longer runs. The processes of a suspended app are killed; others go on.",
            "update: the container gets another UUID, and tmp is emptied, open files included; everything else is "
                + "kept. The app no longer runs.",
            "offload: the app can no longer be started; its data is kept.",
            "install: ends the offload.",
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
            if [.launch, .background, .suspend].contains(AppCommand(rawValue: word)) {
                try control.requireMount("cannot \(doing(word))")
            }
            try control.command(word, to: .appState, doing: doing(word))
        }
        return ExitStatus.done
    }
}

/// The purpose of a command, as in `cannot move the app to the background`.
private func doing(_ word: String) -> String {
    word == AppCommand.background.rawValue ? "move the app to the background" : "\(word) the app"
}
