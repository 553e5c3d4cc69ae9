import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The lock state, reboots and clock of a device, on a mount.
    @Suite struct DeviceTests {
        @Test func everyTransition() throws {
            try withMount { mount in
                let steps = [
                    ("lock", "locking"), ("lock", "locking"), ("unlock", "unlocked"), ("unlock", "unlocked"),
                    ("lock", "locking"), ("reboot", "beforeFirstUnlock"), ("lock", "beforeFirstUnlock"),
                    ("unlock", "unlocked"), ("reboot", "beforeFirstUnlock"), ("reboot", "beforeFirstUnlock"),
                ]
                for (command, state) in steps {
                    try mount.write(command, to: "device.state")
                    #expect(try mount.read("device.state") == state)
                    #expect(try mount.status().device.state == state)
                }
                #expect(try mount.status().device.boots == 4)
                try mount.write("unlock", to: "device.state")
                try mount.write("lock", to: "device.state")
                try mount.write("+10s", to: "device.clock")
                #expect(try mount.read("device.state") == "locked")
                for (command, state) in [("lock", "locked"), ("reboot", "beforeFirstUnlock"), ("unlock", "unlocked")] {
                    try mount.write(command, to: "device.state")
                    #expect(try mount.read("device.state") == state)
                }
            }
        }

        @Test func theClockEndsLocking() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                defer { reader.close() }
                try mount.write("lock", to: "device.state")
                try mount.write("+3s", to: "device.clock")
                #expect(try mount.read("device.state") == "locking")
                try mount.write("+7s", to: "device.clock")
                #expect(try mount.read("device.state") == "locked")
                #expect(try mount.number("device.clock") == 10)
                // The mount's own event may arrive after the mount is ready.
                try reader.wait("all of it") { seen in seen.filter { $0.type != "mount" }.count >= 4 }
                let events = reader.seen.filter { $0.type != "mount" }
                #expect(events.map(\.type) == ["device", "clock", "clock", "device"])
                #expect(
                    events.map(\.reason) == ["locking", "device.clock=+3s", "device.clock=+7s", "locked"])
                #expect(events.map(\.pid) == [getpid(), getpid(), getpid(), nil])
            }
        }

        @Test func badCommands() throws {
            try withMount { mount in
                try mount.write("+3d", to: "device.clock")
                let before = try mount.status()
                let wrong = [
                    ("device.state", ["\n", "locked", "Lock", "lock unlock", " lock", "lock ", "lock\nunlock", "1"]),
                    (
                        "device.clock",
                        [
                            "\n", "3d", "-3d", "+0s", "+", "+3", "+d", "++3d", "+-3d", "+1.5h", "+3 d", "+3D",
                            "+4294967296s",
                            "+4294967297s", "+9223372036854775807s", "+9223372036854775808s",
                            "+99999999999999999999999w", "+15250284452471w",
                        ]
                    ),
                    ("app.state", ["\n", "start", "running", "launch\nupdate", "Launch"]),
                ]
                for (file, texts) in wrong {
                    for text in texts {
                        #expect(throws: Errno.invalid, "\(text)") { try mount.write(text, to: file) }
                    }
                    #expect(throws: Errno.argListTooLong) {
                        try mount.write(String(repeating: "x", count: 1 << 19), to: file)
                    }
                }
                #expect(try mount.status() == before)
                try mount.write("+\((1 << 32) - 259_200)s", to: "device.clock")
                #expect(try mount.number("device.clock") == 1 << 32)
                #expect(throws: Errno.invalid) { try mount.write("+1s", to: "device.clock") }
                try mount.remount()
                #expect(try mount.number("device.clock") == 1 << 32)
            }
        }

        @Test func allOfItIsKept() throws {
            try withMount { mount in
                let id = try mount.status().app.container
                try mount.write("reboot", to: "device.state")
                try mount.write("unlock", to: "device.state")
                try mount.write("+3d", to: "device.clock")
                try mount.write("lock", to: "device.state")
                try mount.write("+10s", to: "device.clock")
                for ending in [mount.unmount, mount.crash] {
                    try ending()
                    try mount.mount()
                    let status = try mount.status()
                    #expect(status.device.state == "locked" && status.device.boots == 2)
                    #expect(status.device.clock == 259_210 && status.app.container == id)
                }
            }
        }

        /// On an unmounted store, an advance of the clock ends locking too, and the next mount has the new state and clock.
        @Test func theTimeOfAStoreGoesOn() throws {
            try withMount { mount in
                try mount.write("lock", to: "device.state")
                try mount.unmount()
                let outcome = try PurgefsBinary.run("clock", "advance", "10s", mount.store)
                #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "")
                #expect(try PurgefsBinary.run("status", mount.store).succeeded().contains("locked, boot 1, clock 10s"))
                try mount.mount()
                #expect(try mount.read("device.state") == "locked")
                #expect(try mount.number("device.clock") == 10)
            }
        }

        @Test func theVerbs() throws {
            try withMount { mount in
                func run(_ words: String...) throws {
                    let outcome = try Program.run([PurgefsBinary.path] + words)
                    #expect(outcome.status == 0 && outcome.output == "" && outcome.errors == "", "\(outcome)")
                }
                for place in [mount.root, mount.path("Documents"), mount.store] {
                    try run("device", "lock", place)
                    #expect(try mount.read("device.state") == "locking")
                    try run("clock", "advance", "10s", place)
                    #expect(try mount.read("device.state") == "locked")
                    try run("device", "reboot", place)
                    try run("device", "unlock", place)
                    #expect(try mount.read("device.state") == "unlocked")
                }
                #expect(try mount.status().device.boots == 4)
                try mount.unmount()
                try run("device", "reboot", mount.store)
                #expect(try PurgefsBinary.run("status", mount.store).succeeded().contains("beforeFirstUnlock, boot 5"))
                try mount.mount()
                #expect(try mount.read("device.state") == "beforeFirstUnlock")
            }
        }

        /// A reboot empties tmp despite open files, hard links, working directories and watchers.
        @Test func aRebootEmptiesWhatIsInUse() throws {
            try withMount { mount in
                try mount.makeDirectory("tmp/d")
                try mount.make("tmp/d/open", size: 8192)
                try mount.make("tmp/linked", size: 4096)
                try Files.link(mount.path("tmp/linked"), mount.path("Documents/linked"))
                try mount.make("Library/Caches/kept", size: 4096)
                let file = try OpenFile(mount.path("tmp/d/open"), O_RDWR)
                let watch = try DirectoryWatch(mount.path("tmp"))
                let inner = try DirectoryWatch(mount.path("tmp/d"))
                let program = try Program.start(["sleep", "1000"], in: mount.path("tmp/d"))
                defer { program.signal(SIGKILL) }
                try eventually("its working directory") {
                    try Files.names(in: "/proc/\(program.pid)/cwd") == ["open"]
                }
                try mount.write("reboot", to: "device.state")
                watch.collect()
                inner.collect()
                #expect(Set(watch.deleted) == ["d", "linked"] && inner.deleted == ["open"])
                #expect(try Files.names(in: mount.path("tmp")) == [])
                #expect(try Files.names(in: "\(mount.store)/container/tmp") == [])
                #expect(mount.exists("Documents/linked") && mount.exists("Library/Caches/kept"))
                #expect(try mount.number("storage.used") == 4 * 4096)
                try mount.write("unlock", to: "device.state")
                try file.fill(4096)
                #expect(try Files.names(in: "/proc/\(program.pid)/cwd") == [])
                #expect(throws: Errno.noEntry) { try Files.make("/proc/\(program.pid)/cwd/new", size: 1) }
                file.close()
                #expect(try mount.number("storage.used") == 2 * 4096)
                try mount.make("tmp/d", size: 4096)
                program.signal(SIGKILL)
                try program.wait(within: 10)
                try mount.remount()
                #expect(try mount.number("storage.used") == 3 * 4096)
                let events = try mount.afterUnmount { try StoreEvent.journal(of: mount.store) }
                let purges = events.filter { $0.type == "purge" }
                #expect(Set(purges.compactMap(\.path)) == ["tmp/d/open", "tmp/linked"])
                #expect(purges.allSatisfy { $0.reason == "reboot" && $0.trigger == "reboot" && $0.tier == "temporary" })
            }
        }

        @Test func aRebootWithManyFiles() throws {
            try withMount(["--total", "1G"]) { mount in
                let count = Scale.of(10_000)
                let script =
                    "import os\nfor i in range(\(count)):\n"
                    + " d='tmp/d%d' % (i % 100)\n os.makedirs(d, exist_ok=True)\n open('%s/%d' % (d, i), 'wb').write(b'x')"
                try Program.run([Program.python, "-c", script], in: mount.root).succeeded()
                #expect(try mount.number("storage.used") == Int64(count) * 4096)
                try mount.write("reboot", to: "device.state")
                #expect(try mount.number("storage.used") == 0)
                #expect(try Files.names(in: mount.path("tmp")) == [])
                #expect(try Files.names(in: "\(mount.store)/container/tmp") == [])
                #expect(try mount.table("storage.stat")["purged.files"] == Int64(count))
            }
        }
    }
}

extension TestMount {
    /// Returns the result of `body`, run on the store between two mounts.
    func afterUnmount<R>(_ body: () throws -> R) throws -> R {
        try unmount()
        let result = try body()
        try mount()
        return result
    }
}
