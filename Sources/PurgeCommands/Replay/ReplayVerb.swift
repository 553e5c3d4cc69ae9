import Glibc
import PurgeCommandLine
import PurgeContainers
import PurgeModel
import PurgeStore
import PurgeSystem

extension OptionSpec {
    fileprivate static let before = OptionSpec(
        "before", .text("KIND#N"), "stop just before this call, such as rename#1")
    fileprivate static let power = OptionSpec(
        "power", .choice("REST", PowerLoss.Rest.allCases.map(\.rawValue)),
        "make only the changes that a loss of power leaves: those that were synced, and of the rest none, or all up to "
            + "a point (ordered), or the names up to a point and any blocks of the data (torn)")
    fileprivate static let powerSeed = OptionSpec(
        "power-seed", .number("N"),
        "choose the point and the blocks by N; with 0 the point is the end, and no block is there (0)")
}

extension Verb {
    static let replay = Verb(
        name: "replay", summary: "repeat the calls of a record",
        synopsis: "[options] FILE TARGET",
        description: [
            "Repeats the calls that `purgefs run --record FILE --data` has recorded, one after the other, in TARGET, and "
                + "prints each call whose outcome differs: another error, or another number of bytes.",
            "With --power, the result is a container after a loss of power (docs/POWER.md).",
        ],
        options: [.before, .power, .powerSeed],
        operands: 2...2,
        exitStatus: [
            ExitStatus.line(ExitStatus.done, "all calls have had the same outcome"),
            ExitStatus.line(ExitStatus.failed, "a call has had another outcome"),
            ExitStatus.line(ExitStatus.usage),
        ],
        examples: ["purgefs run --record c.jsonl --data -- true; purgefs replay c.jsonl ."]
    ) { (invocation) throws(CommandFailure) in try ReplayVerb(invocation: invocation).run() }
}

private struct ReplayVerb {
    let invocation: Invocation

    func run() throws(CommandFailure) -> Int32 {
        let arguments = invocation.arguments
        let calls = try CallsFile.read(arguments.operands[0])
        let end = try end(in: calls)
        if calls.contains(where: { $0.lacksData }) {
            if arguments.has(.power) {
                throw .usage("--power needs a record with data: purgefs run --record FILE --data")
            }
            invocation.console.warn("replay: the record has no data, so zeros are written instead")
        }
        let target = arguments.operands[1]
        if Target.isStore(target) {
            throw CommandFailure(
                "cannot replay in", path: target, "it is a store, not a container",
                advice: "Replay into a mount of it: purgefs mount \(ShellWord.of(target)) MOUNTPOINT")
        }
        var replayer: Replayer
        do throws(Errno) {
            // A write beyond the limit of a file's size is then an error, which is reported like any other.
            _ = try System.block(SignalSet(SIGXFSZ))
            replayer = try Replayer(target)
        } catch {
            throw CommandFailure("cannot replay in", path: target, error)
        }
        guard let rest = arguments.text(.power).flatMap(PowerLoss.Rest.init) else {
            if arguments.has(.powerSeed) { throw .usage("--power-seed needs --power") }
            return try replay(calls[..<end].withoutNamelessFiles(), &replayer)
        }
        let seed = arguments.text(.powerSeed).flatMap { UInt64($0) } ?? 0
        let survivors = PowerRecord(calls).survivors(of: PowerLoss(rest, seed: seed), before: end)
        return try replay(survivors.flatMap { calls[$0.index].surviving($0) }, &replayer)
    }

    private func replay(
        _ calls: some Sequence<RecordedCall>, _ replayer: inout Replayer
    ) throws(CommandFailure) -> Int32 {
        var status = ExitStatus.done
        for call in calls where !replayer.leavesOut(call) {
            let now: String
            do throws(Errno) {
                let count = try replayer.replay(call)
                now = call.error != nil || count == call.result ? "" : "\(count ?? 0) bytes"
                if call.error == nil, now.isEmpty { continue }
            } catch {
                now = error.name ?? "\(error)"
                if now == call.error { continue }
            }
            status = ExitStatus.failed
            let then = call.error ?? call.result.map { "\($0) bytes" } ?? "done"
            try invocation.console.print(
                VisibleText.of(
                    "\(call.call.rawValue) \(call.path): \(then) in the record, \(now.isEmpty ? "done" : now) now"))
        }
        return status
    }

    /// The place in the record of the call that `--before` names.
    private func end(in calls: [RecordedCall]) throws(CommandFailure) -> Int {
        guard let text = invocation.arguments.text(.before) else { return calls.count }
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, let kind = MomentKind(rawValue: String(parts[0])),
            parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(parts[1]),
            let end = calls.firstIndex(where: { $0.kind == kind && $0.moment == number })
        else { throw .usage("--before \(VisibleText.of(text)): there is no such call in the record") }
        return end
    }
}

extension Sequence<RecordedCall> {
    /// Leaves out the files of O_TMPFILE that get no name, and all calls on them: the record does not say when they are closed.
    /// Also leaves out calls that have not made such a file, because the record does not name the folder.
    fileprivate func withoutNamelessFiles() -> [RecordedCall] {
        let calls = Array(self)
        // The number of the current file under each node that O_TMPFILE has made, and the files that get a name.
        var files: [UInt64: Int] = [:]
        var named: Set<Int> = []
        var ofCall: [Int?] = []
        for (index, call) in calls.enumerated() {
            let node = call.node ?? 0
            switch call.call {
            case .tmpfile: if call.error == nil { files[node] = index }
            case .create, .mkdir, .symlink, .mknod: if call.error == nil { files[node] = nil }
            case .link: if call.other?.isEmpty == true, let file = files[node] { named.insert(file) }
            default: break
            }
            ofCall.append(call.call == .tmpfile || call.path.isEmpty ? files[node] : nil)
        }
        return zip(calls, ofCall).compactMap { call, file in
            if call.call == .tmpfile, call.error != nil { return nil }
            if let file, !named.contains(file) { return nil }
            return call
        }
    }
}

/// The file of `run --record`.
enum CallsFile {
    static func read(_ path: String) throws(CommandFailure) -> [RecordedCall] {
        let text: String
        do throws(Errno) {
            text = String(decoding: try FileDescriptor.open(path, O_RDONLY).readToEnd(), as: UTF8.self)
        } catch { throw CommandFailure("cannot read the record", path: path, error) }
        var calls: [RecordedCall] = []
        var isCall = true
        for (number, line) in text.split(separator: "\n").enumerated() {
            do { calls.append(try JSONText.decode(RecordedCall.self, from: String(line))) } catch { isCall = false }
            guard isCall, calls.last?.isPlausible == true, calls.last?.hasReadableData == true else {
                throw CommandFailure(
                    "cannot read the record", path: path, "line \(number + 1) is not a recorded call",
                    advice: "`purgefs run --record FILE --data` writes one.")
            }
        }
        return calls
    }
}
