import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let all = OptionSpec("all", "check the whole container, and print only findings")
    fileprivate static let strict = OptionSpec("strict", "exit with 1 if anything was found")
    fileprivate static let every = OptionSpec("verbose", "list all files of a finding, not just the first five")
}

extension Verb {
    package static let diagnose = Verb(
        name: "diagnose", summary: "find mistakes in how files are stored",
        synopsis: "(PATH | --all [TARGET]) [--strict] [--verbose] [--json]",
        description: [
            "Goes through a checklist for a file, or for a folder and everything below it: its place and when it may "
                + "be purged, its protection class and whether it can be opened now, its backup, its size and state, "
                + "its folder, and the room on the device. Advises on each finding. PATH is in a mount, or in the "
                + "container/ of a store that is not mounted.",
            "--all checks a whole container. The findings, worst first, are errors (data is or will be lost, or is "
                + "inaccessible when it is needed), warnings and notes.",
            "Nothing is changed, and nothing counts as used. For a file that is gone, use `purgefs why PATH`.",
        ],
        options: [.all, .strict, .every, OptionSpec("json", "print one JSON object")],
        operands: 0...1, takesAnyBytes: true,
        exitStatus: [
            ExitStatus.line(ExitStatus.done),
            ExitStatus.line(ExitStatus.failed, "failed, or with --strict: something was found"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs diagnose ./app/tmp/f", "purgefs diagnose --all ./app"]
    ) { (invocation) throws(CommandFailure) in try DiagnoseVerb(invocation: invocation).run() }
}

private struct DiagnoseVerb {
    let invocation: Invocation
    private var console: Console { invocation.console }
    private func has(_ option: OptionSpec) -> Bool { invocation.arguments.has(option) }

    func run() throws(CommandFailure) -> Int32 {
        let findings = try has(.all) ? diagnoseAll() : diagnosePath()
        return has(.strict) && !findings.isEmpty ? ExitStatus.failed : ExitStatus.done
    }

    private func warn(_ warning: String) { console.warn("warning: \(warning)") }

    private func diagnoseAll() throws(CommandFailure) -> [DiagnosisFinding] {
        guard invocation.rawOperands.allSatisfy({ String(path: $0.dropLast().map(UInt8.init(bitPattern:))) != nil })
        else {
            throw CommandFailure(
                "no container", path: Places.text(invocation.rawOperands[0]), Errno.illegalByteSequence)
        }
        let target = try Target(invocation.arguments.operands.first)
        let report = try ContainerDiagnosis.report(of: target, warn: warn)
        guard !has(.json) else {
            try console.print(JSONText.encode(report, pretty: true))
            return report.findings
        }
        try console.print("\(FindingsText.files(report.files)), \(report.bytes.inWords)")
        try console.print("")
        let text = FindingsText(findings: report.findings, rules: report.rules, isVerbose: has(.every))
        for line in text.lines { try console.print(line) }
        return report.findings
    }

    private func diagnosePath() throws(CommandFailure) -> [DiagnosisFinding] {
        guard let raw = invocation.rawOperands.first else {
            throw .usage("nothing to diagnose: name a PATH, or use --all for a whole container")
        }
        let place = try Self.place(raw)
        let container = try DiagnosedContainer(
            place.target, past: isFolder(raw) ? .whole : .of(String(decoding: place.inner, as: UTF8.self)))
        let diagnosis = try PathDiagnosis(of: place.inner, in: container)
        container.warnings.forEach(warn)
        if has(.json) {
            try console.print(JSONText.encode(diagnosis, pretty: true))
        } else {
            for line in PathDiagnosisText(diagnosis: diagnosis, isVerbose: has(.every)).lines {
                try console.print(line)
            }
        }
        return diagnosis.findings
    }

    private func isFolder(_ raw: RawText) -> Bool {
        do throws(Errno) {
            return try System.status(at: AT_FDCWD, raw).isDirectoryFile
        } catch { return false }
    }

    private static func place(_ raw: RawText) throws(CommandFailure) -> PathInContainer {
        do throws(CommandFailure) {
            return try PathInContainer(raw, for: DiagnosedContainer.what)
        } catch {
            guard let missing = MissingPath(raw) else {
                guard ContainerPath(raw.dropLast().map { UInt8(bitPattern: $0) }[...]) != nil else { throw error }
                throw CommandFailure(
                    DiagnosedContainer.what, path: Places.text(raw), "it is not in a container",
                    advice: "If it is a path of an earlier container, `purgefs why PATH` says where it is now.")
            }
            throw CommandFailure(
                DiagnosedContainer.what, path: Places.text(raw), Errno.noEntry, advice: try missing.advice())
        }
    }
}
