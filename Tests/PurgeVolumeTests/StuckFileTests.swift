import Glibc
import PurgeModel
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Purges of files that cannot be removed from the store, and so return to the ledger.
@Suite(.needsImmutableFiles)
struct StuckFileTests {
    @Test func theWriteIsAnErrorAndTheFileIsBack() throws {
        try withVolume { live in
            try live.make("tmp/stuck", blocks: 40)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try Immutable.with(live.stored("tmp")) {
                #expect(throws: Errno.ioError) {
                    try live.write(handle, at: 0, 30 * 4096) { (_, granted) throws(Errno) in
                        Issue.record("it was written")
                        return granted
                    }
                }
            }
            #expect(live.used == 40)
            #expect(try live.chargedBlocks("tmp/stuck") == 40)
            // The file no longer counts as reclaimable, because it cannot be purged.
            #expect(try live.blocks(.storageReclaimable) == 0)
            #expect(try live.blocks(.storageImportant) == 24)
            #expect(try live.events(.purge) == [])
            #expect(live.volume.controlFiles.text(of: .storageStat).contains("purged.files 0\n"))
            #expect(throws: Errno.noSpace) { try live.allocate(handle, 0, 0, 30 * 4096) }
            #expect(try live.scannedBlocks() == 40)
        }
    }

    /// The next files give the bytes that the stuck files promised to the write.
    @Test func othersGoInsteadOfIt() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            for name in ["one", "two"] { try live.make("tmp/d/\(name)", blocks: 10) }
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 10) }
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let count = try Immutable.with(live.stored("tmp/d")) { try live.write(handle, at: 0, 34 * 4096) }
            #expect(count == 34 * 4096)
            #expect(try live.events(.purge).map(\.path) == ["tmp/a", "tmp/b"])
            #expect(live.exists("tmp/d/one") && live.exists("tmp/d/two") && live.exists("tmp/c"))
            #expect(live.used == 64)
            #expect(try live.blocks(.storageReclaimable) == 10)
            #expect(try live.scannedBlocks() == 64)
        }
    }

    /// Bytes that others.purgeable gives instead are recorded and counted, like any purge of others.
    @Test func othersPurgeableGoesInsteadOfIt() throws {
        let moment = Moment()
        try withVolume(port: FakeKernel(on: .slowWork) { moment.come() }) { live in
            try live.command(.storageOthers, "\(20 * 4096)")
            try live.make("tmp/stuck", blocks: 40)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            // A part of others becomes purgeable after the file was chosen, and before its removal is tried.
            let volume = live.volume
            moment.run {
                try volume.controlFiles.write(
                    .init(file: .storageOthersPurgeable, reader: nil), Array("80K".utf8), pid: 1)
            }
            let count = try Immutable.with(live.stored("tmp")) { try live.write(handle, at: 0, 10 * 4096) }
            #expect(count == 10 * 4096)
            let purges = try live.events(.purge)
            #expect(purges.map(\.path) == [nil] && purges.map(\.reason) == ["others"])
            #expect(purges.map(\.bytes) == [ByteCount(blocks: 6)] && purges.map(\.trigger) == [.importantWrite])
            #expect(volume.controlFiles.text(of: .storageStat).contains("purged.files 0\npurged.bytes \(6 * 4096)\n"))
            #expect(try live.blocks(.storageOthers) == 14 && live.used == 50)
        }
    }

    @Test func theOthersOfThePurgeAreGone() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            try live.make("tmp/d/stuck", blocks: 10)
            try live.make("tmp/free", blocks: 10)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try Immutable.with(live.stored("tmp/d")) {
                #expect(throws: Errno.ioError) { try live.allocate(handle, 0, 0, 64 * 4096) }
            }
            #expect(live.exists("tmp/d/stuck") && !live.exists("tmp/free"))
            #expect(live.used == 10)
            #expect(try live.events(.purge).map(\.path) == ["tmp/free"])
            #expect(live.volume.mayCacheAbsence("free", in: try live.node("tmp")))
            #expect(try live.write(handle, at: 0, 64 * 4096) == 54 * 4096)
        }
    }

    @Test func reclaimSaysWhatCameBack() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            try live.make("tmp/d/stuck", blocks: 10)
            try live.make("tmp/free", blocks: 5)
            try Immutable.with(live.stored("tmp/d")) {
                #expect(throws: Errno.tryAgain) { try live.command(.storageReclaim, "\(12 * 4096)") }
            }
            #expect(live.used == 10)
            #expect(live.volume.controlFiles.text(of: .storageStat).contains("purged.files 1\npurged.bytes 20480\n"))
        }
    }

    @Test func itCanStillBeUsedAndRemoved() throws {
        try withVolume { live in
            try live.make("tmp/stuck", blocks: 4)
            try Immutable.with(live.stored("tmp")) { try live.command(.storageReclaim, "tmp") }
            let handle = try live.open("tmp/stuck")
            try live.write(handle, at: 16384, 4096)
            live.volume.close(handle)
            #expect(live.used == 5)
            try live.rename("tmp/stuck", "Library/Caches/f")
            #expect(live.volume.status().tiers.caches.bytes == ByteCount(blocks: 5))
            try live.unlink("Library/Caches/f")
            #expect(live.used == 0)
        }
    }

    @Test func theNextMountOffersItAgain() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.make("tmp/stuck", blocks: 4)
                try Immutable.with(live.stored("tmp")) { try live.command(.storageReclaim, "tmp") }
                #expect(try live.blocks(.storageReclaimable) == 0)
                live.volume.end()
            }
            #expect(try LiveVolume(store).blocks(.storageReclaimable) == 4)
        }
    }

    @Test func pressureGivesUpOnIt() throws {
        try withVolume { live in
            try live.make("tmp/stuck", blocks: 40)
            try live.volume.startThreads()
            try Immutable.with(live.stored("tmp")) {
                try live.command(.storageThresholds, "low 50%\nnearlow 50%\ndesired 50%")
            }
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "low\n")
            #expect(try live.blocks(.storageReclaimable) == 0)
            live.volume.end()
        }
    }
}
