import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// One write(2) is one command, and a refused command changes nothing (docs/CONTROL.md). An empty command is a lone
    /// newline, because a write(2) of no bytes never reaches a FUSE daemon.
    @Suite struct ControlWriteTests {
        @Test(arguments: [
            (
                "storage.total",
                [
                    "\n", "x", "-100G", "+", "-", "1 2", "1\n2", "1\n\n", " 1", "1 ", "0x10", "1.3K", "1.5MIB", "12Q",
                    "99999999999999999999", "+99999999999G", "1M\0",
                ]
            ),
            ("storage.others", ["\n", "-1G", "much", "1M 2M", "--1", "+-1"]),
            ("storage.others.purgeable", ["\n", "-1M", "2M", "+2M", "nonsense"]),
            ("storage.others.share", ["\n", "-1", "101", "+1", "1M", "50.5", "50 %"]),
            (
                "storage.thresholds",
                [
                    "\n", "low", "low 10", "low 50%\nlow 60%\n", "on", "off off", "medium 5%",
                    "verylow 50%", "low -1", "low 5%%", "verylow 3M\nlow 2M", "low 101%", "desired 1K",
                ]
            ),
            ("storage.reclaim", ["\n", "everything", "-1", "tmp caches", "TMP", "+4K", "1.3K"]),
        ])
        func badCommands(file: String, commands: [String]) throws {
            try withMount(["--total", "64M", "--others", "1M", "--others-purgeable", "512K"]) { mount in
                for place in ["tmp", "Library/Caches"] { try mount.make("\(place)/f", size: 4096) }
                let before = try mount.status()
                let thresholds = try mount.read("storage.thresholds")
                for command in commands {
                    #expect(throws: Errno.invalid, "\(file) \(command.debugDescription)") {
                        try mount.write(command, to: file)
                    }
                }
                #expect(try mount.status() == before)
                #expect(try mount.read("storage.thresholds") == thresholds)
                #expect(mount.exists("tmp/f") && mount.exists("Library/Caches/f"))
            }
        }

        @Test(arguments: [
            "storage.used", "storage.available", "storage.important", "storage.opportunistic",
            "storage.reclaimable", "storage.stat", "storage.pressure", "status.json", "events",
        ])
        func filesThatCannotBeWritten(name: String) throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 1)
                #expect(throws: (any Error).self) { try mount.write("1", to: name) }
                #expect(try mount.number("storage.used") == 4096)
            }
        }

        /// The offset of a write does not matter, nor does O_APPEND.
        @Test func oneWriteIsOneCommand() throws {
            try withMount { mount in
                let file = try OpenFile(mount.control("storage.others"), O_RDWR)
                for (index, text) in ["1M", "2M\n", "+1M", "-2M"].enumerated() {
                    try Self.write(text, file, at: Int64(index) * 1000)
                }
                #expect(try mount.number("storage.others") == 1 << 20)
                #expect(try file.read(100) == Array("1048576\n".utf8))
                let appending = try OpenFile(mount.control("storage.others"), O_WRONLY | O_APPEND)
                try Self.write("3M", appending, at: 0)
                #expect(try mount.number("storage.others") == 3 << 20)
            }
        }
        private static func write(_ text: String, _ file: OpenFile, at offset: Int64) throws {
            let bytes = Array(text.utf8)
            let done = try bytes.withUnsafeBytes { try System.pwrite(file.descriptor, $0, offset: offset) }
            #expect(done == bytes.count)
        }

        /// A shell's `>` truncates first, which has no effect.
        @Test func truncatingDoesNothing() throws {
            try withMount { mount in
                try mount.write("1M", to: "storage.others")
                try OpenFile(mount.control("storage.others"), O_WRONLY | O_TRUNC).close()
                #expect(try mount.number("storage.others") == 1 << 20)
                try Program.shell(
                    "echo 2M > storage.others && printf 128M > storage.total && echo +1M >> storage.others",
                    in: mount.path(".purgefs")
                )
                .succeeded()
                #expect(try mount.number("storage.others") == 3 << 20)
                #expect(try mount.number("storage.total") == 128 << 20)
                try Program.shell(
                    "echo off > storage.thresholds; cat storage.* > /dev/null 2>&1; grep -c . storage.stat",
                    in: mount.path(".purgefs")
                ).succeeded()
            }
        }

        @Test func thresholds() throws {
            try withMount { mount in
                try mount.write("verylow 1M\nlow 2M\nnearlow 3M\ndesired 4M\n", to: "storage.thresholds")
                #expect(
                    try mount.table("storage.thresholds")
                        == ["verylow": 1 << 20, "low": 2 << 20, "nearlow": 3 << 20, "desired": 4 << 20])
                try mount.write("desired 50%", to: "storage.thresholds")
                #expect(try mount.table("storage.thresholds")["desired"] == 32 << 20)
                try mount.write("32M", to: "storage.total")
                #expect(
                    try mount.table("storage.thresholds")
                        == ["verylow": 1 << 20, "low": 2 << 20, "nearlow": 3 << 20, "desired": 16 << 20])
                try mount.write("verylow=1M,low=2M,nearlow=3M,desired=25%\n", to: "storage.thresholds")
                #expect(
                    try mount.table("storage.thresholds")
                        == ["verylow": 1 << 20, "low": 2 << 20, "nearlow": 3 << 20, "desired": 8 << 20])
                #expect(throws: Errno.invalid) {
                    try mount.write("verylow=2M,low=1M,desired=5M", to: "storage.thresholds")
                }
                #expect(try mount.table("storage.thresholds")["verylow"] == 1 << 20)
                try mount.write("off", to: "storage.thresholds")
                #expect(try mount.table("storage.thresholds") == ["verylow": 0, "low": 0, "nearlow": 0, "desired": 0])
                try mount.remount()
                #expect(try mount.table("storage.thresholds") == ["verylow": 0, "low": 0, "nearlow": 0, "desired": 0])
            }
        }

        /// EAGAIN means that less was freed than requested. The freed space stays free.
        @Test func reclaimOfMoreThanThereIs() throws {
            try withMount { mount in
                try mount.make("Library/Caches/f", size: 8192)
                #expect(throws: Errno.tryAgain) { try mount.write("12K", to: "storage.reclaim") }
                #expect(!mount.exists("Library/Caches/f"))
                #expect(throws: Errno.tryAgain) { try mount.write("1", to: "storage.reclaim") }
                for command in ["tmp", "caches", "purgeable", "all"] { try mount.write(command, to: "storage.reclaim") }
            }
        }

        /// Only the owner of the mount may use the control files.
        @Test func nobodyElseMayLook() throws {
            try withMount(["--total", "64M", "--allow-other"]) { mount in
                let script = "ls Documents && ! cat .purgefs/status.json && ! echo 1M > .purgefs/storage.others"
                try Program.run(DeviceFileTests.ordinaryUser + ["sh", "-c", script], in: mount.root).succeeded()
                #expect(try mount.number("storage.others") == 0)
            }
        }
    }
}
