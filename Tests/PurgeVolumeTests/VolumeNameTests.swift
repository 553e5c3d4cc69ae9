import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// Creation, renames and removal of names, and their refusals.
struct VolumeNameTests {
    @Test func aRefusedRenameChangesNothing() throws {
        try withVolume { live in
            try live.make("Library/Caches/f", blocks: 1)
            try live.make("tmp/g", blocks: 1)
            #expect(throws: Errno.invalid) { try live.rename("Library", "Library/Caches/Library") }
            #expect(throws: Errno.isDirectory) { try live.rename("tmp/g", "Documents") }
            #expect(throws: Errno.exists) { try live.rename("tmp/g", "Library/Caches/f", flags: 1) }
            #expect(throws: Errno.noEntry) { try live.rename("tmp/none", "Documents/none") }
            #expect(throws: Errno.invalid) { try live.rename("tmp/g", "tmp/h", flags: 4) }
            #expect(throws: Errno.notEmpty) { try live.rename("Documents", "Library") }
            let tiers = live.volume.status().tiers
            #expect(tiers.temporary.bytes == ByteCount(4096) && tiers.caches.bytes == ByteCount(4096))
            #expect(live.exists("tmp/g") && live.exists("Library/Caches/f"))
        }
    }

    @Test func aNameThatIsThereIsNotMadeAgain() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            #expect(throws: Errno.exists) { try live.create("tmp/f") }
            #expect(throws: Errno.exists) { try live.makeDirectory("tmp/f") }
            #expect(throws: Errno.exists) { try live.symlink("tmp/f") }
            #expect(throws: Errno.exists) { try live.link("tmp/f", "tmp/f") }
            #expect(live.used == 1)
        }
    }

    @Test func onlyEmptyDirectoriesAreRemoved() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            #expect(throws: Errno.notEmpty) { try live.removeDirectory("tmp") }
            #expect(throws: Errno.notDirectory) { try live.removeDirectory("tmp/f") }
            #expect(throws: Errno.isDirectory) { try live.unlink("tmp") }
            try live.unlink("tmp/f")
            try live.removeDirectory("tmp")
            #expect(!live.exists("tmp"))
        }
    }

    /// A refused link leaves the file purgeable.
    @Test func aRefusedLinkLeavesTheFileAsItWas() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 3)
            let long = String(repeating: "x", count: 256)
            #expect(throws: Errno.nameTooLong) { try live.link("tmp/f", "tmp/\(long)") }
            #expect(try live.blocks(.storageReclaimable) == 3)
            try live.command(.storageReclaim, "tmp")
            #expect(!live.exists("tmp/f") && live.used == 0)
        }
    }

    /// An unlinked file can be queried and opened again until its last descriptor is closed.
    @Test func anUnlinkedFileIsGoneWithItsLastDescriptor() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 3)
            let node = try live.volume.lookup("f", in: live.node("tmp"), caller: LiveVolume.caller).node
            let handle = try live.open("tmp/f")
            try live.unlink("tmp/f")
            #expect(try live.charged(node) == 3 * 4096)
            let second = try live.volume.open(
                node, flags: 0, caller: LiveVolume.caller, offersPassthrough: false)
            live.volume.close(handle)
            #expect(live.used == 3)
            live.volume.close(second)
            #expect(live.used == 0)
            #expect(throws: Errno.stale) { try live.charged(node) }
            #expect(throws: Errno.stale) {
                try live.volume.open(node, flags: 0, caller: LiveVolume.caller, offersPassthrough: false)
            }
            live.volume.forget(node, count: 1)
        }
    }

    /// The kernel can have these entries open while the daemon does not: a directory, and a FIFO, which the daemon never
    /// opens.
    @Test(arguments: [S_IFDIR | 0o755, S_IFIFO | 0o644])
    func whatWasRemovedWhileInUseCanBeChanged(_ mode: mode_t) throws {
        try withVolume { live in
            let (parent, name) = try live.place("tmp/e")
            if mode & S_IFMT == S_IFDIR {
                try live.makeDirectory("tmp/e")
            } else {
                let made = try live.volume.makeNode(name, in: parent, mode: mode, device: 0, caller: LiveVolume.caller)
                live.volume.forget(made.node, count: 1)
            }
            let node = try live.volume.lookup(name, in: parent, caller: LiveVolume.caller).node
            if node.isDirectory { try live.removeDirectory("tmp/e") } else { try live.unlink("tmp/e") }
            var change = AttributeChange(caller: LiveVolume.caller)
            change.mode = 0o600
            change.owner = geteuid()
            change.modificationTime = timespec(tv_sec: 5, tv_nsec: 6)
            let status = try live.announcing { (debt) throws(Errno) in
                try live.volume.setAttributes(of: node, handle: nil, change, debt: &debt)
            }.status
            #expect(status.st_mode & 0o7777 == 0o600 && status.st_nlink == 0)
            #expect(status.st_mtim.tv_sec == 5 && status.st_mtim.tv_nsec == 6)
            if node.isDirectory {
                try live.volume.extendedAttributes.set(
                    of: node, named: "user.a", to: [1], flags: 0, caller: LiveVolume.caller)
                #expect(
                    try live.volume.extendedAttributes.value(of: node, named: "user.a", caller: LiveVolume.caller) == [
                        1
                    ])
            }
            #expect(live.used == 0 && live.volume.status().tiers.temporary.files == 0)
            live.volume.forget(node, count: 1)
        }
    }

    /// A deep tree can be moved, and the file at its bottom is counted and purged at the new place.
    @Test func deepTrees() throws {
        try withVolume { live in
            var path = "Documents"
            for _ in 0..<60 {
                path += "/d"
                try live.makeDirectory(path)
            }
            try live.make("\(path)/f", blocks: 1)
            try live.rename("Documents/d/d", "tmp/d")
            #expect(live.volume.status().tiers.temporary.bytes == ByteCount(4096))
            try live.command(.storageReclaim, "tmp")
            #expect(live.used == 0)
        }
    }
}
