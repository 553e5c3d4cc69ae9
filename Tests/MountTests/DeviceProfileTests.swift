import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Purging under profile `device` (docs/RULES.md, Profiles).
    @Suite struct DeviceProfileTests {
        @Test(arguments: PurgeScenario.device.filter(\.isForMounts)) func takes(scenario: PurgeScenario) throws {
            try withMount { mount in try ScenarioRun(scenario, mount).check() }
        }

        /// Purging lags: a write finds no room although much could be purged, and the same write succeeds later.
        @Test func noRoomInSpiteOfPurgeableSpace() throws {
            try withMount(["--total", "64M", "--profile", "device", "--purge-latency", "2h"]) { mount in
                try mount.make("Library/Caches/big", size: 40 << 20)
                let file = try OpenFile(mount.path("Documents/new"))
                #expect(throws: Errno.noSpace) { try file.allocate(Allocate.plain, 0, 30 << 20) }
                #expect(try mount.status().pressure == "normal")
                #expect(try mount.number("storage.important") == 64 << 20)
                #expect(mount.exists("Library/Caches/big"))
                try mount.write("0", to: "storage.purge.latency")
                try eventually("the purge") { !mount.exists("Library/Caches/big") }
                try file.allocate(Allocate.plain, 0, 30 << 20)
                file.close()
                let purge = try #require(try mount.purgesAfterUnmount().first)
                #expect(purge.reason == "caches" && purge.trigger == "pressure" && purge.cause == "Documents/new")
            }
        }

        /// A write of any class can take all free space, and statvfs(2) shows the free space at every place.
        @Test(arguments: ["Documents", "Library/Caches", "tmp"]) func aWriteTakesWhatIsFree(place: String) throws {
            let options = ["--total", "64M", "--others", "44M", "--profile", "device", "--purge-latency", "2h"]
            try withMount(options) { mount in
                try mount.make("tmp/old", size: 8 << 20)
                let capacity = try mount.capacity(at: place)
                #expect(capacity.available == 12 << 20 && capacity.free == 12 << 20)
                let file = try OpenFile(mount.path("\(place)/new"))
                try file.allocate(Allocate.plain, 0, 12 << 20)
                #expect(throws: Errno.noSpace) { try file.allocate(Allocate.plain, 12 << 20, 4096) }
                #expect(try mount.status().pressure == "veryLow")
                file.close()
                #expect(try mount.purgesAfterUnmount() == [])
            }
        }

        /// The profile changes back and forth under four writers. The ledger still equals the next mount's.
        @Test func theProfileChangesWhileWritersRun() throws {
            try withMount(["--total", "64M", "--others", "40M", "--purge-latency", "0"]) { mount in
                let writers = Workers.start(4) { worker in
                    for number in 0..<300 {
                        let folder = ["tmp", "Library/Caches", "Documents", "Library"][(worker + number) % 4]
                        let path = mount.path("\(folder)/\(worker)-\(number % 40)")
                        // Both calls may fail: for lack of room, or because the file has just been purged.
                        _ = try? Files.make(path, size: 4096 * (1 + number % 60))
                        if number % 5 == 0 { _ = try? Attributes.mark(path, "isPurgeable", "medium") }
                    }
                }
                for number in 0..<40 {
                    try mount.write(number % 2 == 0 ? "device" : "documented", to: "storage.profile")
                    #expect(try mount.status().profile == (number % 2 == 0 ? "device" : "documented"))
                    if number % 7 == 0 { try mount.write(number % 2 == 0 ? "launch" : "terminate", to: "app.state") }
                }
                try writers.join()
                try mount.write("off", to: "storage.thresholds")
                try mount.write("check", to: "storage.policies")
                let before = try mount.status()
                #expect(before.storage.used + before.storage.others <= before.storage.total)
                try mount.remount()
                let after = try mount.status()
                #expect(after.storage.used == before.storage.used && after.tiers == before.tiers)
                #expect(after.storage.reclaimable == before.storage.reclaimable)
                try mount.unmount()
                try PurgefsBinary.run("check", mount.store).succeeded()
            }
        }

        @Test func itIsKeptAndCanBeChanged() throws {
            try withMount(["--profile", "device", "--purge-latency", "5m"]) { mount in
                let limits = [("verylow", 512), ("low", 1024), ("desired", 1280)].map { ($0.0, Int64($0.1) << 20) }
                try mount.write("64G", to: "storage.total")
                for (name, limit) in limits { #expect(try mount.table("storage.thresholds")[name] == limit) }
                #expect(try mount.read("storage.purge.latency") == "5m")
                try PurgefsBinary.run("set", mount.root, "profile=documented", "purge.latency=0").succeeded()
                #expect(try mount.table("storage.thresholds")["verylow"] == 3_435_974_656)
                try mount.remount(["--profile", "device"])
                #expect(try mount.read("storage.profile") == "device" && mount.read("storage.purge.latency") == "0s")
                for (name, limit) in limits { #expect(try mount.table("storage.thresholds")[name] == limit) }
                try mount.remount()
                #expect(try mount.status().profile == "device")
                #expect(throws: Errno.invalid) { try mount.write("real", to: "storage.profile") }
                #expect(throws: Errno.invalid) { try mount.write("soon", to: "storage.purge.latency") }
                try mount.unmount()
                try PurgefsBinary.run("set", mount.store, "profile=documented").succeeded()
                #expect(try PurgefsBinary.run("status", mount.store).succeeded().contains("profile documented"))
            }
        }

        /// An empty folder in tmp is removed a day after its last change. Links and empty files age like other files.
        @Test func theAgeOfWhatIsInTmp() throws {
            try withMount { mount in
                for folder in ["tmp/old", "tmp/old/sub", "Library/Caches/empty"] { try mount.makeDirectory(folder) }
                for file in ["tmp/old/sub/f", "tmp/used", "Library/Caches/c"] { try mount.make(file, size: 4096) }
                try mount.make("tmp/nothing", size: 0)
                try Files.symlink("nowhere", mount.path("tmp/link"))
                let kept = try mount.letTheDailyRemovalRun()
                try mount.write("+2d", to: "device.clock")
                try mount.touch("tmp/used")
                #expect(try Files.names(in: mount.path("tmp")) == ["big", "link", "nothing", "old", "used"])
                try mount.write("+1d", to: "device.clock")
                // Removing the file changed the inner folder.
                #expect(try Files.names(in: mount.path("tmp")) == ["big", "old", "used"])
                #expect(try Files.names(in: mount.path("tmp/old/sub")).isEmpty)
                try mount.write("+1d", to: "device.clock")
                #expect(try Files.names(in: mount.path("tmp/old")).isEmpty)
                try mount.write("+1d", to: "device.clock")
                #expect(try Files.names(in: mount.path("tmp")) == ["big"])
                #expect(mount.exists("Library/Caches/empty") && mount.exists("Library/Caches/c"))
                kept.close()
                #expect(try mount.status().storage.used == (10 << 20) + 2 * 4096)
                let purges = try mount.purgesAfterUnmount()
                #expect(purges.compactMap(\.path).sorted() == ["tmp/link", "tmp/nothing", "tmp/old/sub/f", "tmp/used"])
                #expect(purges.allSatisfy { $0.reason == "temporary" && $0.trigger == "policy" })
            }
        }

        /// If a day began while the store was not mounted, the next mount removes old files of tmp.
        @Test func aDayThatBeganBeforeTheMount() throws {
            try withMount { mount in
                try mount.make("tmp/f", size: 4096)
                try mount.write("+4d", to: "device.clock")
                try mount.letTheDailyRemovalRun().close()
                try mount.remount()
                #expect(mount.exists("tmp/f"))
                try mount.unmount()
                let file = "\(mount.store)/device.json"
                let text = Files.text(file)
                let line = try #require(text.split(separator: "\n").first { $0.contains("\"agedDay\"") })
                let day = try #require(Int64(line.filter(\.isNumber)))
                let other = line.replacing("\(day)", with: "\(day - 1)")
                try Files.write(text.replacing(line, with: other), to: file)
                try mount.mount()
                try eventually("the removal") { !mount.exists("tmp/f") }
                // An unmount before this leaves the rest of the day's work to the next mount.
                try eventually("the saved day") { Files.text(file).contains("\"agedDay\": \(day)") }
                try mount.unmount()
                #expect(Files.text(file).contains("\"agedDay\": \(day)"))
            }
        }
    }
}
