import Foundation
import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

struct StoreSettingsTests {
    let directory: TemporaryDirectory
    let store: Store
    init() throws {
        directory = try TemporaryDirectory()
        store = try Store.open(directory["s"], creating: true)
    }

    @Test func givesAFreshDevice() throws {
        let settings = try store.loadSettings()
        #expect(settings.total == ByteCount(68_719_476_736))
        #expect(settings.others == .zero)
        #expect(settings.containerID.wholeMatch(of: /[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/) != nil)
        #expect(try store.loadSettings().containerID != settings.containerID)
        #expect(!directory.exists("s/device.json"))
    }

    @Test func keepsEverySetting() throws {
        var settings = Device(containerID: DeviceSettingsTests.id)
        settings.total = ByteCount(40960)
        settings.others = ByteCount(8192)
        settings.othersPurgeable = ByteCount(4096)
        settings.othersShare = 0
        settings.thresholds.low = .size(ByteCount(4096))
        settings.protection = .complete
        settings.boots = 3
        settings.counters.purgedBytes = 1 << 40
        try store.saveSettings(settings)
        #expect(try store.loadSettings() == settings)
        #expect(directory.names(in: "s") == ["container", "device.json"])
    }

    @Test func writesJSONThatAPersonCanRead() throws {
        try store.saveSettings(Device(containerID: DeviceSettingsTests.id))
        let text = try directory.read("s/device.json")
        #expect(text.hasPrefix("{\n  \"version\": 1,\n  \"profile\": \"documented\",\n  \"total\": 68719476736,\n"))
        #expect(text.contains("\n  \"containerID\": \"3F2504E0-4F89-41D3-9A0C-0305E82C3301\",\n"))
        #expect(text.hasSuffix("\n}\n"))
    }

    private var inode: UInt64 {
        get throws { UInt64(try System.status(at: AT_FDCWD, directory["s/device.json"]).st_ino) }
    }

    /// The same settings are written again only if someone else has changed or removed the file.
    @Test func theSameSettingsAreNotWrittenAgain() throws {
        var settings = try store.loadSettings()
        try store.saveSettings(settings)
        let (text, first) = (try directory.read("s/device.json"), try inode)
        try store.saveSettings(settings)
        #expect(try store.loadSettings() == settings)
        try store.saveSettings(settings)
        #expect(try inode == first)
        try directory.write(text.replacingOccurrences(of: "\"boots\": 1", with: "\"boots\": 2"), to: "s/device.json")
        try store.saveSettings(settings)
        #expect(try directory.read("s/device.json") == text)
        unlink(directory["s/device.json"])
        try store.saveSettings(settings)
        #expect(try directory.read("s/device.json") == text)
        // A save that is not durable syncs only the new file. A later durable save also syncs the directory.
        settings.boots = 3
        let syncs = try [false, false, true, true].map { durably in
            let outcome = SystemCallFaults.none.during { try store.saveSettings(settings, durably: durably) }
            try outcome.result.get()
            return outcome.calls.filter { $0 == .fsync }.count
        }
        #expect(syncs == [1, 0, 2, 0])
    }

    /// The settings that a process remembers are always those in the file.
    @Test func knownSettingsAreThoseOfTheFile() throws {
        let fresh = try store.loadSettings()
        #expect(try SettingsDocument.settings(from: DeviceFile.content(of: fresh)) == fresh)
        try store.saveSettings(fresh)
        #expect(try store.loadSettings() == fresh)
        let text = try directory.read("s/device.json")
        let other = text.replacingOccurrences(of: "\"boots\": 1", with: "\"boots\": 2")
        try directory.write(other, to: "s/device.json")
        var changed = try store.loadSettings()
        #expect(changed.boots == 2)
        changed.boots = 1
        #expect(changed == fresh)
        try directory.write(text, to: "s/device.json")
        #expect(try store.loadSettings() == fresh)
        try directory.write(String(text.dropLast(9)), to: "s/device.json")
        #expect(throws: StoreError.self) { try store.loadSettings() }
    }

