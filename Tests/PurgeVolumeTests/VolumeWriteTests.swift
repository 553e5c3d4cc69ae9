import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeTree
@testable import PurgeVolume

/// Writes that fail or do less than was reserved: the ledger equals the content of the store.
struct VolumeWriteTests {
    /// Checks the volume's charged blocks, and that a scan of its store finds as many.
    private func expectScanned(_ live: LiveVolume, _ blocks: Int64, _ location: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(live.used == blocks, sourceLocation: location)
        let scanned = try live.scannedBlocks()
        #expect(scanned == blocks, sourceLocation: location)
    }

    @Test(arguments: [(EIO, EIO), (ENOSPC, EIO), (EDQUOT, EIO), (EFBIG, EFBIG)])
    func aFailedWriteChargesNothing(code: Int32, seen: Int32) throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 5000)
            #expect(throws: Errno(seen)) {
                try live.write(handle, at: 8192, 40000) { (_, _) throws(Errno) in throw Errno(code) }
            }
            try expectScanned(live, 2)
            #expect(try live.events(.hostFull).map(\.path) == (code == seen ? [] : ["Documents/f"]))
            #expect(try live.write(handle, at: 8192, 4096) == 4096)
            try expectScanned(live, 3)
        }
    }

    @Test func aFailedWriteThatBeganAHoleChargesNothing() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 4096)
            #expect(throws: Errno.ioError) {
                try live.write(handle, at: 40960, 8192) { (_, _) throws(Errno) in throw .ioError }
            }
            try expectScanned(live, 1)
            // Half of the write succeeded before the error.
            #expect(throws: Errno.ioError) {
                try live.write(handle, at: 40960, 8192) { (fd, _) throws(Errno) in
                    _ = try LiveVolume.put(fd, 4096, 40960)
                    throw .ioError
                }
            }
            try expectScanned(live, 2)
        }
    }

    @Test(arguments: [(0, 1), (1, 2), (4096, 2), (4097, 3), (20479, 6), (20480, 6)])
    func aShortWriteChargesWhatItWrote(done: Int, blocks: Int64) throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 4096)
            let count = try live.write(handle, at: 4096, 20480) { (fd, granted) throws(Errno) in
                #expect(granted == 20480)
                return done == 0 ? 0 : try LiveVolume.put(fd, done, 4096)
            }
            #expect(count == done)
            try expectScanned(live, blocks)
        }
    }

    @Test func aShortWriteIntoAFileWithHoles() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 81920, 4096)
            try live.allocate(handle, 1, 40960, 8192)
            #expect(live.used == 3)
            let count = try live.write(handle, at: 0, 40960) { (fd, _) throws(Errno) in
                try LiveVolume.put(fd, 4096, 0)
            }
            #expect(count == 4096)
            try expectScanned(live, 4)
            // Allocated blocks stay charged whatever the write does.
            _ = try live.write(handle, at: 36864, 20480) { (fd, _) throws(Errno) in try LiveVolume.put(fd, 4096, 36864)
            }
            try expectScanned(live, 5)
        }
    }

    /// Purged files stay purged, and the rest of the room is free again.
    @Test func aFailedWriteThatHadPurged() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 40)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(throws: Errno.ioError) {
                try live.write(handle, at: 0, 30 * 4096) { (_, _) throws(Errno) in throw .ioError }
            }
            #expect(!live.exists("tmp/a"))
            #expect(try live.blocks(.storageAvailable) == 64)
            try expectScanned(live, 0)
            #expect(live.volume.mayCacheAbsence("a", in: try live.node("tmp")))
        }
    }

    /// The set-user-ID bit of an immutable file cannot be cleared, so the write fails, and charges nothing.
    @Test(.needsImmutableFiles) func aWriteThatCannotDropPrivileges() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try Files.changeMode(live.stored("Documents/f"), 0o4755)
            try Immutable.with(live.stored("Documents/f")) {
                #expect(throws: Errno.notPermitted) {
                    try live.write(handle, at: 0, 40960, dropsPrivileges: true) { (fd, granted) throws(Errno) in
                        Issue.record("it was written")
                        return granted
                    }
                }
            }
            try expectScanned(live, 0)
            #expect(live.volume.mayCacheAbsence("a", in: try live.node("tmp")))
        }
    }

    /// The write has filled the last hole, but the attribute that records holes cannot be removed. The file is counted
    /// correctly even with the attribute.
    @Test(.needsImmutableFiles) func aWriteWhoseRecordCannotBeDropped() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 5 * 4096, 4096)
            let path = live.stored("Documents/f")
            let count = try live.write(handle, at: 0, 5 * 4096) { (fd, granted) throws(Errno) in
                defer { #expect((try? Program.run("chattr", "+i", path).status) == 0) }
                return try LiveVolume.put(fd, granted, 0)
            }
            #expect(count == 5 * 4096)
            try Program.run("chattr", "-i", path).succeeded()
            try expectScanned(live, 6)
            #expect(live.volume.mayCacheAbsence("a", in: try live.node("tmp")))
            try live.truncate(handle.node, handle, 4096)
            try expectScanned(live, 1)
        }
    }

    @Test func performGetsWhatFitsAndNoMore() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            try live.command(.storageOthers, "\(60 * 4096)")
            // The write goes from within block 0 to the end of block 3.
            #expect(try live.write(handle, at: 100, 100_000) == 4 * 4096 - 100)
            #expect(throws: Errno.noSpace) {
                try live.write(handle, at: 4 * 4096, 1) { (_, granted) throws(Errno) in granted }
            }
            #expect(try live.write(handle, at: 4000, 5000) == 5000)  // in place
            #expect(throws: Errno.noSpace) { try live.write(handle, at: 3 * 4096, 4097, isMapped: true) }
            try expectScanned(live, 4)
        }
    }

    @Test func refusedWritesAreCountedAndNotUses() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            try live.command(.storageOthers, "\(64 * 4096)")
            let before = handle.node.lastUse
            for _ in 0..<3 { #expect(throws: Errno.noSpace) { try live.write(handle, at: 0, 10000) } }
            #expect(handle.node.lastUse == before)
            #expect(live.volume.controlFiles.text(of: .storageStat).contains("refused.writes 3\n"))
            let event = try #require(try live.events(.refused).first)
            #expect(event.path == "tmp/f" && event.bytes == ByteCount(3 * 4096) && event.tier == .temporary)
            #expect(event.reason == "opportunistic" && event.pid == LiveVolume.tid)
        }
    }
}
