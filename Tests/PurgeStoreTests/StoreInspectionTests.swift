import Glibc
import PurgeModel
import PurgeSystem
import Testing

@testable import PurgeStore

struct StoreInspectionTests {
    let directory: TemporaryDirectory
    init() throws {
        directory = try TemporaryDirectory()
        let store = try Store.open(directory["s"], creating: true)
        try store.saveSettings(Device(containerID: DeviceSettingsTests.id))
    }

    private func problems(repairing: Bool = false) throws -> [StoreProblem] {
        try StoreInspection.run(directory["s"], repairing: repairing).problems
    }
    private func fillJournal() throws {
        let journal = try Journal.open(in: try Store.open(directory["s"], creating: false))
        try journal.append((1...5000).map { JournalTests.purge(seq: $0) })
        try journal.saveLastUses([.init(inode: 9, birth: 8, lastUse: Instant(nanoseconds: 7))])
        journal.close()
    }

    @Test(arguments: [false, true]) func findsNothingWrongWithAGoodStore(repairing: Bool) throws {
        try fillJournal()
        #expect(try problems(repairing: repairing) == [])
        #expect(directory.names(in: "s").filter { !$0.hasPrefix("journal") } == ["container", "device.json"])
        #expect(try problems() == [])
    }

    @Test func holdsTheLock() throws {
        let store = try Store.open(directory["s"], creating: false)
        let error = try storeError { _ = try problems() }
        #expect(error.what.hasPrefix("the store is in use by process"))
        withExtendedLifetime(store) {}
    }

    @Test func refusesWhatIsNoStore() throws {
        try directory.makeDirectory("other")
        try directory.write("", to: "other/file")
        let error = try storeError { _ = try StoreInspection.run(directory["other"], repairing: true) }
        #expect(error.what == "is not a store, and not empty (`file` is in it)")
    }

    // The layout.

    @Test(arguments: [false, true]) func passesOverFoldersThatTheNextMountMakesAgain(repairing: Bool) throws {
        for name in ["Library/Caches", "tmp"] {
            try System.removeDirectory(at: AT_FDCWD, directory["s/container/\(name)"])
        }
        #expect(try problems(repairing: repairing) == [])
        #expect(!directory.exists("s/container/tmp"))
    }

    @Test func makesAMissingContainerOnlyWhenRepairing() throws {
        try System.rename(at: AT_FDCWD, directory["s/container"], to: AT_FDCWD, directory["gone"])
        let found = try problems()
        #expect(found.map(\.path) == [directory["s/container"]])
        #expect(found.allSatisfy { $0.isRepairable && $0.what == "the folder is missing" && $0.repair == nil })
        #expect(!directory.exists("s/container"))
        #expect(try problems(repairing: true).map(\.repair) == ["An empty folder has been created."])
        #expect(directory.names(in: "s/container") == ["Documents", "Library", "tmp"])
        #expect(try problems() == [])
    }

    @Test func leavesAFileInAFoldersPlace() throws {
        try System.removeDirectory(at: AT_FDCWD, directory["s/container/tmp"])
        try directory.write("x", to: "s/container/tmp")
        let found = try problems(repairing: true)
        #expect(found.map(\.what) == ["is not a directory"])
        #expect(found.map(\.isRepairable) == [false])
        #expect(try directory.read("s/container/tmp") == "x")
    }

    // device.json.

