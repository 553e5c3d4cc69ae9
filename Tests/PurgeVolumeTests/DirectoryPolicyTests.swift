import Glibc
import PurgeModel
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeTree
@testable import PurgeVolume

/// Directory policies in a volume: ages by the clock, sizes by writes, a remount, and commands for all policies.
struct DirectoryPolicyTests {
    private static let day: Int64 = 86400

    private func files(_ live: LiveVolume, _ folder: String = "Documents/d") throws -> [String] {
        try Files.names(in: live.stored(folder)).sorted()
    }

    /// Purges as the volume's thread does.
    private func enforce(_ live: LiveVolume) { while live.volume.policies.enforceOnce() {} }

    /// Creates a volume of 64 blocks with Documents/d.
    private func withDirectory(_ body: (LiveVolume) throws -> Void) throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try body(live)
        }
    }

    @Test(
        arguments: [
            ("manual", nil), ("threeDays", 3), ("oneWeek", 7), ("twoWeeks", 14), ("oneMonth", 30), ("0", nil),
            ("3d", 3), ("7d", 7), ("14d", 14), ("30d", 30),
        ] as [(String, Int64?)])
    func eachAgeAtItsBoundary(value: String, days: Int64?) throws {
        try withDirectory { live in
            try live.set("purgeAfter", of: "Documents/d", to: value)
            try live.make("Documents/d/f", blocks: 1)
            let due = (days ?? 365) * Self.day
            try live.advance(seconds: due - 30)
            try live.command(.storagePolicies, "check")
            #expect(try files(live) == ["f"])
            try live.advance(seconds: 30)
            #expect(try files(live) == ["f"], "nothing goes before a check")
            try live.command(.storagePolicies, "check")
            #expect(try files(live) == (days == nil ? ["f"] : []))
            let purges = try live.events(.purge)
            #expect(purges.map(\.reason) == (days == nil ? [] : ["policyAge"]))
            #expect(purges.allSatisfy { $0.trigger == .policy && $0.bytes == .block && $0.tier == .persistent })
        }
    }

    /// A file goes once it has reached the age, counted from its creation and exact to the second.
    @Test func aSecondBeforeAtAndASecondAfter() throws {
        for (offset, isGone) in [(Int64(-1), false), (0, true), (1, true)] {
            try withDirectory { live in
                try live.set("purgeAfter", of: "Documents/d", to: "3d")
                try live.make("Documents/d/f", blocks: 1)
                let node = try live.node("Documents/d/f")
                let due = node.creation.advanced(by: TimeSpan(seconds: 3 * Self.day + offset))
                live.volume.core.change { state in
                    _ = state.tree.advance(to: due)
                    state.tree.policies.check()
                }
                enforce(live)
                #expect(try files(live).isEmpty == isGone)
            }
        }
    }

    @Test func theLaunchChecksAndAWriteDoesNot() throws {
        try withDirectory { live in
            try live.set("purgeAfter", of: "Documents/d", to: "3d")
            try live.make("Documents/d/old", blocks: 1)
            try live.advance(days: 3)
            try live.make("Documents/d/new", blocks: 1)
            enforce(live)
            #expect(try files(live) == ["new", "old"])
            try live.command(.appState, "launch")
            #expect(try files(live) == ["new"])
            try live.advance(days: 3)
            try live.command(.appState, "launch")
            #expect(try files(live) == ["new"], "it runs already")
            try live.command(.appState, "terminate")
            try live.command(.appState, "launch")
            #expect(try files(live).isEmpty)
        }
    }

    /// Creation survives a remount, a write, a rename, and advances of the clock before and after.
    @Test func creationStays() throws {
        try withStore { store in
            let live = try LiveVolume(store)
            try live.makeDirectory("Documents/d")
            try live.advance(days: 5)
            try live.make("Documents/d/f", blocks: 1)
            let creation = try live.node("Documents/d/f").creation
            let shown = try #require(try live.times("Documents/d/f").birth)
            // The app sees real time, and the device's clock is five days ahead of it.
            #expect(shown.advanced(by: TimeSpan(seconds: 5 * Self.day)) == creation)
            try live.advance(days: 2)
            let handle = try live.open("Documents/d/f")
            try live.write(handle, at: 0, 100)
            live.volume.close(handle)
            try live.rename("Documents/d/f", "Documents/d/g")
            #expect(try live.node("Documents/d/g").creation == creation)
            try live.set("purgeAfter", of: "Documents/d", to: "3d")
            live.volume.end()
            let next = try LiveVolume(after: live)
            let found = try next.node("Documents/d/g").creation
            #expect(abs(found.nanoseconds - creation.nanoseconds) < 10_000_000)
            try next.command(.storagePolicies, "check")
            #expect(try files(next) == ["g"])
            try next.advance(days: 1)
            try next.command(.storagePolicies, "check")
            #expect(try files(next).isEmpty)
        }
    }

    @Test func aWriteThatReachesTheLimit() throws {
        try withDirectory { live in
            try live.set("sizeLimit", of: "Documents/d", to: "\(8 * 4096)")
            for number in 1...7 { try live.make("Documents/d/\(number)", blocks: 1) }
            enforce(live)
            #expect(try files(live).count == 7)
            let handle = try live.create("Documents/d/8")
            try live.write(handle, at: 0, 1)
            enforce(live)
            #expect(try files(live) == ["5", "6", "7", "8"])
            #expect(try live.events(.purge).map(\.path) == (1...4).map { "Documents/d/\($0)" })
            #expect(try live.events(.purge).allSatisfy { $0.reason == "policySize" && $0.trigger == .policy })
            // Overwriting needs no blocks, and the two new blocks do not reach the limit.
            try live.write(handle, at: 0, 3 * 4096)
            enforce(live)
            live.volume.close(handle)
            #expect(try files(live) == ["5", "6", "7", "8"])
        }
    }

    /// The policy acts only once the directory's use reaches the limit.
    @Test(arguments: [(7, false), (8, true), (9, true)]) func aroundTheLimit(blocks: Int, goes: Bool) throws {
        try withDirectory { live in
            try live.set("sizeLimit", of: "Documents/d", to: "\(8 * 4096)")
            try live.make("Documents/d/old", blocks: 1)
            try live.make("Documents/d/new", blocks: blocks - 1)
            enforce(live)
            #expect(try files(live) == (goes ? [] : ["new", "old"]))
        }
    }

    @Test func openFilesAreLookedAtAgainWhenTheyAreClosed() throws {
        try withDirectory { live in
            try live.set("sizeLimit", of: "Documents/d", to: "\(4 * 4096)")
            let handles = try (1...6).map { number in
                let handle = try live.create("Documents/d/\(number)")
                try live.write(handle, at: 0, 4096)
                return handle
            }
            enforce(live)
            #expect(try files(live).count == 6)
            live.volume.close(handles[3])
            enforce(live)
            live.volume.close(handles[0])
            enforce(live)
            #expect(try files(live) == ["2", "3", "5", "6"])
            live.volume.close(handles[4])
            enforce(live)
            // Below the limit, a closed file stays.
            for at in [1, 2, 5] { live.volume.close(handles[at]) }
            enforce(live)
            #expect(try files(live) == ["2", "3", "6"])
        }
    }

    @Test func whatIsMovedInBesideAnOpenFileStays() throws {
        try withDirectory { live in
            try live.make("Documents/f", blocks: 1)
            try live.set("sizeLimit", of: "Documents/d", to: "\(4 * 4096)")
            let handle = try live.create("Documents/d/open")
            try live.write(handle, at: 0, 4 * 4096)
            enforce(live)
            try live.rename("Documents/f", "Documents/d/f")
            enforce(live)
            #expect(try files(live) == ["f", "open"])
            live.volume.close(handle)
            enforce(live)
            #expect(try files(live) == [])
        }
    }

    @Test func aLimitBelowOneFile() throws {
        try withDirectory { live in
            try live.set("sizeLimit", of: "Documents/d", to: "100")
            let handle = try live.create("Documents/d/f")
            try live.write(handle, at: 0, 4096)
            enforce(live)
            #expect(try files(live) == ["f"])
            live.volume.close(handle)
            enforce(live)
            #expect(try files(live).isEmpty)
        }
    }

    @Test func theThreadOfTheVolumeCarriesItOut() throws {
        try withDirectory { live in
            try live.volume.startThreads()
            defer { live.volume.end() }
            try live.set("sizeLimit", of: "Documents/d", to: "\(8 * 4096)")
            for number in 1...8 { try live.make("Documents/d/\(number)", blocks: 1) }
            try eventually("four purges") { try live.events(.purge).count == 4 }
            try live.set("purgeAfter", of: "Documents/d", to: "1d")
            try live.advance(days: 1)
            try live.command(.appState, "launch")
            try eventually("the purges of the launch") { try files(live).isEmpty }
        }
    }

    @Test func underPressureWhatIsOverAgeGoesBeforeCaches() throws {
        try withVolume { live in
            try live.makeDirectory("Library/Caches/d")
            try live.make("Library/Caches/a", blocks: 1)
            try live.make("Library/Caches/d/b", blocks: 1)
            try live.set("purgeAfter", of: "Library/Caches/d", to: "3d")
            let plan = ControlHandle(file: .storagePlan, reader: nil)
            func planned() throws -> [Substring] {
                try live.volume.controlFiles.write(plan, Array("1M".utf8), pid: 0)
                return String(decoding: plan.content, as: UTF8.self).split(separator: "\n")
            }
            #expect(try planned().map { $0.contains("Caches/a\"") } == [true, false])
            try live.advance(days: 3)
            #expect(
                try planned() == [
                    #"{"path":"Library/Caches/d/b","reason":"policyAge","bytes":4096}"#,
                    #"{"path":"Library/Caches/a","reason":"caches","bytes":4096}"#,
                ])
            let handle = try live.create("Documents/new")
            try live.command(.storageOthers, "\(live.bytes(.storageAvailable))")
            try live.write(handle, at: 0, 2 * 4096)
            live.volume.close(handle)
            #expect(try live.events(.purge).map(\.reason) == ["policyAge", "caches"])
        }
    }

    @Test func resetEmptiesAndKeepsTheDirectories() throws {
        try withDirectory { live in
            for folder in ["Documents/d/sub", "Documents/d/sub/empty", "Documents/d/own"] {
                try live.makeDirectory(folder)
            }
            for path in ["Documents/d/a", "Documents/d/sub/b", "Documents/d/own/c", "Documents/kept"] {
                try live.make(path, blocks: 1)
            }
            try live.make("Documents/d/none", blocks: 0)
            try live.symlink("Documents/d/link")
            let handle = try live.open("Documents/d/a")
            try live.set("purgeAfter", of: "Documents/d", to: "manual")
            try live.set("sizeLimit", of: "Documents/d/own", to: "1M")
            try live.command(.storagePolicies, "reset")
            #expect(try files(live) == ["own"])
            #expect(try files(live, "Documents/d/own").isEmpty)
            #expect(live.used == 2)
            live.volume.close(handle)
            #expect(live.used == 1)
            #expect(try live.scannedBlocks() == 1)
            #expect(
                live.volume.controlFiles.text(of: .storagePolicies)
                    == #"{"path":"Documents/d","purgeAfter":"0","used":0,"files":0}"# + "\n"
                    + #"{"path":"Documents/d/own","sizeLimit":1048576,"used":0,"files":0}"# + "\n")
            let events = try live.events(.purge)
            #expect(events.count == 5 && events.allSatisfy { $0.reason == "command" && $0.trigger == .command })
            #expect(
                try live.events(.policy).map(\.reason) == ["purgeAfter=0", "sizeLimit=1048576", "reset"])
        }
    }

    @Test func aPolicyThatIsRemovedTakesNothing() throws {
        try withDirectory { live in
            try live.set("purgeAfter", of: "Documents/d", to: "1d")
            try live.set("sizeLimit", of: "Documents/d", to: "1M")
            try live.make("Documents/d/f", blocks: 1)
            try live.advance(days: 2)
            try live.remove("purgeAfter", from: "Documents/d")
            #expect(live.volume.controlFiles.text(of: .storagePolicies).contains(#""sizeLimit":1048576,"used":4096"#))
            try live.remove("sizeLimit", from: "Documents/d")
            #expect(live.volume.controlFiles.text(of: .storagePolicies) == "")
            try live.command(.storagePolicies, "check")
            #expect(try files(live) == ["f"])
            for text in ["", "\n", "checks", "reset all"] {
                #expect(throws: Errno.invalid) { try live.command(.storagePolicies, text) }
            }
        }
    }

    /// A command works without a mount, on a store that no daemon holds.
    @Test func anUnmountedStoreIsCheckedInPlace() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.makeDirectory("Documents/d")
                try live.make("Documents/d/f", blocks: 1)
                try live.set("purgeAfter", of: "Documents/d", to: "1d")
                try live.advance(days: 1)
                live.volume.end()
            }
            let offline = try OfflineVolume(storePath: store)
            #expect(try offline.read("storage.policies").contains(#""files":1"#))
            try offline.write("check", to: "storage.policies")
            #expect(try offline.read("storage.policies").contains(#""files":0"#))
            try offline.close()
        }
    }

    /// Files in tmp go first and count toward the root's policy. The reason for purging the files in Library/Caches is
    /// settled when the purge begins.
    @Test func aLargePurgeTakesWhatItsPlanSays() throws {
        func small(_ settings: inout Device) {
            settings.total = ByteCount(blocks: 2048)
            settings.thresholds = .off
        }
        try withVolume(settings: small) { live in
            for number in 0..<300 { try live.make("Library/Caches/\(number)", blocks: 1) }
            for number in 0..<300 { try live.make("tmp/\(number)", blocks: 1) }
            try live.set("sizeLimit", of: "", to: "\(400 * 4096)")
            func answer(_ file: ControlFile) throws -> [Substring] {
                let handle = ControlHandle(file: file, reader: nil)
                try live.volume.controlFiles.write(handle, Array("all".utf8), pid: 0)
                return String(decoding: handle.content, as: UTF8.self).split(separator: "\n")
            }
            let plan = try answer(.storagePlan)
            #expect(plan.count { $0.contains("policySize") } == 300)
            #expect(try answer(.storageReclaim) == plan)
        }
    }

    @Test func resetKeepsTheFoldersOfEveryContainer() throws {
        try withDirectory { live in
            try live.make("Documents/d/f", blocks: 1)
            try live.make("Library/Caches/g", blocks: 1)
            try live.make("h", blocks: 1)
            try live.set("isExcludedFromBackup", of: "Documents", to: "1")
            try live.set("purgeAfter", of: "", to: "0")
            try live.command(.storagePolicies, "reset")
            #expect(try files(live, "") == ["Documents", "Library", "tmp"])
            #expect(try files(live, "Library") == ["Application Support", "Caches", "Preferences"])
            #expect(try files(live, "Documents").isEmpty && live.used == 0)
            #expect(try live.node("Documents").standing.isExcluded)
        }
    }

    // A program reaches the limit again each time that files have gone.

    /// Limits Documents/d to 8 blocks, and fills it again as soon as a purge begins to take some of them.
    private func withRefills(_ body: (LiveVolume, Refills) throws -> Void) throws {
        let refills = Refills()
        try withVolume(port: FakeKernel(on: .slowWork) { refills.make() }) { live in
            try live.makeDirectory("Documents/d")
            try live.set("sizeLimit", of: "Documents/d", to: "\(8 * 4096)")
            refills.live.withLock { $0 = live }
            let result = Result { try body(live, refills) }
            refills.live.withLock { $0 = nil }
            live.volume.end()
            try result.get()
        }
    }

    @Test func pressureIsRelievedMeanwhile() throws {
        try withRefills { live, refills in
            try live.make("tmp/a", blocks: 16)
            try live.make("Documents/big", blocks: 25)
            try live.command(.storageThresholds, "verylow 10%\nlow 25%\nnearlow 30%\ndesired 40%")
            refills.make()
            try live.volume.startThreads()
            try eventually("the end of the refills") { refills.count.value == Refills.most }
            let purges = try live.events(.purge)
            let place = try #require(purges.firstIndex { $0.trigger == .pressure })
            #expect(purges[place].path == "tmp/a" && place < 100)
        }
    }

    @Test func aCheckReturnsMeanwhile() throws {
        try withRefills { live, refills in
            refills.make()
            try live.volume.startThreads()
            try live.command(.storagePolicies, "check")
            #expect(refills.count.value < Refills.most)
            try live.command(.storageOthers, "4096")
            #expect(refills.count.value < Refills.most)
        }
    }
}

/// Fills Documents/d at each call, up to `most` times.
private final class Refills: Sendable {
    static let most = 1000
    let live = Mutex<LiveVolume?>(nil)
    let count = Tally()

    func make() {
        guard count.value < Self.most, let live = live.withLock({ $0 }) else { return }
        count.add()
        for file in 0..<8 { _ = try? live.make("Documents/d/\(count.value)-\(file)", blocks: 1) }
    }
}