    private func saved(_ change: (inout Device) -> Void = { _ in }) throws -> String {
        var settings = Device(containerID: DeviceSettingsTests.id)
        change(&settings)
        try store.saveSettings(settings)
        return try directory.read("s/device.json")
    }

    /// A missing required member or an unknown one, for example after a bit flip, is damage: no default replaces it.
    @Test(arguments: [
        ("\"total\"", "\"uotal\"", "uotal", "there is no such setting"),
        ("\"boots\"", "\"foots\"", "foots", "there is no such setting"),
        ("\"purgedFiles\"", "\"qurgedFiles\"", "counters", "it cannot be understood"),
        ("\"nearLow\"", "\"nearLov\"", "thresholds", "it cannot be understood"),
        ("  \"others\": 0,\n", "", "others", "it is missing"),
    ])
    func whatIsMissingOrUnknownIsDamage(from: String, to: String, name: String, reason: String) throws {
        let text = try saved()
        let damaged = text.replacingOccurrences(of: from, with: to)
        try #require(damaged != text)
        try directory.write(damaged, to: "s/device.json")
        let error = try storeError { _ = try store.loadSettings() }
        #expect(error.what == "the settings hold a wrong value of `\(name)`: \(reason)")
        #expect(try directory.read("s/device.json") == damaged)
    }

    /// With single bits flipped throughout the file, loading finds the saved settings with at most one changed value, or
    /// damage.
    @Test func aFlippedBitChangesOneValueAtMost() throws {
        let text = Array(try saved { ($0.total, $0.boots) = (ByteCount(67_108_864), 3) }.utf8)
        let good = try store.loadSettings()
        var found = 0
        for bit in stride(from: 0, to: text.count * 8, by: 3) {
            var damaged = text
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            guard let settings = try? SettingsDocument.settings(from: damaged) else { continue }
            let same = [
                settings.profile == good.profile, settings.total == good.total, settings.others == good.others,
                settings.othersPurgeable == good.othersPurgeable, settings.thresholds == good.thresholds,
                settings.protection == good.protection, settings.containerID == good.containerID,
                settings.boots == good.boots, settings.counters == good.counters,
            ]
            #expect(same.count { !$0 } <= 1, "bit \(bit)")
            found += 1
        }
        #expect(found > 0)
    }

    @Test(arguments: [15, 16, 17, 512, 513, 100_000]) func deepNesting(depth: Int) throws {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        try directory.write(text, to: "s/device.json")
        let error = try storeError { _ = try store.loadSettings() }
        #expect(error.what.hasPrefix("the settings are damaged: it is "))
    }

    @Test func theOrderOfMembersDoesNotMatter() throws {
        let text = try saved { $0.others = ByteCount(8192) }
        let moved = text.replacingOccurrences(of: "  \"othersPurgeable\": 0,\n", with: "")
            .replacingOccurrences(of: "{\n  \"version\"", with: "{\n  \"othersPurgeable\": 8192,\n  \"version\"")
        try directory.write(moved, to: "s/device.json")
        #expect(try store.loadSettings().othersPurgeable == ByteCount(8192))
    }

    /// An incomplete device.json.new, which a killed save leaves, is ignored, and the next save replaces it.
    @Test func passesOverWhatAKilledSaveLeft() throws {
        let settings = Device(containerID: DeviceSettingsTests.id)
        try store.saveSettings(settings)
        try directory.write("{\"version\": 1, \"to", to: "s/device.json.new")
        #expect(try store.loadSettings() == settings)
        var next = settings
        next.boots = 2
        try store.saveSettings(next)
        #expect(try store.loadSettings() == next)
        #expect(!directory.exists("s/device.json.new"))
    }

    @Test func clearsALeftoverAwayAtTheNextOpening() throws {
        try directory.makeDirectory("k")
        try directory.makeDirectory("k/container")
        try directory.write("{", to: "k/device.json.new")
        let store = try Store.open(directory["k"], creating: false)
        #expect(directory.names(in: "k") == ["container"])
        #expect(try store.loadSettings().boots == 1)
    }

