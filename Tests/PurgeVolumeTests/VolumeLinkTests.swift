import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Hard-linked files, and inode numbers that other files get.
struct VolumeLinkTests {
    private func tiers(_ live: LiveVolume) -> [Int64] {
        let tiers = live.volume.status().tiers
        return [tiers.temporary, tiers.caches, tiers.persistent].map { $0.bytes.bytes / 4096 }
    }

    @Test func theMostDurableNameCounts() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            try live.make("tmp/d/f", blocks: 3)
            for number in 0..<50 { try live.link("tmp/d/f", "tmp/d/\(number)") }
            #expect(tiers(live) == [3, 0, 0])
            try live.link("tmp/d/f", "Library/Caches/f")
            #expect(tiers(live) == [0, 3, 0])
            try live.rename("tmp/d", "Documents/d")
            #expect(tiers(live) == [0, 0, 3])
            try live.rename("Documents/d", "Library/Caches/d")
            #expect(tiers(live) == [0, 3, 0])
            for number in 0..<50 { try live.unlink("Library/Caches/d/\(number)") }
            #expect(try live.blocks(.storageReclaimable) == 0)
            try live.unlink("Library/Caches/d/f")
            #expect(try live.blocks(.storageReclaimable) == 3)
            try live.rename("Library/Caches/f", "tmp/f")
            #expect(tiers(live) == [3, 0, 0])
            try live.command(.storageReclaim, "tmp")
            #expect(live.used == 0)
        }
    }

    @Test func excludedOnlyIfEachNameIs() throws {
        try withVolume { live in
            for name in ["a", "b"] { try live.makeDirectory("Documents/\(name)") }
            try live.make("Documents/a/f", blocks: 2)
            try live.link("Documents/a/f", "Documents/b/f")
            func excluded() -> Int64 { live.volume.status().marked.excludedFromBackup.bytes.bytes / 4096 }
            func exclude(_ path: String, _ value: String) throws(Errno) {
                try live.volume.extendedAttributes.set(
                    of: try live.node(path), named: "user.purgefs.isExcludedFromBackup", to: Array(value.utf8),
                    flags: 0, caller: LiveVolume.caller)
            }
            try exclude("Documents/a", "1")
            #expect(excluded() == 0)
            try exclude("Documents/b", "1")
            #expect(excluded() == 2)
            try live.link("Documents/a/f", "Documents/f")
            #expect(excluded() == 0)
            try live.unlink("Documents/f")
            #expect(excluded() == 2)
            try exclude("Documents/a", "0")
            #expect(excluded() == 0)
            try live.unlink("Documents/a/f")
            #expect(excluded() == 2)
        }
    }

    /// Purging the file's only name in the container would free nothing.
    @Test func aNameOutsideTheContainer() throws {
        try Scratch.with("volume") { scratch in
            let store = scratch.path + "/store"
            do {
                let live = try LiveVolume(store)
                for name in ["a", "b"] { try live.make("tmp/\(name)", blocks: 4) }
                try live.link("tmp/b", "tmp/c")
                try Files.link(live.stored("tmp/a"), scratch.path + "/outside")
                live.volume.end()
            }
            let live = try LiveVolume(store)
            #expect(live.used == 8)
            #expect(try live.blocks(.storageReclaimable) == 0)
            try live.unlink("tmp/c")
            #expect(try live.blocks(.storageReclaimable) == 4)
            try live.command(.storageReclaim, "all")
            #expect(live.exists("tmp/a") && !live.exists("tmp/b"))
            #expect(try live.blocks(.storageImportant) == 60)
        }
    }

    /// A file system may give a free inode number to the next file. For the old node, the new file is ESTALE.
    @Test func aNumberThatIsUsedAgainIsAnotherFile() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 1)
            let node = try live.node("tmp/a")
            var numbers: [UInt64] = []
            #expect(throws: Errno.stale) {
                try live.volume.access.reading(node) { (location) throws(Errno) in
                    for _ in 0..<20 where numbers.isEmpty || numbers.last != node.inode {
                        try live.unlink("tmp/a")
                        live.volume.close(try live.create("tmp/a"))
                        numbers.append(try live.node("tmp/a").inode)
                    }
                    return try location.status().st_ino
                }
            }
            #expect(!numbers.isEmpty)
        }
    }

    @Test func aNumberOnAnotherDeviceIsAnotherFile() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 1)
            let node = try live.node("tmp/a")
            var status = try Files.status(live.stored("tmp/a"))
            #expect(live.volume.access.isOwn(status, of: node))
            status.st_dev += 1
            #expect(!live.volume.access.isOwn(status, of: node))
        }
    }
}
