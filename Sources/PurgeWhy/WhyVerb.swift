import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension Verb {
    package static let why = Verb(
        name: "why", summary: "explain why a file is gone, or when it may be purged",
        synopsis: "PATH [TARGET] [--json]",
        description: [
            "Explains what happened to a file: it was purged (by which rule, at which pressure, for whose write); it "
                + "was deleted, moved or replaced (by which program); a write to it was refused; or it cannot be "
                + "opened now. The answer also says how to prevent that.",
            "For a file that is still there, it says whether a purge would take it, and how soon.",
            "PATH is in a mount, or in the container/ of a store. It may be gone, and so may the folders above it. A "
                + "symbolic link stands for itself.",
            "PATH may also be an old absolute path, .../Containers/Data/Application/UUID/..., of a container that has "
                + "got another UUID by an update, a restore or a reinstallation. Then the answer is about the same "
                + "path in the container now. TARGET is that container, if it is not mounted.",
        ],
        options: [OptionSpec("json", "print one JSON object")],
        operands: 1...2, takesAnyBytes: true,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(ExitStatus.failed, "failed, or nothing is known about PATH"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs why ./app/Documents"]
    ) { (invocation) throws(CommandFailure) in
        let asked = try AskedPath(
            invocation.rawOperands[0], in: invocation.rawOperands.dropFirst().first.map(Places.text))
        return try WhyVerb(asked: asked, console: invocation.console).run(
            asJSON: invocation.arguments.has(.json))
    }
}

private struct WhyVerb {
    let asked: AskedPath
    let console: Console

    func run(asJSON: Bool) throws(CommandFailure) -> Int32 {
        var report = try report()
        if !asked.isUTF8 { report.isExact = false }
        if asJSON { try console.print(JSONText.encode(report)) }
        guard report.answer != .unknown else { throw WhyText(report: report).failure }
        if !asJSON { for line in WhyText(report: report).lines { try console.print(line) } }
        return ExitStatus.done
    }

    private func report() throws(CommandFailure) -> WhyReport {
        let status = try PresentFileReader.status(asked.place)
        switch asked.target {
        case .mount(let mount):
            let control = MountedControl(place: mount)
            let report = try control.status()
            if let loss = Target.loss(of: report.store, at: mount, "cannot read the journal") { throw loss }
            try control.flushJournal()
            let file = try status.map { (status) throws(CommandFailure) in
                try PresentFileReader(asked: asked, control: control, report: report).read(status)
            }
            return try inquiry(report.store, file).report()
        case .store(let store):
            // Only a present file needs a scan of the store.
            guard let status else { return try inquiry(store, nil).report() }
            let file = try asked.target.with(forReading: true, warnings: console) {
                (control) throws(CommandFailure) in
                try PresentFileReader(asked: asked, control: control, report: try control.status()).read(status)
            }
            return try inquiry(store, file).report()
        }
    }

    private func inquiry(_ store: String, _ file: PresentFile?) throws(CommandFailure) -> WhyInquiry {
        let settings = settings(store)
        return WhyInquiry(
            path: asked.text, container: asked.target.place, journal: try NameJournal(store: store),
            isOff: settings?.journal.recordsEvents == false, profile: settings?.profile ?? .documented,
            former: asked.former, file: file,
            flag: { PresentFileReader.attribute(asked.place, "user.purgefs.\($0)") },
            exists: { exists($0) }, since: { StoredTimes.since("\(store)/container/\($0)") }, names: { names(in: $0) })
    }

    private func settings(_ store: String) -> Device? {
        do throws(StoreError) {
            return try StoreAtRest.savedSettings(of: store)
        } catch { return nil }  // a caller that needs the settings reports the error
    }

    private func exists(_ path: String) -> Bool {
        do throws(CommandFailure) {
            for place in JournaledName(path).places(in: asked.root) {
                if try PresentFileReader.status(place) != nil { return true }
            }
            return false
        } catch { return true }  // the path cannot be examined, so assume that it exists
    }

    private func names(in folder: String) -> [String] {
        do throws(Errno) {
            let path = folder.isEmpty ? asked.root : "\(asked.root)/\(folder)"
            return try FileDescriptor.open(path, O_RDONLY | O_DIRECTORY).names().map(Places.text)
        } catch { return [] }
    }
}
