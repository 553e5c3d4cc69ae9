import PurgeModel

/// What one run did to its container, for people.
struct RunSummary {
    let before: StatusReport
    /// nil where the container went away first.
    let after: StatusReport?
    let events: [Event]

    var text: String {
        let purges = events.filter { $0.type == .purge }
        let files = purges.count { $0.path != nil }
        let bytes = purges.reduce(ByteCount.zero) { $0 + ($1.bytes ?? .zero) }
        var text = "purged \(files) \(files == 1 ? "file" : "files")"
        if bytes > .zero { text += " (\(bytes.inWords): \(parts(of: purges)))" }
        text += ", \(refused) \(refused == 1 ? "write" : "writes") refused"
        if let storage = after?.storage { text += "; \(space(storage))" }
        return text
    }

    private func space(_ storage: StatusReport.Storage) -> String {
        "used \(storage.used.inWords), others \(storage.others.inWords), free \(storage.available.inWords) of "
            + storage.total.inWords
    }

    private var refused: Int64 {
        guard let after else { return Int64(events.count { $0.type == .refused }) }
        return after.counters.refusedWrites - before.counters.refusedWrites
    }

    /// `1.2 MiB temporary, 12.0 MiB caches`, in the order of purging.
    private func parts(of purges: [Event]) -> String {
        var reasons: [String] = []
        var sums: [String: ByteCount] = [:]
        for event in purges {
            let reason = event.reason ?? "unknown"
            if sums[reason] == nil { reasons.append(reason) }
            sums[reason, default: .zero] += event.bytes ?? .zero
        }
        return reasons.map { "\((sums[$0] ?? .zero).inWords) \($0)" }.joined(separator: ", ")
    }
}
