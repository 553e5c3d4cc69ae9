import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The files that a purge takes while others are open, hard-linked, empty or being purged (docs/RULES.md, Order of purging).
struct VolumePurgeTests {
    private func purged(_ live: LiveVolume) throws -> [String] { try live.events(.purge).compactMap(\.path) }

    @Test func openFilesArePassedOver() throws {
        try withVolume { live in
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 10) }
            let handle = try live.open("tmp/a", O_RDONLY)
            let second = try live.open("tmp/a", O_RDONLY)
            #expect(try live.blocks(.storageReclaimable) == 20)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/b"])
            live.volume.close(second)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/b", "tmp/c"])
            live.volume.noteRelease(handle)  // the request was read, but not served yet
            #expect(try live.blocks(.storageReclaimable) == 10)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/b", "tmp/c", "tmp/a"])
            live.volume.close(handle)
            #expect(live.used == 0)
        }
    }

    @Test func aWritePurgesJustEnoughInOrder() throws {
        try withVolume { live in
            try live.make("Documents/marked", blocks: 10)
            try live.mark("Documents/marked", "low")
            for path in ["Library/Caches/old", "Library/Caches/new", "tmp/old", "tmp/new"] {
                try live.make(path, blocks: 10)
            }
            try live.make("Documents/f", blocks: 15)  // 14 blocks were free
            #expect(try purged(live) == ["tmp/old"])
            try live.make("Documents/g", blocks: 35)  // 9 blocks are free
            #expect(try purged(live) == ["tmp/old", "tmp/new", "Library/Caches/old", "Library/Caches/new"])
            #expect(
                try live.events(.purge).map(\.trigger) == [
                    .importantWrite, .importantWrite, .importantWrite, .importantWrite,
                ])
            #expect(try live.events(.purge).map(\.reason) == ["temporary", "temporary", "caches", "caches"])
            #expect(live.exists("Documents/marked"))
            for path in ["tmp/old", "Library/Caches/new"] { #expect(!Files.exists(live.stored(path))) }
        }
    }

    @Test func whatCannotHelpPurgesNothing() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 10)
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(throws: Errno.noSpace) { try live.allocate(handle, 0, 0, 65 * 4096) }
            #expect(throws: Errno.noSpace) { try live.write(handle, at: 0, 65 * 4096, isMapped: true) }
            #expect(live.exists("tmp/a"))
            #expect(live.used == 10)
        }
    }

    @Test func opportunisticWritesNeverPurge() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 60)
            let handle = try live.create("Library/Caches/f")
            defer { live.volume.close(handle) }
            #expect(try live.write(handle, at: 0, 10 * 4096) == 4 * 4096)
            #expect(throws: Errno.noSpace) { try live.write(handle, at: 4 * 4096, 1) }
            #expect(live.exists("tmp/a"))
        }
    }

    @Test func readingAndAllocatingAreNoUses() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 5)
            let a = try live.open("tmp/a")
            try live.make("tmp/b", blocks: 5)
            try live.allocate(a, 0, 0, 6 * 4096)
            try live.truncate(a.node, a, 5 * 4096)
            live.volume.close(a)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/a"])
        }
    }

    @Test func writingIsAUse() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 5)
            let a = try live.open("tmp/a")
            try live.make("tmp/b", blocks: 5)
            try live.write(a, at: 0, 1)
            live.volume.close(a)
            try live.command(.storageReclaim, "4096")
            #expect(try purged(live) == ["tmp/b"])
        }
    }

    /// `passedOver` lists no open file that ranks after the last victim. The victim exceeded the directory's limit when it was
    /// chosen; without it, the directory is within the limit.
    @Test func filesOfALaterTurnAreNotPassedOver() throws {
        try withVolume { live in
            try live.makeDirectory("Library/Caches/d")
            try live.set("sizeLimit", of: "Library/Caches/d", to: "\(20 * 4096)")
            try live.make("Library/Caches/later", blocks: 10)
            let later = try live.open("Library/Caches/later", O_RDONLY)
            defer { live.volume.close(later) }
            try live.make("Library/Caches/d/victim", blocks: 21)
            try live.make("Documents/f", blocks: 34)  // 33 are free
            let purge = try #require(live.events(.purge).first)
            #expect(purge.path == "Library/Caches/d/victim" && purge.reason == "policySize")
            #expect(purge.passedOver == nil)
        }
    }

    /// Opening or linking a victim during its purge fails with ESTALE, so that the kernel looks the name up again.
    @Test func aFileThatIsBeingPurgedCannotBeOpened() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 10)
            let node = try live.node("tmp/a")
            var purge = live.volume.change { $0.choose(.all, trigger: .command, tid: 1) }
            #expect(live.used == 0)
            #expect(throws: Errno.stale) {
                try live.volume.open(node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: false)
            }
            #expect(throws: Errno.stale) {
                try live.volume.link(node, as: "b", in: live.volume.root, caller: LiveVolume.caller)
            }
            // A lookup of the name waits until the file is gone.
            let volume = live.volume
            let tmp = try live.node("tmp")
            let asking = Workers.start(1) { _ in
                #expect(throws: Errno.noEntry) { try volume.lookup("a", in: tmp, caller: LiveVolume.caller) }
            }
            let freed = volume.purgedNames.awaitingAnnouncements { volume.purger.carryOut(&purge, &$0) }
            try asking.join(within: 10)
            #expect(freed == ByteCount(blocks: 10))
            #expect(live.used == 0)
        }
    }

    @Test func emptyFilesAndLinksGoOnlyByName() throws {
        try withVolume { live in
            try live.make("tmp/full", blocks: 1)
            try live.make("tmp/empty", blocks: 0)
            try live.symlink("tmp/link")
            try live.symlink("Library/Caches/link")
            try live.make("Documents/empty", blocks: 0)
            #expect(throws: Errno.tryAgain) { try live.command(.storageReclaim, "1M") }
            #expect(live.exists("tmp/empty") && live.exists("tmp/link"))
            try live.command(.storageReclaim, "tmp")
            #expect(!live.exists("tmp/empty") && !live.exists("tmp/link") && live.exists("Library/Caches/link"))
            #expect(Set(try purged(live)) == ["tmp/full", "tmp/empty", "tmp/link"])
            try live.command(.storageReclaim, "all")
            #expect(!live.exists("Library/Caches/link") && live.exists("Documents/empty"))
        }
    }

    /// A plan and a purge both sort empty files by the bytes of their paths: `-` comes before `/`, and `/` before a digit.
    @Test(arguments: [[], ["full"]]) func emptyFilesGoInOrderOfPath(full: [String]) throws {
        let empty = ["a-", "d-/1", "d-/2", "d/0", "d/1", "d/10", "d/2", "d/link", "d0", "d9", "e", "z"]
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            try live.makeDirectory("tmp/d-")
            for name in empty.reversed() {
                if name == "d/link" { try live.symlink("tmp/d/link") } else { try live.make("tmp/" + name, blocks: 0) }
            }
            for name in full { try live.make("tmp/" + name, blocks: 1) }
            let handle = ControlHandle(file: .storagePlan, reader: nil)
            try live.volume.controlFiles.write(handle, Array("tmp".utf8), pid: LiveVolume.tid)
            let answer = live.volume.controlFiles.read(handle, offset: 0, limit: .max)
            let planned = String(decoding: answer, as: UTF8.self).split(separator: "\n").map { line in
                line.split(separator: "\"").first { $0.hasPrefix("tmp/") }.map(String.init)
            }
            let expected = (full + empty).map { "tmp/" + $0 }
            #expect(planned == expected)
            try live.command(.storageReclaim, "tmp")
            #expect(try purged(live) == expected)
        }
    }

    @Test func othersGoFirstInWholeBlocks() throws {
        try withVolume { live in
            try live.command(.storageOthers, "\(20 * 4096)")
            try live.command(.storageOthersPurgeable, "\(5 * 4096)")
            try live.make("tmp/a", blocks: 40)
            try live.make("Documents/f", blocks: 7)  // 4 blocks are free
            #expect(live.exists("tmp/a"))
            #expect(try live.blocks(.storageOthersPurgeable) == 2)
            #expect(try live.blocks(.storageOthers) == 17)
            try live.make("Documents/g", blocks: 3)
            #expect(try live.blocks(.storageOthersPurgeable) == 0)
            #expect(!live.exists("tmp/a"))
            let purged = try live.events(.purge).compactMap(\.bytes)
            #expect(purged == [3, 2, 40].map { ByteCount(blocks: $0) })
        }
    }
}
