import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let repair = OptionSpec("repair", "repair the damage; damaged files are kept under another name")
}

extension Verb {
    static let check = Verb(
        name: "check", summary: "look for damage in a store that is not mounted",
        synopsis: "STORE [--repair]",
        description: [
            "Checks the container's folders, device.json and the journal, and then reads the sizes, marks and block "
                + "records of all files, as a mount would. Prints each problem and its remedy. Only --repair changes "
                + "the store; it also finishes an interrupted reboot, update or deletion of the app."
        ],
        options: [OptionSpec.repair], operands: 1...1,
        exitStatus: [
            ExitStatus.line(ExitStatus.done, "no damage, or all of it repaired"),
            ExitStatus.line(ExitStatus.failed, "damage remains, or the store cannot be checked"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs check ./app.store --repair"]
    ) { (invocation) throws(CommandFailure) in
        try CheckVerb.run(
            invocation.arguments.operands[0], repairing: invocation.arguments.has(.repair), invocation.console)
    }
}

private enum CheckVerb {
    static func run(_ store: String, repairing: Bool, _ console: Console) throws(CommandFailure) -> Int32 {
        if let mount = try mount(of: store) {
            throw CommandFailure(
                "cannot check", path: store, "it is mounted at \(mount)",
                advice: "Unmount it first: purgefs unmount \(ShellWord.of(mount))")
        }
        if let failure = MountCopy.failure("cannot check", store: store) { throw failure }
        var remaining = 0
        func show(_ problems: [StoreProblem]) throws(CommandFailure) {
            for problem in problems { try console.print(text(problem)) }
            remaining += problems.count { $0.repair == nil }
        }
        try show(try inspect(store, repairing: repairing))
        let unfinished = remaining == 0 ? try unfinishedWork(of: store) : nil
        // The files can be checked only if the rest of the store is sound.
        let control = remaining == 0 ? try OfflineControl(store: store, forReading: !repairing) : nil
        if let control { try show(try control.recordProblems(repairing: repairing)) }
        let report = try control?.status()
        try control?.close()
        guard remaining == 0, let report else {
            try console.print("\(VisibleText.of(store)): \(remaining) \(remaining == 1 ? "problem" : "problems")")
            return ExitStatus.failed
        }
        if let unfinished {
            let advice =
                repairing ? "It is finished now." : "The next mount finishes it, as does `purgefs check --repair`."
            try console.print("\(VisibleText.of(store)): \(unfinished.text) was interrupted\n  \(advice)")
        }
        try sum(up: report, store, console)
        return ExitStatus.done
    }

    /// Returns two lines: the problem with its path, then the repair or the advice.
    private static func text(_ problem: StoreProblem) -> String {
        VisibleText.of("\(problem.path): \(problem.what)") + "\n  "
            + VisibleText.of(problem.repair ?? problem.advice)
    }

    private static func mount(of store: String) throws(CommandFailure) -> String? {
        guard let path = Places.resolved(store) else { return nil }
        if let mount = Target.mount(ofStore: path) { return mount }
        return try Target.mount(holding: path) == path ? path : nil
    }

    private static func inspect(_ store: String, repairing: Bool) throws(CommandFailure) -> [StoreProblem] {
        do throws(StoreError) {
            return try StoreInspection.run(store, repairing: repairing).problems
        } catch { throw CommandFailure("cannot check", error) }
    }

    private static func unfinishedWork(of store: String) throws(CommandFailure) -> DeviceWork? {
        do throws(StoreError) {
            return try StoreAtRest.savedSettings(of: store)?.unfinished
        } catch { throw CommandFailure("cannot check", error) }
    }

    private static func sum(
        up report: StatusReport, _ store: String, _ console: Console
    ) throws(CommandFailure) {
        let tiers = report.tiers
        let files = tiers.temporary.files + tiers.caches.files + tiers.persistent.files
        let count = "\(files) \(files == 1 ? "file" : "files")"
        try console.print("\(VisibleText.of(store)): good; \(count), \(report.storage.used.inWords) in use")
    }
}
