import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// File operations on holes, preallocated blocks, copies and locks.
    @Suite struct DataOperationTests {
        static let backings: [Backing] = [.ext4, .tmpfs, .xfs, .btrfs, .overlayfs]

        /// Each mode on 10 blocks of data, with the charged blocks and the size worked out by hand.
        static let allocations: [(mode: Int32, offset: Int64, length: Int64, blocks: Int64, size: Int64)] = [
            (Allocate.plain, 0, 40960, 10, 40960), (Allocate.plain, 40960, 1, 11, 40961),
            (Allocate.plain, 81919, 2, 12, 81921), (Allocate.keepSize, 40960, 8192, 12, 40960),
            (Allocate.keepSize, 0, 100, 10, 40960), (Allocate.punchHole, 0, 4096, 9, 40960),
            (Allocate.punchHole, 1, 4096, 10, 40960), (Allocate.punchHole, 4095, 8194, 8, 40960),
            (Allocate.punchHole, 4095, 8192, 9, 40960), (Allocate.punchHole, 0, 1 << 20, 0, 40960),
            (Allocate.punchHole, 40960, 4096, 10, 40960), (Allocate.zeroRange, 100, 5000, 10, 40960),
            (Allocate.zeroRange, 36864, 8192, 11, 45056), (Allocate.zeroRangeKeepSize, 36864, 8192, 11, 40960),
        ]

        @Test(arguments: backings) func modesOfFallocate(backing: Backing) throws {
            try withMount(on: backing) { mount in
                for (index, row) in Self.allocations.enumerated() {
                    let file = try OpenFile(mount.path("Documents/f"), O_RDWR | O_CREAT | O_TRUNC)
                    try file.fill(40960)
                    try file.allocate(row.mode, row.offset, row.length)
                    let status = try file.status()
                    #expect(Int64(status.st_blocks) == row.blocks * 8, "row \(index): \(row)")
                    #expect(Int64(status.st_size) == row.size, "row \(index)")
                    #expect(try mount.number("storage.used") == row.blocks * 4096, "row \(index)")
                    let isZeroed = row.mode != Allocate.plain && row.mode != Allocate.keepSize
                    let content = try file.read(Int(row.size))
                    for (offset, byte) in content.enumerated() {
                        let inRange = (row.offset..<row.offset + row.length).contains(Int64(offset))
                        let expected: UInt8 = offset >= 40960 || (isZeroed && inRange) ? 0 : 0xA7
                        guard byte == expected else {
                            Issue.record("row \(index): byte \(offset) is \(byte)")
                            break
                        }
                    }
                }
            }
        }

        @Test func badArgumentsOfFallocate() throws {
            try withMount { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.fill(8192)
                for mode in [Allocate.plain, Allocate.punchHole, Allocate.zeroRange] {
                    #expect(throws: Errno.invalid) { try file.allocate(mode, -1, 4096) }
                    #expect(throws: Errno.invalid) { try file.allocate(mode, 0, 0) }
                }
                #expect(throws: (any Error).self) { try file.allocate(2, 0, 4096) }  // PUNCH_HOLE alone
                #expect(throws: Errno.notSupported) { try file.allocate(8, 0, 4096) }  // COLLAPSE_RANGE
                #expect(throws: (any Error).self) { try file.allocate(Allocate.plain, 0, 1 << 62) }
                #expect(throws: Errno.badFileDescriptor) {
                    try OpenFile(mount.path("Documents/f"), O_RDONLY).allocate(Allocate.plain, 0, 1 << 20)
                }
                #expect(try file.status().st_size == 8192 && mount.number("storage.used") == 8192)
            }
        }

        @Test(arguments: backings) func holesAndData(backing: Backing) throws {
            try withMount(on: backing) { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                _ = try file.write(4096, at: 8 * 4096)
                _ = try file.write(4096, at: 20 * 4096)
                try file.truncate(40 * 4096)
                #expect(try file.seek(0, Seek.data) == 8 * 4096 && file.seek(0, Seek.hole) == 0)
                #expect(
                    try file.seek(8 * 4096, Seek.hole) == 9 * 4096 && file.seek(8 * 4096 + 5, Seek.data) == 8 * 4096 + 5
                )
                #expect(try file.seek(9 * 4096, Seek.data) == 20 * 4096 && file.seek(20 * 4096, Seek.hole) == 21 * 4096)
                #expect(throws: Errno.noSuchAddressOrDevice) { try file.seek(21 * 4096, Seek.data) }
                #expect(throws: Errno.noSuchAddressOrDevice) { try file.seek(40 * 4096, Seek.hole) }
                #expect(try file.status().st_blocks == 16)
                file.close()
                try mount.remount()
                #expect(try Files.charged(mount.path("Documents/f")) == 8192)
            }
        }

        @Test func copyFileRange() throws {
            try withMount { mount in
                let (from, to) = (try OpenFile(mount.path("Documents/a")), try OpenFile(mount.path("tmp/b")))
                try from.fill(10_000)
                _ = try from.write([1, 2, 3], at: 5000)
                #expect(try copy(from, 4999, to, 100, 20_000) == 5001)
                #expect(try to.status().st_size == 5101 && to.status().st_blocks == 16)
                #expect(try to.read(6, at: 99) == [0, 0xA7, 1, 2, 3, 0xA7])
                #expect(try copy(from, 10_000, to, 0, 100) == 0)
                #expect(try copy(from, 0, from, 8192, 4096) == 4096)
                #expect(throws: Errno.invalid) { try copy(from, 0, from, 100, 4096) }
                try mount.takeAllFreeSpace()
                #expect(throws: Errno.noSpace) { try copy(from, 0, to, 8192, 4096) }
                #expect(try copy(from, 0, to, 0, 8192) == 8192, "in place")
            }
        }
        private func copy(_ from: OpenFile, _ offset: Int64, _ to: OpenFile, _ target: Int64, _ count: Int)
            throws(Errno) -> Int
        {
            try System.copyRange(
                from: from.descriptor, offset: offset, to: to.descriptor, offset: target, length: count)
        }

        /// Locks work between processes, and are released when their holder dies.
        @Test(arguments: ["flock", "posix"]) func locks(kind: String) throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 100)
                let hold = kind == "flock" ? "fcntl.flock(f, fcntl.LOCK_EX)" : "fcntl.lockf(f, fcntl.LOCK_EX, 10, 5)"
                let script =
                    "import fcntl, time; f = open('Documents/f', 'r+'); \(hold); open('tmp/held', 'w').close(); time.sleep(1000)"
                let holder = try Program.start([Program.python, "-c", script], in: mount.root)
                try eventually("the lock is held") { mount.exists("tmp/held") }
                let file = try OpenFile(mount.path("Documents/f"), O_RDWR)
                #expect(!tryLock(file, kind))
                holder.signal(SIGKILL)
                try holder.wait(within: 10)
                try eventually("the lock is free") { tryLock(file, kind) }
            }
        }
        private func tryLock(_ file: OpenFile, _ kind: String) -> Bool {
            if kind == "flock" { return flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 }
            lseek(file.descriptor, 10, SEEK_SET)
            return lockf(file.descriptor, F_TLOCK, 1) == 0
        }

        @Test func blockingLocksCanBeInterrupted() throws {
            try withMount { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                #expect(tryLock(file, "flock"))
                let waiting = try Program.start(["flock", mount.path("Documents/f"), "true"])
                let patient = try Program.start(["flock", mount.path("Documents/f"), "true"])
                try mount.make("Documents/g", size: 1)  // a waiting process blocks no other
                waiting.signal(SIGTERM)
                #expect(try waiting.wait(within: 10) == 143)
                #expect(flock(file.descriptor, LOCK_UN) == 0)
                #expect(try patient.wait(within: 10) == 0)
            }
        }
    }
}
