import PurgeModel

/// `purgefs status` for people.
struct StatusText {
    let report: StatusReport
    let bar: Bar

    var lines: [String] { place + [""] + space + [""] + capacities + [""] + tiers + [""] + state }

    private var place: [String] {
        [
            row("container", VisibleText.of(report.app.container)),
            row("mounted at", report.mountpoint.map(VisibleText.of) ?? "nowhere"),
            row("store", VisibleText.of(report.store)),
            row("profile", VisibleText.of(report.profile)),
        ]
    }

    private var space: [String] {
        let storage = report.storage
        let total = storage.total.bytes
        let kept = storage.others - storage.othersPurgeable
        let purgeable = storage.othersPurgeable > .zero ? "  (\(storage.othersPurgeable.inWords) purgeable)" : ""
        return [
            row("total", size(storage.total)),
            row("used", size(storage.used) + "  " + bar.text(storage.used.bytes, of: total)),
            row(
                "others",
                size(storage.others) + "  "
                    + bar.text(kept.bytes, then: storage.othersPurgeable.bytes, of: total) + purgeable),
            row("free", size(storage.available) + "  " + bar.text(storage.available.bytes, of: total)),
        ]
    }

    private var capacities: [String] {
        let storage = report.storage
        return [
            "available to",
            row("  any use", size(storage.available)),
            row("  important", size(storage.important) + "  with \(storage.reclaimable.inWords) that can be purged"),
            row("  opportunistic", size(storage.opportunistic) + "  so that the device does not get low"),
        ]
    }

    private var tiers: [String] {
        [
            usage("tmp", report.tiers.temporary), usage("Library/Caches", report.tiers.caches),
            usage("everything else", report.tiers.persistent), usage("marked purgeable", report.marked.purgeable),
            usage("not backed up", report.marked.excludedFromBackup),
        ]
    }

    private var state: [String] {
        let limits = report.thresholds
        let counters = report.counters
        let isOff = limits == .off
        return [
            row("pressure", report.pressure.rawValue + (report.purging ? ", purging" : "")),
            row(
                "thresholds",
                isOff
                    ? "off"
                    : "very low \(limits.veryLow.inWords), low \(limits.low.inWords), near low "
                        + "\(limits.nearLow.inWords), desired \(limits.desired.inWords)"),
            row("purged", "\(files(counters.purgedFiles)), \(ByteCount(counters.purgedBytes).inWords)"),
            row("refused", "\(counters.refusedWrites) \(counters.refusedWrites == 1 ? "write" : "writes")"),
        ]
    }

    private func row(_ name: String, _ value: String) -> String { HelpText.padded(name, 18) + value }
    private func size(_ size: ByteCount) -> String { Self.aligned(size.inWords, 10) }
    private func usage(_ name: String, _ usage: StatusReport.Usage) -> String {
        row(name, size(usage.bytes) + "  " + files(usage.files))
    }
    private func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }

    static func aligned(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
