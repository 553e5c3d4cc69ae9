import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Levels, hysteresis and the background purge (docs/RULES.md, Pressure).
    @Suite struct PressureTests {
        static let mib: Int64 = 1 << 20
        /// Runs `body` on a device of 64 MiB with the thresholds 4 MiB (very low), 8 MiB (low), 12 MiB (near low) and
        /// 16 MiB (desired).
        private func withThresholds(_ body: (TestMount) throws -> Void) throws {
            try withMount { mount in
                try mount.write("verylow 4M\nlow 8M\nnearlow 12M\ndesired 16M", to: "storage.thresholds")
                try body(mount)
            }
        }
        private func setFree(_ mount: TestMount, _ free: Int64) throws {
            let used = try mount.number("storage.used")
            try mount.write("\(64 * Self.mib - used - free)", to: "storage.others")
        }

        /// Free space at each step, mostly within a block of a threshold, and the resulting level.
        static let steps: [(free: Int64, level: String)] = [
            (20 * mib, "normal"), (16 * mib - 4096, "normal"), (12 * mib, "normal"), (12 * mib - 4096, "nearLow"),
            (12 * mib, "nearLow"), (16 * mib - 4096, "nearLow"), (16 * mib, "normal"), (8 * mib, "nearLow"),
            (8 * mib - 4096, "low"), (8 * mib, "low"), (12 * mib, "low"), (16 * mib - 4096, "low"),
            (16 * mib, "normal"),
            (8 * mib - 4096, "low"), (4 * mib, "low"), (4 * mib - 4096, "veryLow"), (0, "veryLow"), (4 * mib, "low"),
            (15 * mib, "low"), (16 * mib, "normal"), (4096, "veryLow"), (4 * mib - 4096, "veryLow"),
            (16 * mib, "normal"),
        ]

        @Test func levelsAndTheirHysteresis() throws {
            try withThresholds { mount in
                for (index, step) in Self.steps.enumerated() {
                    try setFree(mount, step.free)
                    #expect(try mount.number("storage.available") == step.free)
                    #expect(try mount.read("storage.pressure") == step.level, "step \(index), \(step.free) free")
                    #expect(try mount.status().pressure == step.level)
                }
            }
        }

        /// Writes change the level as changes to others do.
        @Test func levelsFollowWrites() throws {
            try withThresholds { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                for (size, level) in [
                    (51, "normal"), (53, "nearLow"), (57, "low"), (61, "veryLow"), (60, "low"), (49, "low"),
                    (48, "normal"),
                ] as [(Int64, String)] {
                    if try file.status().st_size > size * Self.mib { try file.truncate(size * Self.mib) }
                    let missing = try size * Self.mib - Int64(file.status().st_size)
                    try Self.append(Int(missing), to: file)
                    #expect(try mount.read("storage.pressure") == level, "\(size) MiB")
                }
            }
        }
        private static func append(_ size: Int, to file: OpenFile) throws {
            _ = try file.seek(0, SEEK_END)
            try file.fill(size)
        }

        /// After a write brings the level to low, the background purge removes files in order until desired is reached, and no
        /// more.
        @Test func theBackgroundPurgesUntilDesired() throws {
            try withThresholds { mount in
                for number in 0..<20 { try mount.make("Library/Caches/f\(number)", size: 1 << 20) }
                try setFree(mount, 9 * Self.mib)
                #expect(try mount.read("storage.pressure") == "nearLow")
                #expect(try Files.names(in: mount.path("Library/Caches")).count == 20)
                try mount.make("Documents/f", size: 1 << 20)
                #expect(try mount.read("storage.pressure") == "nearLow", "8 MiB are not low yet")
                try mount.make("Documents/g", size: 4096)
                try mount.settle()
                try eventually("16 MiB free") { try mount.number("storage.available") >= 16 * Self.mib }
                #expect(try mount.read("storage.pressure") == "normal")
                let left = (9..<20).map { "f\($0)" }.sorted()
                #expect(try Files.names(in: mount.path("Library/Caches")) == left)
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == (0..<9).map { Purge("Library/Caches/f\($0)", "caches") })
                #expect(events.allSatisfy { $0.trigger == "pressure" })
            }
        }

        /// Events of purges under pressure name the write that caused the pressure. The event of the level `normal` follows
        /// them.
        @Test func theJournalNamesTheWrite() throws {
            try withThresholds { mount in
                for number in 0..<400 { try mount.make("Library/Caches/f\(number)", size: 16384) }
                try setFree(mount, 8 * Self.mib)
                try mount.write("off", to: "storage.thresholds")  // the level is normal, so earlier events end here
                try mount.write("verylow 4M\nlow 8M\nnearlow 12M\ndesired 14M", to: "storage.thresholds")
                let before = try StoreEvent.journal(of: mount.store).count
                let script =
                    "import threading\n"
                    + "def write(): open('Documents/big', 'wb').write(b'x' * 4096)\n"
                    + "writer = threading.Thread(target=write); writer.start(); writer.join()\n"
                    + "import os; print(os.getpid())"
                let output = try Program.run([Program.python, "-c", script], in: mount.root).succeeded()
                let pid = try #require(Int32(output.split(separator: "\n")[0]))
                try mount.settle()
                try mount.unmount()
                let told = try StoreEvent.journal(of: mount.store).dropFirst(before).filter { $0.type != "unmount" }
                #expect(told.first?.type == "pressure" && told.first?.reason == "low")
                #expect(told.last?.type == "pressure" && told.last?.reason == "normal")
                let purges = told.filter { $0.type == "purge" }
                #expect(purges.count == 385 && told.count == 387, "\(told.count) events")
                #expect(purges.allSatisfy { $0.trigger == "pressure" && $0.cause == "Documents/big" && $0.pid == pid })
            }
        }

        /// As long as the level is low, a file is purged once it becomes purgeable: closed, marked, or moved.
        @Test func whatBecomesPurgeableGoes() throws {
            try withThresholds { mount in
                try mount.make("Documents/marked", size: 4096)
                try mount.make("Documents/moved", size: 4096)
                try mount.make("Documents/kept", size: 4096)
                let closed = try OpenFile(mount.path("Library/Caches/closed"))
                try closed.fill(4096)
                try setFree(mount, 6 * Self.mib)
                #expect(try mount.read("storage.pressure") == "low")
                #expect(mount.exists("Library/Caches/closed"))
                closed.close()
                try eventually("closed") { !mount.exists("Library/Caches/closed") }
                try mount.mark("Documents/marked", "high")
                try eventually("marked") { !mount.exists("Documents/marked") }
                try Files.rename(mount.path("Documents/moved"), mount.path("tmp/moved"))
                try eventually("moved") { !mount.exists("tmp/moved") }
                #expect(mount.exists("Documents/kept"))
            }
        }

        /// Pressure purges others.purgeable as well as files. A change to others returns only after that purge.
        @Test func aChangeReturnsWhenPressureIsOver() throws {
            try withThresholds { mount in
                for number in 0..<4 { try mount.make("tmp/f\(number)", size: 1 << 20) }
                try mount.write("40M", to: "storage.others")
                try mount.write("2M", to: "storage.others.purgeable")
                try mount.write("+13M", to: "storage.others")  // 7 MiB free
                #expect(try mount.number("storage.others.purgeable") == 0)
                #expect(try Files.names(in: mount.path("tmp")) == [])
                #expect(try mount.number("storage.available") == 13 * Self.mib)
                #expect(try mount.read("storage.pressure") == "low")
                #expect(try !mount.status().purging)
            }
        }

        @Test func thresholdsOff() throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                try mount.make("Library/Caches/f", size: 1 << 20)
                try setFree(mount, 0)
                #expect(try mount.read("storage.pressure") == "normal")
                #expect(try mount.number("storage.opportunistic") == 0)
                try setFree(mount, 4096)
                #expect(try mount.number("storage.opportunistic") == 4096)
                #expect(mount.exists("Library/Caches/f"))
            }
        }

        /// A mount determines the level again, from free space alone.
        @Test func judgedAnewAtMount() throws {
            try withThresholds { mount in
                try setFree(mount, 5 * Self.mib)
                try setFree(mount, 14 * Self.mib)
                #expect(try mount.read("storage.pressure") == "low")
                try mount.remount()
                #expect(try mount.read("storage.pressure") == "normal")
                try setFree(mount, 5 * Self.mib)
                try mount.remount()
                #expect(try mount.read("storage.pressure") == "low")
            }
        }

        /// An opportunistic write never brings the level to low.
        @Test func opportunisticWritesKeepTheCushion() throws {
            try withThresholds { mount in
                let file = try OpenFile(mount.path("Library/Caches/f"))
                try file.fill(56 << 20)
                #expect(throws: Errno.noSpace) { try file.write(1) }
                #expect(try mount.number("storage.available") == 8 * Self.mib)
                #expect(try mount.read("storage.pressure") == "nearLow")
            }
        }
    }
}
