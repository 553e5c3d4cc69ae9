import Foundation
import PurgeModel
import Testing

@Suite struct StatusReportTests {
    private func report(mountpoint: String?) -> StatusReport {
        let capacity = Capacity(
            total: ByteCount(409_600), others: ByteCount(40960), othersPurgeable: ByteCount(8192),
            used: ByteCount(122_880), reclaimableFiles: ByteCount(20480),
            thresholds: Thresholds(
                veryLow: ByteCount(20480), low: ByteCount(40960), nearLow: ByteCount(45056), desired: ByteCount(45056)))
        var counters = StatusReport.Counters()
        counters.purgedFiles = 3
        counters.purgedBytes = 12288
        counters.refusedWrites = 2
        counters.protectionDenied = 1
        let usage: [Tier: StatusReport.Usage] = [
            .temporary: .init(bytes: ByteCount(4096), files: 1), .caches: .init(bytes: ByteCount(16384), files: 2),
            .persistent: .init(bytes: ByteCount(102_400), files: 4),
        ]
        return StatusReport(
            profile: "documented", mountpoint: mountpoint, store: "/s", capacity: capacity,
            tiers: .init { usage[$0] ?? .init() },
            marked: .init(
                purgeable: .init(bytes: ByteCount(8192), files: 2), excludedFromBackup: .init(bytes: .zero, files: 5)),
            pressure: .nearLow, purging: true, device: .init(state: "unlocked", clock: 60, boots: 2),
            app: .init(container: "2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11", state: .terminated), counters: counters)
    }

    private func json(_ report: StatusReport) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(report), as: UTF8.self)
    }

    /// Every key that a report always has (docs/CONTROL.md, status.json).
    @Test func shapeIsThatOfTheContract() throws {
        #expect(
            try json(report(mountpoint: "/m")) == """
                {"app":{"container":"2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11","running":false,"state":"terminated"},\
                "counters":{"protectionDenied":1,"purgedBytes":12288,"purgedFiles":3,"refusedWrites":2},\
                "device":{"boots":2,"clock":60,"state":"unlocked"},\
                "marked":{"excludedFromBackup":{"bytes":0,"files":5},"purgeable":{"bytes":8192,"files":2}},\
                "mountpoint":"/m","pressure":"nearLow","profile":"documented","purging":true,\
                "storage":{"available":245760,"important":274432,"opportunistic":204800,"others":40960,\
                "othersPurgeable":8192,"reclaimable":28672,"total":409600,"used":122880},\
                "store":"/s",\
                "thresholds":{"desired":45056,"low":40960,"nearLow":45056,"veryLow":20480},\
                "tiers":{"caches":{"bytes":16384,"files":2},"persistent":{"bytes":102400,"files":4},\
                "temporary":{"bytes":4096,"files":1}},"version":1}
                """)
    }

    /// Renders a report from a device and the ledger of a container on it.
    @Test func isRenderedFromDeviceAndLedger() throws {
        var device = Device(containerID: "2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11")
        (device.total, device.others, device.othersPurgeable) = (ByteCount(409_600), ByteCount(40960), ByteCount(8192))
        (device.boots, device.clock, device.lock.state) = (3, 60, .locked)
        device.app = .foreground
        device.notePurged(files: 3, bytes: ByteCount(12288))
        device.noteRefused()
        device.ledgers[0].enter(ByteCount(4096), as: .init(tier: .temporary))
        device.ledgers[0].enter(ByteCount(8192), as: .init(tier: .caches, isMarked: true))
        device.ledgers[0].enter(ByteCount(299_008), as: .init(tier: .persistent, isExcluded: true))
        device.ledgers[0].offer(ByteCount(12288), as: .caches)
        _ = device.judgePressure()
        let report = StatusReport(
            device: device, ledger: device.ledgers[0], mountpoint: "/m", store: "/s", purging: false)
        #expect(
            try json(report) == """
                {"app":{"container":"2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11","running":true,"state":"foreground"},\
                "counters":{"protectionDenied":0,"purgedBytes":12288,"purgedFiles":3,"refusedWrites":1},\
                "device":{"boots":3,"clock":60,"state":"locked"},\
                "marked":{"excludedFromBackup":{"bytes":299008,"files":1},"purgeable":{"bytes":8192,"files":1}},\
                "mountpoint":"/m","pressure":"normal","profile":"documented","purging":false,\
                "storage":{"available":57344,"important":77824,"opportunistic":16384,"others":40960,\
                "othersPurgeable":8192,"reclaimable":20480,"total":409600,"used":311296},\
                "store":"/s",\
                "thresholds":{"desired":45056,"low":40960,"nearLow":45056,"veryLow":20480},\
                "tiers":{"caches":{"bytes":8192,"files":1},"persistent":{"bytes":299008,"files":1},\
                "temporary":{"bytes":4096,"files":1}},"version":1}
                """)
    }

    @Test func namesAShareOfOthersThatIsNotAll() throws {
        var device = Device(containerID: "2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11")
        device.othersShare = 50
        let report = StatusReport(
            device: device, ledger: device.ledgers[0], mountpoint: nil, store: "/s", purging: false)
        #expect(try json(report).contains(#""othersPurgeable":0,"othersShare":50,"#))
    }

    /// A device whose access has expired has the state `locked`; only `inactive` tells that access has expired.
    @Test func namesAccessThatHasExpired() throws {
        var device = Device(containerID: "2B9B0D5C-6A4E-4B59-8B0E-0D9A6F3F1C11")
        device.lock.state = .inactive
        let report = StatusReport(
            device: device, ledger: device.ledgers[0], mountpoint: nil, store: "/s", purging: false)
        #expect(try json(report).contains(#""device":{"boots":1,"clock":0,"inactive":true,"state":"locked"},"#))
        #expect(report.device.lockState == .inactive)
        var plain = report.device
        plain.inactive = nil
        #expect(plain.lockState == .locked)
    }

    @Test func readsBack() throws {
        let text = try json(report(mountpoint: nil))
        let read = try JSONDecoder().decode(StatusReport.self, from: Data(text.utf8))
        #expect(read.mountpoint == nil)
        #expect(try json(read) == text)
    }
}
