import Foundation
import PurgeModel
import Support
import Testing

@testable import PurgeStore

/// device.json is the encoded device.
@Suite struct DeviceDocumentTests {
    private static let id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"

    /// The file of a new device has exactly this text and a final newline.
    @Test func contentOfANewDevice() {
        #expect(
            JSONText.encode(Device(containerID: Self.id), pretty: true) == """
                {
                  "version": 1,
                  "profile": "documented",
                  "total": 68719476736,
                  "others": 0,
                  "othersPurgeable": 0,
                  "thresholds": {
                    "veryLow": "5%",
                    "low": "10%",
                    "nearLow": "10.5%",
                    "desired": "11%"
                  },
                  "protection": "completeUntilFirstUserAuthentication",
                  "containerID": "3F2504E0-4F89-41D3-9A0C-0305E82C3301",
                  "boots": 1,
                  "counters": {
                    "purgedFiles": 0,
                    "purgedBytes": 0,
                    "refusedWrites": 0,
                    "protectionDenied": 0
                  }
                }
                """)
    }

    @Test func whatFollowsFromFilesIsNotInIt() throws {
        var device = Device(containerID: Self.id)
        let text = JSONText.encode(device, pretty: true)
        device.ledgers[0].enter(ByteCount(1 << 40), as: .init(tier: .caches))
        _ = device.judgePressure()
        #expect(device.level == .veryLow)
        #expect(JSONText.encode(device, pretty: true) == text)
        #expect(try SettingsDocument.settings(from: Array(text.utf8)) == device.asSaved)
    }

    @Test func stateAndClockAreWrittenOnceTheyHaveChanged() throws {
        var device = Device(containerID: Self.id)
        (device.lock.state, device.clock) = (.locked, 86400)
        let text = JSONText.encode(device, pretty: true)
        #expect(text.hasSuffix("  },\n  \"state\": \"locked\",\n  \"clock\": 86400\n}"))
        #expect(try SettingsDocument.settings(from: Array(text.utf8)) == device)
    }

    @Test func theMomentAtWhichAccessExpiresIsWritten() throws {
        var device = Device(containerID: Self.id)
        (device.lock.state, device.lock.inactiveAt) = (.locked, Instant(nanoseconds: 1_795_348_800_000_000_007))
        device.lock.inactivity = TimeSpan(seconds: 0)
        let text = JSONText.encode(device, pretty: true)
        #expect(
            text.hasSuffix(
                "  },\n  \"state\": \"locked\",\n  \"inactiveAt\": 1795348800000000007,\n  \"inactivity\": 0\n}"))
        #expect(try SettingsDocument.settings(from: Array(text.utf8)) == device)
        (device.lock.state, device.lock.inactiveAt) = (.inactive, .distantPast)
        let expired = JSONText.encode(device, pretty: true)
        #expect(expired.hasSuffix("  },\n  \"state\": \"inactive\",\n  \"inactivity\": 0\n}"))
        #expect(try SettingsDocument.settings(from: Array(expired.utf8)) == device)
    }

    @Test func advancesAreWrittenAndReadBack() throws {
        var device = Device(containerID: Self.id)
        for (seconds, day) in [(1_763_700_000, 3), (1_763_800_000, 21)] as [(Int64, Int64)] {
            _ = try device.apply(
                .clock(TimeSpan(seconds: day * 86400)), as: "", by: 0,
                at: Instant(seconds: seconds + device.clock, nanoseconds: 5))
        }
        let text = JSONText.encode(device, pretty: true)
        #expect(
            text.contains("\"clockAdvances\": \"1763700000.000000005+259200 1763800000.000000005+1814400\""))
        #expect(try SettingsDocument.settings(from: Array(text.utf8)) == device.asSaved)
    }

    /// A program that edits the file may reorder its members.
    @Test func theOrderOfMembersDoesNotMatter() throws {
        let good = JSONText.encode(Device(containerID: Self.id), pretty: true)
        let text = "{\"clockAdvances\": \"1763700000.000000005+12\", \"clock\": 12,\(good.dropFirst())"
        let device = try SettingsDocument.settings(from: Array(text.utf8))
        #expect(device.clock == 12 && !device.history.isEmpty)
    }

    /// A device with the maximum number of remembered advances can be saved and loaded.
    @Test func theLongestHistoryFits() throws {
        try Scratch.with("history") { scratch in
            var device = Device(containerID: Self.id)
            for index in 0..<1200 as Range<Int64> {
                _ = try device.apply(
                    .clock(TimeSpan(seconds: 3_000_000)), as: "", by: 0,
                    at: Instant(seconds: 1_763_700_000 + index + device.clock, nanoseconds: 999_999_999))
            }
            let store = try Store.open("\(scratch.path)/store", creating: true)
            _ = try store.loadSettings()
            try store.saveSettings(device)
            #expect(try store.loadSettings() == device.asSaved)
        }
    }

    @Test(arguments: [
        ("\"clockAdvances\": \"1763700000.000000005\"", "clockAdvances", "it cannot be understood"),
        ("\"clockAdvances\": 5", "clockAdvances", "it cannot be understood"),
        (
            "\"clockAdvances\": \"1000000000.000000000+4294967296\"", "clockAdvances",
            "they add up to 4294967296 seconds, and clock is 0"
        ),
        (
            "\"clockAdvances\": \"1763700000.000000005+5 1763800000.000000005+7\", \"clock\": 11", "clockAdvances",
            "they add up to 12 seconds, and clock is 11"
        ),
        ("\"clock\": -1", "clock", "-1 is not from 0 to 2^32 seconds"),
        ("\"clock\": 4294967297", "clock", "4294967297 is not from 0 to 2^32 seconds"),
        ("\"clock\": \"3d\"", "clock", "it cannot be understood"),
        ("\"state\": \"asleep\"", "state", "it cannot be understood"),
        ("\"locksAt\": \"soon\"", "locksAt", "it cannot be understood"),
        ("\"inactiveAt\": \"soon\"", "inactiveAt", "it cannot be understood"),
        ("\"inactivity\": \"1h\"", "inactivity", "it cannot be understood"),
        ("\"inactivity\": -1", "inactivity", "-1 is not from 0 to 2^32 seconds"),
        ("\"unfinished\": \"lunch\"", "unfinished", "it cannot be understood"),
    ])
    func aWrongOneIsDamage(member: String, name: String, reason: String) throws {
        var device = Device(containerID: Self.id)
        device.total = ByteCount(40960)
        if member.hasSuffix("\"clock\": 11") { device.clock = 11 }
        let good = JSONText.encode(device, pretty: true)
        let text = Array("{\(member),\(good.dropFirst())".utf8)
        #expect(throws: SettingsDamage.value(name: name, reason)) { try SettingsDocument.settings(from: text) }
    }
}
