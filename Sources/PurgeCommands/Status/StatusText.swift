import PurgeCommandLine
import PurgeModel

/// The text of `purgefs status`.
struct StatusText {
    let report: StatusReport
    let bar: Bar

    /// At most 23 lines, to fit a terminal of 24; no wider than 80 columns unless a path or a count is longer.
    var lines: [String] { place + [""] + space + [""] + tiers + [""] + state }

    /// The columns of 80 that names, sizes and the longest remark, `1023.9 MiB purgeable`, leave free.
    private static let barWidth = 28

    private var place: [String] {
        [
            row("container", VisibleText.of(report.app.container) + app),
            row("mounted at", (report.mountpoint.map(VisibleText.of) ?? "nowhere") + unfinished),
            row("store", VisibleText.of(report.store)),
            row("device", VisibleText.of(device)),
        ]
    }

    private var app: String { report.app.running ? ", app: \(report.app.state.rawValue)" : "" }

    private var unfinished: String {
        guard let work = report.device.unfinished?.text else { return "" }
        return report.mountpoint == nil ? "; the next mount finishes \(work)" : "; \(work) is not finished"
    }

    private var device: String {
        let (clock, boots) = (report.device.clock, report.device.boots)
        let ahead = clock > 0 ? ", clock \(DurationText.inWords(seconds: clock)) ahead" : ""
        let ring = report.transport == "ring" ? ", requests by io_uring" : ""
        return "\(report.device.state), boot \(boots)\(ahead), profile \(report.profile)\(ring)"
    }

    private var space: [String] {
        let storage = report.storage
        let kept = storage.others - storage.othersPurgeable
        let purgeable = storage.othersPurgeable > .zero ? "  \(storage.othersPurgeable.inWords) purgeable" : ""
        return [
            row("total", size(storage.total)),
            row("used", size(storage.used) + "  " + drawn(storage.used)),
            row("others", size(storage.others) + "  " + drawn(kept, then: storage.othersPurgeable) + purgeable),
            row("free", size(storage.available) + "  " + drawn(storage.available)),
            row("  important", size(storage.important) + "  with \(storage.reclaimable.inWords) that can be purged"),
            row("  opportunistic", size(storage.opportunistic) + "  without bringing the device into low storage"),
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
        let counters = report.counters
        return [
            row("pressure", report.pressure.rawValue + (report.purging ? ", purging" : ""))
        ] + thresholds + [
            row("purged", "\(files(counters.purgedFiles)), \(ByteCount(counters.purgedBytes).inWords)"),
            row("refused", "\(counters.refusedWrites) \(counters.refusedWrites == 1 ? "write" : "writes")"),
        ]
    }

    private var thresholds: [String] {
        let limits = report.thresholds
        if limits == .off { return [row("thresholds", "off")] }
        return [
            row("thresholds", "very low \(limits.veryLow.inWords), low \(limits.low.inWords),"),
            row("", "near low \(limits.nearLow.inWords), desired \(limits.desired.inWords)"),
        ]
    }

    private func drawn(_ part: ByteCount, then second: ByteCount = .zero) -> String {
        bar.text(part.bytes, then: second.bytes, of: report.storage.total.bytes, width: Self.barWidth)
    }
    private func row(_ name: String, _ value: String) -> String { HelpText.padded(name, 18) + value }
    private func size(_ size: ByteCount) -> String { HelpText.aligned(size.inWords, 10) }
    private func usage(_ name: String, _ usage: StatusReport.Usage) -> String {
        row(name, size(usage.bytes) + "  " + files(usage.files))
    }
    private func files(_ count: Int64) -> String { "\(count) \(count == 1 ? "file" : "files")" }
}
