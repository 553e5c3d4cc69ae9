import Foundation
import Support
import Testing

extension Mounts {
    /// Three weeks that pass in one second: the files that are gone then, the files that stay, and the reasons.
    @Suite struct ThreeWeeksTests {
        private static let size = 1 << 20

        @Test func whatIsGoneAndWhatStays() throws {
            try withMount(["--total", "20M"]) { mount in
                try mount.turnThresholdsOff()
                for path in [
                    "Documents/kept", "Library/Caches/read", "Library/Caches/old", "Library/Caches/older",
                    "tmp/forgotten", "Documents/model",
                ] { try mount.make(path, size: Self.size) }
                try mount.mark("Documents/model", "low")
                try mount.touch("Library/Caches/old")
                let before = try Files.status(mount.path("Library/Caches/older")).st_mtim
                try mount.write("+3w", to: "device.clock")
                let aged = try Files.status(mount.path("Library/Caches/older")).st_mtim
                #expect(aged.tv_sec == before.tv_sec - 21 * 86400 && aged.tv_nsec == before.tv_nsec)
                // The app is back: it reads one cache, and makes another.
                try mount.touch("Library/Caches/read")
                try mount.make("Library/Caches/new", size: Self.size)
                let free = try mount.number("storage.available")
                try mount.make("Documents/download", size: Int(free) + 3 * Self.size)
                let gone = ["tmp/forgotten", "Library/Caches/older", "Library/Caches/old"]
                for path in gone { #expect(!mount.exists(path), "\(path)") }
                let stays = ["Documents/kept", "Documents/model", "Library/Caches/read", "Library/Caches/new"]
                for path in stays { #expect(mount.exists(path), "\(path)") }
                try mount.unmount()
                try checkEvents(of: mount.store, gone)
            }
        }

        private func checkEvents(of store: String, _ gone: [String]) throws {
            let events = try StoreEvent.journal(of: store)
            let purges = events.filter { $0.type == "purge" }
            #expect(purges.map(\.path) == gone)
            #expect(purges.map(\.reason) == ["temporary", "caches", "caches"])
            #expect(Set(purges.map(\.trigger)) == ["importantWrite"])
            let advance = try #require(events.first { $0.type == "clock" })
            #expect(advance.reason == "device.clock=+3w")
            let later = try #require(
                Calendar(identifier: .gregorian).date(byAdding: .day, value: 20, to: Date())
            ).ISO8601Format()
            #expect(purges.allSatisfy { $0.time > later && $0.time > advance.time })
        }

        /// After a crash, the last use of a file comes from its time stamps, and the order of purging stays the same.
        @Test func theOrderHoldsOverACrash() throws {
            try withMount(["--total", "20M"]) { mount in
                try mount.turnThresholdsOff()
                for name in ["first", "second"] { try mount.make("tmp/\(name)", size: Self.size) }
                try mount.write("+3w", to: "device.clock")
                try mount.remount()
                try mount.make("tmp/third", size: Self.size)
                try mount.crash()
                try mount.mount()
                try mount.make("tmp/fourth", size: Self.size)
                for (wanted, left) in [("first", 3), ("second", 2), ("third", 1)] {
                    try mount.write("1M", to: "storage.reclaim")
                    #expect(!mount.exists("tmp/\(wanted)"), "\(wanted)")
                    #expect(try Files.names(in: mount.path("tmp")).count == left)
                }
            }
        }
    }
}
