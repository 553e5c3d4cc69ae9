import Glibc
import PurgeSystem
import Support
import Testing

extension TestMount {
    /// Switches to profile `device` and fulfils the conditions of the daily removal: `tmp/big`, which stays open, has a block
    /// more than 10 MiB, and the free space is `desired`, less than three times as much.
    func letTheDailyRemovalRun() throws -> OpenFile {
        try write("device", to: "storage.profile")
        let file = try OpenFile(path("tmp/big"))
        try file.fill((10 << 20) + 4096)
        try setDesired(number("storage.available"))
        return file
    }

    /// Sets `desired` alone, so that the device never is at a level.
    fileprivate func setDesired(_ bytes: Int64) throws(Errno) {
        try write("verylow=0,low=0,nearlow=0,desired=\(bytes)", to: "storage.thresholds")
    }
}

extension Mounts {
    /// When the daily removal of profile `device` takes place (docs/RULES.md, Profiles, "The age of tmp").
    @Suite struct DailyRemovalTests {
        /// Runs `body` on a device with a file in tmp that will be four days old and an open one of 10 MiB and a block. A
        /// third of the free space is `desired`, so a block less is free than the removal asks for.
        private func withOldFile(_ body: (TestMount, OpenFile) throws -> Void) throws {
            try withMount(["--total", "64M"]) { mount in
                try mount.make("tmp/old", size: 4096)
                let big = try mount.letTheDailyRemovalRun()
                try body(mount, big)
            }
        }

        private func pass(_ days: Int, on mount: TestMount) throws { try mount.write("+\(days)d", to: "device.clock") }

        /// Less than three times `desired` has to be free; exactly as much is too much.
        @Test func freeSpace() throws {
            try withOldFile { mount, big in
                let blocks = try mount.number("storage.available") / 4096
                // Others take the remainder of a division by three.
                try mount.write("+\(blocks % 3 * 4096)", to: "storage.others")
                try mount.setDesired(blocks / 3 * 4096)
                try pass(4, on: mount)
                #expect(mount.exists("tmp/old"))
                // The day has passed, so the removal waits for the next one although its conditions hold now.
                try mount.write("+4096", to: "storage.others")
                try mount.write("+1s", to: "device.clock")
                #expect(mount.exists("tmp/old"))
                try pass(1, on: mount)
                #expect(!mount.exists("tmp/old"))
                big.close()
            }
        }

        /// tmp has to hold more than 10 MiB; exactly 10 MiB, with the old file, is too little.
        @Test func useOfTmp() throws {
            try withOldFile { mount, big in
                try big.truncate(10 << 20 - 4096)
                #expect(try mount.status().tiers.temporary.bytes == 10 << 20)
                try pass(4, on: mount)
                #expect(mount.exists("tmp/old"))
                // A file elsewhere does not count.
                try mount.make("Documents/more", size: 1 << 20)
                try pass(1, on: mount)
                #expect(mount.exists("tmp/old"))
                _ = try big.write(1, at: 10 << 20)
                try pass(1, on: mount)
                #expect(!mount.exists("tmp/old"))
                big.close()
            }
        }

        /// The app may not run, in whatever state.
        @Test(arguments: ["launch", "background", "suspend"]) func whileTheAppRuns(command: String) throws {
            try withOldFile { mount, big in
                if command == "suspend" { try mount.write("launch", to: "app.state") }
                try mount.write(command, to: "app.state")
                try pass(4, on: mount)
                #expect(mount.exists("tmp/old"))
                try mount.write("terminate", to: "app.state")
                #expect(mount.exists("tmp/old"))
                try pass(1, on: mount)
                #expect(!mount.exists("tmp/old"))
                big.close()
            }
        }

        /// An offloaded app does not run.
        @Test func ofAnOffloadedApp() throws {
            try withOldFile { mount, big in
                try mount.write("offload", to: "app.state")
                try pass(4, on: mount)
                #expect(!mount.exists("tmp/old"))
                big.close()
                try mount.write("install", to: "app.state")
            }
        }

        /// Pressure takes no file of tmp because of its age, at whatever level below veryLow.
        @Test(arguments: ["nearlow", "low"]) func ageIsNoReasonUnderPressure(level: String) throws {
            try withMount(["--total", "64M", "--profile", "device", "--purge-latency", "0"]) { mount in
                try mount.turnThresholdsOff()
                try mount.make("tmp/old", size: 4096)
                try mount.make("Documents/marked", size: 4096)
                try mount.mark("Documents/marked", "low")
                try pass(9, on: mount)
                let more = try mount.number("storage.available") + 4096
                let lower = level == "low" ? more : 0
                try mount.write(
                    "verylow=0,low=\(lower),nearlow=\(more),desired=\(more + (1 << 20))", to: "storage.thresholds")
                try eventually("the purge") { !mount.exists("Documents/marked") }
                try mount.write("+0", to: "storage.others")
                #expect(mount.exists("tmp/old"))
                #expect(try mount.purgesAfterUnmount().paths == ["Documents/marked"])
            }
        }
    }
}
