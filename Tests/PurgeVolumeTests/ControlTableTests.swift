import Foundation
import PurgeModel
import Testing

@testable import PurgeVolume

/// The table of control files, and the page that must agree with it.
@Suite struct ControlTableTests {
    /// docs/CONTROL.md has the rows of the table, in its order.
    @Test func thePageHasTheTable() throws {
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../docs/CONTROL.md"), encoding: .utf8)
        let lines = page.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let head = try #require(lines.firstIndex(of: "| file | read | write |"))
        let rows = lines[(head + 2)...].prefix { $0.hasPrefix("|") }
        #expect(Array(rows) == ControlFile.allCases.map(\.documentation))
    }

    @Test func whatCanBeSet() {
        #expect(
            ControlFile.settable.map(\.rawValue)
                == [
                    "storage.total", "storage.others", "storage.others.purgeable", "storage.others.share",
                    "storage.thresholds", "storage.profile", "storage.purge.latency", "device.inactivity",
                    "journal.size", "journal.age",
                ])
        #expect(
            ControlFile.allCases.filter(\.canWrite).map(\.rawValue)
                == [
                    "storage.total", "storage.others", "storage.others.purgeable", "storage.others.share",
                    "storage.thresholds", "storage.reclaim", "storage.plan", "storage.policies", "storage.profile",
                    "storage.purge.latency", "device.state", "device.clock", "device.inactivity", "device.backup",
                    "app.state", "app.process", "faults", "journal.size", "journal.age",
                ])
    }

    @Test(
        arguments: [
            (.storageTotal, "1M", .total(.to(ByteCount(1 << 20)))),
            (.storageOthers, "+4096", .others(.by(ByteCount(4096)))),
            (.storageOthersPurgeable, "-1K", .othersPurgeable(.by(ByteCount(-1024)))),
            (.storageOthersShare, "0", .othersShare(0)), (.storageOthersShare, "50%", .othersShare(50)),
            (.storageOthersShare, "101", nil), (.storageOthersShare, "+1", nil), (.storageOthersShare, "4K", nil),
            (.storageThresholds, "low=5%", .thresholds(ThresholdChange([.low: .percent(hundredths: 500)]))),
            (.deviceState, "lock", .lock), (.deviceState, "unlock", .unlock), (.deviceState, "reboot", .reboot),
            (.deviceState, "locked", nil), (.deviceState, "Lock", nil), (.deviceState, "lock ", nil),
            (.storagePolicies, "check", .policies(.check)), (.storagePolicies, "reset", .policies(.reset)),
            (.storagePolicies, "Reset", nil), (.storageProfile, "device", .profile(.device)),
            (.storageProfile, "documented", .profile(.documented)), (.storageProfile, "Device", nil),
            (.storagePurgeLatency, "0", .purgeLatency(TimeSpan(seconds: 0))),
            (.storagePurgeLatency, "5m", .purgeLatency(TimeSpan(seconds: 300))), (.storagePurgeLatency, "5", nil),
            (.storagePurgeLatency, "+5s", nil), (.storagePurgeLatency, "-5s", nil),
            (.journalSize, "0", .journal(.size(.zero))), (.journalSize, "1M", .journal(.size(ByteCount(1 << 20)))),
            (.journalSize, "1G", .journal(.size(ByteCount(1 << 30)))), (.journalSize, "1048575", nil),
            (.journalSize, "1.5G", nil), (.journalSize, "+1M", nil), (.journalSize, "", nil),
            (.journalAge, "0", .journal(.age(TimeSpan(seconds: 0)))),
            (.journalAge, "30d", .journal(.age(TimeSpan(seconds: 2_592_000)))), (.journalAge, "30", nil),
            (.appState, "launch", .app(.launch)), (.appState, "terminate", .app(.terminate)),
            (.appState, "update", .app(.update)), (.appState, "delete", .app(.delete)), (.appState, "running", nil),
            (.deviceClock, "+3d", .clock(TimeSpan(seconds: 259_200))), (.deviceClock, "3d", nil),
            (.deviceClock, "-3d", nil), (.deviceClock, "++3d", nil), (.deviceClock, "+", nil),
            (.deviceClock, "+3", nil), (.deviceClock, "+9223372036854775808s", nil), (.deviceClock, "+1.5h", nil),
            (.deviceClock, "+4294967297s", nil), (.deviceClock, "+0s", nil), (.deviceClock, "+00w", nil),
            (.deviceClock, "lock", nil),
            (.deviceInactivity, "0", .inactivity(TimeSpan(seconds: 0))),
            (.deviceInactivity, "30m", .inactivity(TimeSpan(seconds: 1800))), (.deviceInactivity, "30", nil),
            (.deviceInactivity, "+30m", nil), (.deviceInactivity, "-1s", nil), (.deviceInactivity, "", nil),
            (.deviceBackup, "4096 3 2", .backup(BackupNote(bytes: ByteCount(4096), entries: 3, leftOut: 2))),
            (.deviceBackup, "4096 3", nil), (.deviceBackup, "4096 3 -2", nil), (.deviceBackup, "4096  3 2", nil),
            (.deviceBackup, "9223372036854775808 3 2", nil), (.deviceBackup, "", nil),
            (.storageTotal, "low=5%", nil), (.storageThresholds, "1M", nil), (.storageUsed, "1M", nil),
            (.storageReclaim, "1M", nil), (.status, "1M", nil), (.events, "1M", nil),
        ] as [(ControlFile, String, DeviceChange?)])
    func whatATextAsksOfTheDevice(file: ControlFile, text: String, change: DeviceChange?) {
        #expect(file.change(text) == change)
    }
}
