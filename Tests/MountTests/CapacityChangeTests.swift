import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// A change to total, others or others.purgeable purges until it fits (docs/RULES.md, What sets off a purge).
    @Suite struct CapacityChangeTests {
        private func makeFiles(_ mount: TestMount) throws {
            try mount.turnThresholdsOff()
            try mount.make("Documents/kept", size: 1 << 20)
            for name in ["a", "b", "c", "d"] { try mount.make("Library/Caches/\(name)", size: 1 << 20) }
        }

        @Test(arguments: [("storage.others", "14M"), ("storage.others", "+13M"), ("storage.total", "4M")])
        func justEnoughIsPurged(file: String, change: String) throws {
            try withMount(["--total", "16M", "--others", "1M"]) { mount in
                try makeFiles(mount)
                try mount.write(change, to: file)
                let expected: [String] = file == "storage.total" ? ["a", "b"] : ["a", "b", "c"]
                #expect(!mount.exists("Library/Caches/\(expected[expected.count - 1])"))
                #expect(try mount.number("storage.available") == 0)
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == expected.map { Purge("Library/Caches/\($0)", "caches") })
                #expect(events.allSatisfy { $0.trigger == "capacity" })
            }
        }

        /// A change that cannot fit is accepted too, and purges everything purgeable.
        @Test func aDeviceThatIsOverfull() throws {
            try withMount(["--total", "16M"]) { mount in
                try makeFiles(mount)
                try mount.write("512K", to: "storage.total")
                #expect(try mount.number("storage.total") == 524_288)
                #expect(try mount.number("storage.used") == 1 << 20)
                for name in ["storage.available", "storage.important", "storage.opportunistic"] {
                    #expect(try mount.number(name) == 0)
                }
                #expect(try Files.names(in: mount.path("Library/Caches")) == [])
                let file = try OpenFile(mount.path("Documents/kept"))
                #expect(try file.write(1 << 20, at: 0) == 1 << 20, "overwriting in place always works")
                #expect(throws: Errno.noSpace) { try file.write(1, at: 1 << 20) }
                try Files.rename(mount.path("Documents/kept"), mount.path("Documents/renamed"))
                try Files.link(mount.path("Documents/renamed"), mount.path("Documents/linked"))
                try mount.mark("Documents/linked", "low")
            }
        }

        @Test func othersPurgeableIsAPartOfOthers() throws {
            try withMount(["--total", "16M", "--others", "8M", "--others-purgeable", "6M"]) { mount in
                #expect(throws: Errno.invalid) { try mount.write("9M", to: "storage.others.purgeable") }
                #expect(try mount.number("storage.others.purgeable") == 6 << 20)
                try mount.write("4M", to: "storage.others")
                #expect(try mount.number("storage.others.purgeable") == 4 << 20)
                try mount.write("1", to: "storage.others.purgeable")
                #expect(try mount.number("storage.others.purgeable") <= 4096)
            }
        }

        /// storage.total is rounded down to whole blocks, and the two numbers of others are rounded up.
        @Test func roundingToBlocks() throws {
            try withMount { mount in
                for (file, text, value) in [
                    ("storage.total", "40000001", 39_997_440), ("storage.others", "4097", 8192),
                    ("storage.others", "4096\n", 4096), ("storage.others", "64KB", 65536),
                    ("storage.others", "+1", 69632), ("storage.others", "-4096", 65536),
                    ("storage.others.purgeable", "4095", 4096), ("storage.total", "1G", 1 << 30),
                    ("storage.total", "1GB", 999_997_440),
                ] as [(String, String, Int64)] {
                    try mount.write(text, to: file)
                    #expect(try mount.number(file) == value, "\(file) \(text)")
                }
            }
        }
    }
}