    /// A repair of damaged settings keeps the container's identifier, because the app may have stored paths that contain it.
    @Test func keepsTheIdentifierOfDamagedSettings() throws {
        let damaged = #"""
            {"version": 1, "containerID": "3F2504E0-4F89-41D3-9A0C-0305E82C3301", "total": -1, "others": 8192, "boots": 7}
            """#
        try directory.write(damaged, to: "s/device.json")
        let found = try problems()
        #expect(found.map(\.path) == [directory["s/device.json"]] && found.map(\.isRepairable) == [true])
        #expect(try directory.read("s/device.json") == damaged)

        #expect(
            try problems(repairing: true).map(\.repair)
                == [
                    "The damaged file is now `device.json.damaged-1`. `containerID` was kept; `total`, `protection` and all "
                        + "other settings have their defaults."
                ])
        #expect(try directory.read("s/device.json.damaged-1") == damaged)
        #expect(try problems() == [])
        let settings = try Store.open(directory["s"], creating: false).loadSettings()
        #expect(settings == Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301"))
    }

    struct Remains: Sendable {
        let members: String
        var protection = FileProtection.completeUntilFirstUserAuthentication
        var clock: Int64 = 0
        var hasHistory = false
        var unfinished: DeviceWork?
        let done: String
    }
    /// A repair keeps the settings on which files without a class of their own, stamps from before an advance, and an
    /// interrupted deletion depend.
    @Test(arguments: [
        Remains(
            members:
                #""protection":"complete","clock":12,"clockAdvances":"1763700000.000000005+12","unfinished":"delete""#,
            protection: .complete, clock: 12, hasHistory: true, unfinished: .delete,
            done: "`containerID`, `protection`, `clock`, `clockAdvances` and `unfinished` were kept; `total` and all "
                + "other settings have their defaults."),
        Remains(
            members: #""protection":"x","clock":12,"clockAdvances":"1763700000.000000005+13","unfinished":"lunch""#,
            clock: 12,
            done: "`containerID` and `clock` were kept; `total`, `protection`, `clockAdvances`, `unfinished` and all "
                + "other settings have their defaults."),
        Remains(
            members: #""protection":"none","clock":-1,"clockAdvances":"1763700000.000000005+12""#, protection: .none,
            done: "`containerID` and `protection` were kept; `total`, `clock`, `clockAdvances` and all other settings "
                + "have their defaults."),
    ]) func keepsWhatFilesDependOn(remains: Remains) throws {
        let members = "\"version\":1,\"containerID\":\"\(DeviceSettingsTests.id)\",\"total\":-1,\(remains.members)"
        try directory.write("{\(members)}", to: "s/device.json")
        let done = "The damaged file is now `device.json.damaged-1`. \(remains.done)"
        #expect(try problems(repairing: true).map(\.repair) == [done])
        let settings = try Store.open(directory["s"], creating: false).loadSettings()
        var expected = Device(containerID: DeviceSettingsTests.id)
        (expected.protection, expected.clock) = (remains.protection, remains.clock)
        (expected.history, expected.unfinished) = (settings.history, remains.unfinished)
        #expect(settings == expected && settings.history.isEmpty != remains.hasHistory)
    }

    /// A repair reads the lines that are left of a file that was cut off or edited wrongly.
    @Test(arguments: [
        ("}\n", ""), ("\"boots\"", "boots\""), ("\"others\": 0", "\"others\": \u{0}"), ("{\n  \"version\": 1,", "{,"),
    ]) func keepsTheLinesOfBrokenSettings(text: String, broken: String) throws {
        var device = Device(containerID: DeviceSettingsTests.id)
        (device.total, device.protection) = (ByteCount(1 << 40), .complete)
        try Store.open(directory["s"], creating: false).saveSettings(device)
        var content = try directory.read("s/device.json")
        content.replaceSubrange(try #require(content.ranges(of: text).last), with: broken)
        try directory.write(content, to: "s/device.json")
        let done = "`containerID`, `total` and `protection` were kept; all other settings have their defaults."
        #expect(
            try problems(repairing: true).map(\.repair)
                == ["The damaged file is now `device.json.damaged-1`. \(done)"])
        let settings = try Store.open(directory["s"], creating: false).loadSettings()
        #expect(settings.total == device.total && settings.containerID == device.containerID)
    }

    /// A repair keeps the sizes of device and journal. With smaller ones, the next mount would purge caches and drop events.
    @Test func keepsTheSizesOfDeviceAndJournal() throws {
        let members = "\"version\":1,\"containerID\":\"\(DeviceSettingsTests.id)\",\"protection\":\"none\""
        try directory.write(
            "{\(members),\"total\":1099511627776,\"journalSize\":1073741824,\"boots\":-1}", to: "s/device.json")
        let done =
            "`containerID`, `total`, `journalSize` and `protection` were kept; all other settings have their defaults."
        #expect(
            try problems(repairing: true).map(\.repair)
                == ["The damaged file is now `device.json.damaged-1`. \(done)"])
        let settings = try Store.open(directory["s"], creating: false).loadSettings()
        #expect(settings.total.bytes == 1_099_511_627_776 && settings.journal.size.bytes == 1_073_741_824)
    }

    @Test func keepsNothingOfWhatIsNoJSON() throws {
        try directory.write("not JSON", to: "s/device.json")
        let done = "The damaged file is now `device.json.damaged-1`. All settings have their defaults."
        #expect(try problems(repairing: true).map(\.repair) == [done])
    }

    @Test func numbersWhatItKeepsAside() throws {
        for (number, text) in [(1, "one"), (2, "two")] {
            try directory.write(text, to: "s/device.json")
            let repair = try #require(try problems(repairing: true).first?.repair)
            #expect(repair.hasPrefix("The damaged file is now `device.json.damaged-\(number)`."))
        }
        #expect(try directory.read("s/device.json.damaged-1") == "one")
        #expect(try directory.read("s/device.json.damaged-2") == "two")
        #expect(try Store.open(directory["s"], creating: false).loadSettings().boots == 1)
    }

    @Test func movesADirectoryOutOfTheWay() throws {
        try directory.removeFile("s/device.json")
        try directory.makeDirectory("s/device.json")
        #expect(try problems(repairing: true).first?.repair != nil)
        #expect(directory.exists("s/device.json.damaged-1"))
        #expect(try problems() == [])
    }

    @Test func leavesSettingsOfANewerVersion() throws {
        try directory.write(#"{"version": 2}"#, to: "s/device.json")
        let found = try problems(repairing: true)
        #expect(found.map(\.isRepairable) == [false])
        #expect(found.map(\.repair) == [nil])
        #expect(try directory.read("s/device.json") == #"{"version": 2}"#)
    }
}
