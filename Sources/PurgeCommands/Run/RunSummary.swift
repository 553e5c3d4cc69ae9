import PurgeCommandLine
import PurgeModel
import PurgeStore

/// The effects of one run on its container, as text and as JSON.
struct RunSummary {
    let verdict: RunVerdict
    /// COMMAND's exit status, 125 if the container was lost, or nil if COMMAND was not started.
    let status: Int32?
    /// COMMAND's exit status if the check ran after it.
    let commandStatus: Int32?
    /// How many writes the store had refused before COMMAND; nil if COMMAND was not reached.
    let refusedBefore: Int64?
    /// The status after the unmount; nil if the container disappeared earlier.
    let after: StatusReport?
    let events: RunTally

    var text: String {
        verdict.text + (events.termination.map { "; \(Self.text(of: $0))" } ?? "")
            + "; purged \(purgedText), \(refusedText) refused" + (after.map { "; \(space($0.storage))" } ?? "")
    }

    /// Returns a termination in words: `the system terminated the app (0xdead10cc, lockHeldWhileSuspended: /shared/db)`.
    private static func text(of event: Event) -> String {
        let path = event.path.map { ": \(VisibleText.of($0))" } ?? ""
        let process = event.process.map { " (\(VisibleText.of($0)))" } ?? ""
        let holder = event.pid.map { ", locked by process \($0)\(process)" } ?? ""
        return "the system terminated the app (\(event.code ?? ""), \(event.reason ?? "")\(path)\(holder))"
    }

    var purgedText: String {
        let (files, bytes) = (events.purgedFiles, events.purgedBytes)
        return "\(files) \(files == 1 ? "file" : "files")" + (bytes > .zero ? " (\(bytes.inWords): \(parts))" : "")
    }

    var refusedText: String { "\(refused) \(refused == 1 ? "write" : "writes")" }

    func space(_ storage: StatusReport.Storage) -> String {
        "used \(storage.used.inWords), others \(storage.others.inWords), free \(storage.available.inWords) of "
            + storage.total.inWords
    }

    var refused: Int64 {
        guard let after, let refusedBefore else { return events.refusals }
        return after.counters.refusedWrites - refusedBefore
    }

    /// The purged bytes by reason, in the order of first occurrence: `1.2 MiB temporary, 12.0 MiB caches`.
    private var parts: String {
        events.purged.map { "\($0.bytes.inWords) \($0.reason)" }.joined(separator: ", ")
    }
}

// The file of `--summary` (docs/CLI.md).
extension RunSummary {
    private struct Document: Encodable {
        struct Purged: Encodable {
            var files: Int
            var bytes: ByteCount
            var byReason: [String: ByteCount]
        }
        struct Termination: Encodable {
            var reason, code, path: String?
            var pid: Int32?
            var process: String?
        }
        var version = 1
        var verdict: String
        var status: Int32?
        var commandStatus: Int32?
        var terminated: Termination?
        var purged: Purged
        var refusedWrites: Int64
        var events: [String: Int]
        var storage: StatusReport.Storage?
        var pressure: PressureLevel?
    }

    var json: String {
        let document = Document(
            verdict: verdict.word, status: status, commandStatus: commandStatus,
            terminated: events.termination.map {
                .init(reason: $0.reason, code: $0.code, path: $0.path, pid: $0.pid, process: $0.process)
            },
            purged: .init(
                files: events.purgedFiles, bytes: events.purgedBytes,
                byReason: Dictionary(uniqueKeysWithValues: events.purged.map { ($0.reason, $0.bytes) })),
            refusedWrites: refused,
            events: Dictionary(uniqueKeysWithValues: events.counts.map { ($0.key.rawValue, $0.value) }),
            storage: after?.storage, pressure: after?.pressure)
        return JSONText.encode(document, pretty: true) + "\n"
    }
}
