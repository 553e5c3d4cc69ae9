import PurgeCommandLine
import PurgeModel
import PurgeStore

/// `purgefs backup audit`.
struct BackupAuditCommand {
    private let work: BackupWork

    init(_ invocation: Invocation) throws(CommandFailure) {
        work = BackupWork(invocation: invocation)
        if invocation.arguments.has(.backupOutput) { throw .usage("--output is an option of create") }
    }

    func run() throws(CommandFailure) {
        let target = try BackupTarget(try work.target(), for: "cannot audit")
        let report = try work.run("cannot audit") { () throws(StoreError) in
            try ContainerAudit(
                target.source, lastUses: try target.lastUses(), work.progress("reading", path: target.storePath)
            ).run()
        }
        try work.endWaiting("nothing was changed")
        guard !work.asJSON else { return try work.console.print(JSONText.encode(report, pretty: true)) }
        for line in BackupAuditText(report: report, isVerbose: work.isVerbose).lines { try work.console.print(line) }
    }
}
