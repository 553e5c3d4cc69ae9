import PurgeModel

/// What one run did to its container, as text.
struct RunSummary {
    let before: StatusReport
    /// nil if the container went away first.
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
        guard let after else { return events.refusals }
        return after.counters.refusedWrites - before.counters.refusedWrites
    }

    /// `1.2 MiB temporary, 12.0 MiB caches`, in the order of purging.
    private var parts: String {
        events.purged.map { "\($0.bytes.inWords) \($0.reason)" }.joined(separator: ", ")
    }
}
