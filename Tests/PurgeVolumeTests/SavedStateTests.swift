import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// State that the next volume over the same store finds.
struct SavedStateTests {
    @Test func settings() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.storageTotal, "1000000")
                try live.command(.storageOthers, "300000")
                try live.command(.storageOthersPurgeable, "100000")
                try live.command(.storageThresholds, "low 10%\nnearlow 20%\ndesired 400K")
                live.volume.end()
            }
            let next = try LiveVolume(store) { _ in }
            // storage.total is rounded down to a block, and the two numbers of others are rounded up.
            #expect(try next.bytes(.storageTotal) == 999_424)
            #expect(try next.bytes(.storageOthers) == 303_104)
            #expect(try next.bytes(.storageOthersPurgeable) == 102_400)
            #expect(
                next.volume.controlFiles.text(of: .storageThresholds)
                    == "verylow 0\nlow 102400\nnearlow 200704\ndesired 409600\n")
            // A percentage follows total, a size does not.
            try next.command(.storageTotal, "2000000")
            #expect(
                next.volume.controlFiles.text(of: .storageThresholds)
                    == "verylow 0\nlow 200704\nnearlow 401408\ndesired 409600\n")
        }
    }

    @Test func countersAndWhatAPurgeTookFromOthers() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.storageOthers, "40960")
                try live.command(.storageOthersPurgeable, "40960")
                try live.make("tmp/a", blocks: 3)
                try live.command(.storageReclaim, "\(11 * 4096)")
                live.volume.end()
            }
            let next = try LiveVolume(store) { _ in }
            #expect(try next.bytes(.storageOthers) == 0)
            #expect(
                next.volume.controlFiles.text(of: .storageStat).contains("purged.files 1\npurged.bytes \(13 * 4096)\n"))
        }
    }

    @Test func lastUsesOrderThePurgesOfTheNextMount() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            for name in ["a", "b", "c", "d"] { try live.make("tmp/\(name)", blocks: 1) }
            for name in ["c", "a"] { live.volume.close(try live.open("tmp/\(name)", O_RDONLY)) }
            let uses = try ["a", "b", "c", "d"].map { try live.node("tmp/\($0)").lastUse }
            live.volume.end()
            live = try LiveVolume(after: live)
            #expect(try ["a", "b", "c", "d"].map { try live.node("tmp/\($0)").lastUse } == uses)
            for _ in 0..<4 { try live.command(.storageReclaim, "4096") }
            #expect(try live.events(.purge).map(\.path) == ["tmp/b", "tmp/d", "tmp/c", "tmp/a"])
        }
    }

    /// A new file may get the inode number of a removed file, but not its last use.
    @Test func aFileOfTheSameNumberIsAnother() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            try live.make("tmp/old", blocks: 1)
            let inode = try live.node("tmp/old").inode
            live.volume.end()
            live = try LiveVolume(after: live)
            let path = live.stored("tmp/old")
            live.volume.end()
            try Files.unlink(path)
            var again: String?
            for number in 0..<50 where again == nil {
                let path = live.stored("tmp/\(number)")
                try Files.make(path, size: 4096)
                if UInt64(try Files.status(path).st_ino) == inode { again = "tmp/\(number)" }
            }
            guard let again else { return }  // this file system gives other numbers
            let born = try System.birthTime(at: AT_FDCWD, live.stored(again))
            live = try LiveVolume(after: live)
            #expect(try live.node(again).lastUse.nanoseconds >= born)
        }
    }

    /// An app may set any mtime, so a file without a recorded use and with an mtime in the future counts as used now.
    @Test func filesPutThereMeanwhile() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            live.volume.end()
            let path = live.stored("tmp/f")
            try Files.make(path, size: 5000)
            let born = try System.birthTime(at: AT_FDCWD, path)
            let future = timespec(tv_sec: 4_000_000_000, tv_nsec: 0)
            try System.setTimes(at: AT_FDCWD, path, access: future, modification: future)
            live = try LiveVolume(after: live)
            let use = try live.node("tmp/f").lastUse.nanoseconds
            #expect(use >= born && use <= System.now())
            #expect(live.used == 2)
        }
    }

    @Test func marksAndExclusions() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            try live.makeDirectory("Documents/a")
            try live.make("Documents/a/f", blocks: 2)
            try live.mark("Documents/a", "medium")
            let name = "com.apple.metadata:com_apple_backup_excludeItem"
            try live.volume.extendedAttributes.set(
                of: live.node("Documents/a"), named: name, to: [1], flags: 0, caller: LiveVolume.caller)
            live.volume.end()
            live = try LiveVolume(after: live)
            #expect(try live.blocks(.storageReclaimable) == 2)
            #expect(live.volume.status().marked.excludedFromBackup.bytes == ByteCount(blocks: 2))
            let value = try live.volume.extendedAttributes.value(
                of: live.node("Documents/a"), named: name, caller: LiveVolume.caller)
            #expect(value == ApplesList.bytes)
        }
    }

    @Test func holesAndBlocksPastTheEnd() throws {
        try withStore { store in
            var live = try LiveVolume(store)
            let handle = try live.create("Documents/f")
            try live.write(handle, at: 40960, 1)
            try live.allocate(handle, 1, 409_600, 8192)
            try live.allocate(handle, 0, 4096, 4096)
            #expect(live.used == 4)
            live.volume.close(handle)
            live.volume.end()
            live = try LiveVolume(after: live)
            #expect(live.used == 4)
            try live.truncate("Documents/f", 40960)
            #expect(live.used == 1)
        }
    }
}
