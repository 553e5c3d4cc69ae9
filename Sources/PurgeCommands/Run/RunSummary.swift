import PurgeModel
import PurgeStore

/// The effects of one run on its container, as text and as JSON.
struct RunSummary {
    /// How many writes the store had refused before COMMAND; nil if COMMAND was not reached.
    let refusedBefore: Int64?
    /// The status after the unmount; nil if the container disappeared earlier.
    let after: StatusReport?
    let events: RunTally

    var text: String {
        let (files, bytes) = (events.purgedFiles, events.purgedBytes)
        var text = "purged \(files) \(files == 1 ? "file" : "files")"
        if bytes > .zero { text += " (\(bytes.inWords): \(parts))" }
        text += ", \(refused) \(refused == 1 ? "write" : "writes") refused"
        if let storage = after?.storage { text += "; \(space(storage))" }
        return text
    }

    private func space(_ storage: StatusReport.Storage) -> String {
        "used \(storage.used.inWords), others \(storage.others.inWords), free \(storage.available.inWords) of "
            + storage.total.inWords
    }

    private var refused: Int64 {
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
        var version = 1
        var status: Int32?
        var purged: Purged
        var refusedWrites: Int64
        var events: [String: Int]
        var storage: StatusReport.Storage?
        var pressure: PressureLevel?
    }

    /// Returns the summary as JSON. `status` is COMMAND's, 125 if the container was lost, or nil if COMMAND was not started.
    func json(status: Int32?) -> String {
        let document = Document(
            status: status,
            purged: .init(
                files: events.purgedFiles, bytes: events.purgedBytes,
                byReason: Dictionary(uniqueKeysWithValues: events.purged.map { ($0.reason, $0.bytes) })),
            refusedWrites: refused,
            events: Dictionary(uniqueKeysWithValues: events.counts.map { ($0.key.rawValue, $0.value) }),
            storage: after?.storage, pressure: after?.pressure)
        return JSONText.encode(document, pretty: true) + "\n"
    }
}