    @Test func putsANewFileInPlaceOfTheOld() throws {
        try store.saveSettings(Device(containerID: DeviceSettingsTests.id))
        let text = try directory.read("s/device.json")
        let old = try FileDescriptor.open(directory["s/device.json"], O_RDONLY)
        var next = Device(containerID: DeviceSettingsTests.id)
        next.boots = 2
        try store.saveSettings(next)
        #expect(String(decoding: try old.readAll(), as: UTF8.self) == text)
        #expect(try directory.read("s/device.json") != text)
    }

    /// Returns the settings of a new device, with some values replaced.
    private static func content(_ changes: KeyValuePairs<String, String>) -> String {
        var text = JSONText.encode(Device(containerID: DeviceSettingsTests.id), pretty: true)
        for (name, value) in changes {
            guard let start = text.range(of: "\"\(name)\": ")?.upperBound else { continue }
            text.replaceSubrange(start..<(text[start...].firstIndex(of: ",") ?? start), with: value)
        }
        return text
    }
    static let damages: [(String, String)] = [
        ("", "the settings are damaged: the file is empty"),
        ("{\"version\": 1,", "the settings are damaged: it is not JSON"),
        ("\u{0}\u{0}\u{0}\u{0}", "the settings are damaged: it is not JSON"),
        ("[1]", "the settings are damaged: it is not a JSON object"),
        ("{}", "the settings hold a wrong value of `version`: it is missing"),
        (#"{"version": "1"}"#, "the settings hold a wrong value of `version`: it is not 1"),
        (#"{"version": 0}"#, "the settings hold a wrong value of `version`: it is not 1"),
        (#"{"version": 1}"#, "the settings hold a wrong value of `containerID`: it is missing"),
        (
            content(["containerID": #""x""#]),
            "the settings hold a wrong value of `containerID`: it is not a UUID"
        ),
        (content(["total": "-4096"]), "the settings hold a wrong value of `total`: -4096 is not from 0 to 2^60"),
        (content(["total": #""64G""#]), "the settings hold a wrong value of `total`: it cannot be understood"),
        (content(["total": "1.5"]), "the settings are damaged: a number in it cannot be understood"),
        (
            content(["others": "4096", "othersPurgeable": "8192"]),
            "the settings hold a wrong value of `othersPurgeable`: 8192 is more than others, 4096"
        ),
        (content(["profile": #""x""#]), "the settings hold a wrong value of `profile`: it cannot be understood"),
        (content(["protection": "null"]), "the settings hold a wrong value of `protection`: it cannot be understood"),
        (content(["boots": "0"]), "the settings hold a wrong value of `boots`: 0 is less than 1"),
        (
            #"{"version": 2, "containerID": 7}"#,
            "the settings were written by a newer purgefs (format 2; this one knows 1)"
        ),
    ]

    @Test(arguments: damages) func refusesDamageAndLeavesItAlone(text: String, what: String) throws {
        try directory.write(text, to: "s/device.json")
        let error = try storeError { _ = try store.loadSettings() }
        #expect(error.what == what)
        #expect(error.path == directory["s/device.json"])
        let saving = try storeError {
            try store.saveSettings(Device(containerID: DeviceSettingsTests.id))
        }
        #expect(saving.what == what)
        #expect(try directory.read("s/device.json") == text)
    }

    @Test func tellsHowToRepairDamage() throws {
        try directory.write("x", to: "s/device.json")
        let error = try storeError { _ = try store.loadSettings() }
        #expect(
            error.advice
                == "Repair the file by hand, or run `purgefs check --repair \(directory["s"])`: it keeps the file aside "
                + "and writes a new one with the default settings.")
    }

    @Test func doesNotFollowALink() throws {
        try directory.write("{}", to: "elsewhere")
        try System.makeSymbolicLink(to: "../elsewhere", at: AT_FDCWD, directory["s/device.json"])
        let error = try storeError { _ = try store.loadSettings() }
        #expect(error.what == "the settings are damaged: it is not a plain file")
    }
}
