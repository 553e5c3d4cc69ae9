import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Damaged backups, and restores that are interrupted.
    @Suite struct BackupDamageTests {
        /// Passes `body` a directory that contains two backups of one store: the directory `backup` and the archive `stream`.
        private func withBackup(files: Int, _ body: (String) throws -> Void) throws {
            try withMount(["--total", "16G"]) { mount in
                try BackupTests.program("backup_tree", mount.root, String(files)).succeeded()
                try mount.unmount()
                let place = "\(mount.scratch)/place"
                try Files.makeDirectory(place)
                try PurgefsBinary.run("backup", "create", mount.store, "--output", "\(place)/backup").succeeded()
                try Program.shell(
                    "'\(PurgefsBinary.path)' backup create '\(mount.store)' --output - >stream", in: place
                )
                .succeeded()
                // Without the original store, restore has nothing to compare the result with.
                try Files.rename(mount.store, "\(mount.scratch)/away")
                try body(place)
                try Files.rename("\(mount.scratch)/away", mount.store)
            }
        }

        /// Expects `restore` to fail and to leave nothing behind. Returns its message.
        private func expectRefusal(_ backup: String, in place: String) throws -> String {
            let outcome = try PurgefsBinary.run("backup", "restore", backup, "restored", in: place)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("Nothing was restored"), "\(outcome)")
            #expect(try Files.names(in: place) == ["backup", "stream"])
            return outcome.errors
        }

        private func change(_ path: String, at offset: Int64, by mask: UInt8) throws {
            let file = try FileDescriptor.open(path, O_RDWR)
            var byte: [UInt8] = [0]
            _ = byte.withUnsafeMutableBytes { pread(file.raw, $0.baseAddress, 1, off_t(offset)) }
            byte[0] ^= mask
            #expect(pwrite(file.raw, byte, 1, off_t(offset)) == 1)
        }

        @Test func flippedBytes() throws {
            try withBackup(files: 60) { place in
                var random = SeededGenerator(seed: 5)
                for (file, count) in [("data.tar", 200), ("manifest.json", 60)] {
                    let path = "\(place)/backup/\(file)"
                    let size = try Files.size(path)
                    for _ in 0..<Scale.of(count) {
                        let offset = Int64.random(in: 0..<size, using: &random)
                        let mask = UInt8.random(in: 1...255, using: &random)
                        try change(path, at: offset, by: mask)
                        _ = try expectRefusal("backup", in: place)
                        try change(path, at: offset, by: mask)
                    }
                }
                try PurgefsBinary.run("backup", "restore", "backup", "restored", in: place).succeeded()
            }
        }

        @Test func cutOff() throws {
            try withBackup(files: 60) { place in
                var random = SeededGenerator(seed: 6)
                for file in ["backup/data.tar", "backup/manifest.json", "stream"] {
                    let path = "\(place)/\(file)"
                    let size = try Files.size(path)
                    try Program.run("cp", "--sparse=never", path, "\(place)/../whole").succeeded()
                    let lengths =
                        [0, 1, 511, 512, 1024, size - 1, size - 512, size - 1023]
                        + (0..<Scale.of(40)).map { _ in
                            Int64.random(in: 0..<size, using: &random)
                        }
                    for length in lengths {
                        try Files.truncate(path, length)
                        _ = try expectRefusal(file == "stream" ? "stream" : "backup", in: place)
                        try Program.run("cp", "\(place)/../whole", path).succeeded()
                    }
                }
            }
        }

        /// Bytes between the entries of a stream have no checksum. If such a byte is flipped, the restored files are still
        /// right.
        @Test func flippedBytesInAStream() throws {
            try withBackup(files: 60) { place in
                try PurgefsBinary.run("backup", "restore", "stream", "../right", in: place).succeeded()
                var random = SeededGenerator(seed: 7)
                let size = try Files.size("\(place)/stream")
                var refused = 0
                for _ in 0..<Scale.of(80) {
                    let offset = Int64.random(in: 0..<size, using: &random)
                    try change("\(place)/stream", at: offset, by: 0x41)
                    let outcome = try PurgefsBinary.run("backup", "restore", "stream", "restored", in: place)
                    if outcome.status == 0 {
                        let found = try BackupTests.program(
                            "backup_compare", "\(place)/../right/container", "\(place)/restored/container")
                        let text = try found.succeeded()
                        #expect(text == "time Library/Caches\ntime tmp\n")
                        try Program.run("rm", "-r", "\(place)/restored").succeeded()
                    } else {
                        refused += 1
                        #expect(try Files.names(in: place) == ["backup", "stream"], "\(outcome)")
                    }
                    try change("\(place)/stream", at: offset, by: 0x41)
                }
                #expect(refused > Scale.of(60))
            }
        }

        /// Backups with correct checksums and hostile content are refused. Only a time outside a file system's range is
        /// accepted, and becomes the nearest valid one.
        @Test func hostile() throws {
            try Scratch.with("hostile") { scratch in
                let lines = try BackupTests.program("backup_hostile", PurgefsBinary.path, scratch.path).succeeded()
                    .split(separator: "\n").map(String.init)
                #expect(
                    lines.filter { !$0.hasPrefix("refused ") } == [
                        "restored right", "restored late", "restored long ago",
                    ])
                #expect(lines.count > 60)
            }
        }

        /// A killed restore may itself have been removing leftovers, after it moved deep folders up. The next one succeeds.
        @Test func killedWhileRemovingWhatAKilledOneHasLeft() throws {
            try withBackup(files: 10) { place in
                let hidden = "\(place)/.restored.unfinished-restore"
                for folder in ["", "/purgefs-unfinished", "/purgefs-unfinished/purgefs-remove.1"] {
                    try Files.makeDirectory(hidden + folder, mode: 0o700)
                }
                try PurgefsBinary.run("backup", "restore", "backup", "restored", in: place).succeeded()
                #expect(try Files.names(in: place) == ["backup", "restored", "stream"])
            }
        }

        /// Restores into `place` under strace, which kills the program at the given call that takes a file name. Returns the
        /// number of such calls.
        private func restore(in place: String, killedAt number: Int?) throws -> Int {
            let kill = number.map { ["-e", "inject=%file:signal=KILL:when=\($0)"] } ?? []
            let outcome = try Program.run(
                ["strace", "-f", "-o", "../trace", "-e", "trace=%file"] + kill
                    + [PurgefsBinary.path, "backup", "restore", "backup", "restored"], in: place, timeout: 120)
            if number == nil { try outcome.succeeded() }
            return Files.text("\(place)/../trace").split(separator: "\n").count
        }

        /// After a kill, the store is either complete or absent, and the next call removes the leftovers.
        @Test func killed() throws {
            try withBackup(files: 400) { place in
                let calls = try restore(in: place, killedAt: nil)
                func count() throws -> String {
                    try Program.shell("find restored -printf x | wc -c", in: place).succeeded()
                }
                let entries = try count()
                var partial = 0
                var random = SeededGenerator(seed: 8)
                for number in [calls / 2] + (1..<max(8, Scale.of(64))).map({ _ in 1 + random.below(calls) }) {
                    if Files.exists("\(place)/restored") {
                        try Program.run("rm", "-r", "\(place)/restored").succeeded()
                    }
                    _ = try restore(in: place, killedAt: number)
                    if Files.exists("\(place)/restored") {
                        let found = try count()
                        #expect(found == entries, "call \(number)")
                        try PurgefsBinary.run("check", "restored", in: place).succeeded()
                    } else if Files.exists("\(place)/.restored.unfinished-restore") {
                        partial += 1
                    }
                }
                #expect(partial > 0)
                if !Files.exists("\(place)/restored") {
                    try PurgefsBinary.run("backup", "restore", "backup", "restored", in: place).succeeded()
                }
                // A restore that was killed after the final rename leaves an empty directory.
                _ = try? Files.removeDirectory("\(place)/.restored.unfinished-restore")
                #expect(try Files.names(in: place) == ["backup", "restored", "stream"])
            }
        }

        /// A restore that a signal interrupts leaves nothing behind, and its exit status tells which signal it was.
        @Test(arguments: [SIGINT, SIGTERM]) func interrupted(signal: Int32) throws {
            try withBackup(files: 200) { place in
                // Nobody writes to this FIFO, so the restore waits.
                let child = try Program.start(
                    [
                        "sh", "-c",
                        "mkfifo ../in; exec 3<>../in; exec '\(PurgefsBinary.path)' backup restore - restored <&3",
                    ],
                    in: place)
                try eventually("a restoration that waits") {
                    Files.text("/proc/\(child.pid)/status").contains("SigBlk:\t0000000000004007")
                }
                child.signal(signal)
                #expect(try child.wait(within: 10) == 128 + signal)
                #expect(try Files.names(in: place) == ["backup", "stream"])
                try Files.unlink("\(place)/../in")
            }
        }
    }
}
