import Glibc
import PurgeModel
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeTree
@testable import PurgeVolume

/// A reboot removes everything in `tmp`.
struct EmptiedFolderTests {
    private func empty(_ live: LiveVolume) {
        let folder = EmptiedFolder(core: live.volume.core, work: .reboot, pid: LiveVolume.tid)
        _ = live.volume.purgedNames.awaitingAnnouncements { debt in folder.empty(&debt) }
    }
    private func stored(_ live: LiveVolume) throws -> [String] { try Files.names(in: live.stored("tmp")) }

    @Test func everythingGoes() throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            try live.make("tmp/a", blocks: 2)
            try live.make("tmp/empty", blocks: 0)
            try live.symlink("tmp/link")
            try live.makeFIFO("tmp/fifo")
            for folder in ["tmp/d", "tmp/d/e", "tmp/d/none"] { try live.makeDirectory(folder) }
            try live.make("tmp/d/e/deep", blocks: 3)
            try live.make("Documents/kept", blocks: 4)
            try live.make("Library/Caches/kept", blocks: 5)
            empty(live)
            #expect(try stored(live).isEmpty && live.exists("tmp"))
            #expect(live.used == 9)
            #expect(try live.scannedBlocks() == 9)
            #expect(
                kernel.removed(folders: false) == ["tmp/a", "tmp/d/e/deep", "tmp/empty", "tmp/fifo", "tmp/link"])
            #expect(kernel.removed(folders: true) == ["tmp/d", "tmp/d/e", "tmp/d/none"])
            #expect(kernel.reports.isEmpty)
            let purges = try live.events(.purge)
            #expect(purges.compactMap(\.path).sorted() == kernel.removed(folders: false))
            #expect(purges.allSatisfy { $0.reason == "reboot" && $0.trigger == .reboot && $0.tier == .temporary })
            #expect(purges.reduce(0) { $0 + ($1.bytes?.wholeBlocks ?? 0) } == 5)
            let counters = live.volume.status().counters
            #expect(counters.purgedFiles == 5 && counters.purgedBytes == 5 * 4096)
        }
    }

    /// The event has the tier of the removed name, even if the file has a name in a more durable place.
    @Test(arguments: [true, false]) func theTierOfTheNameThatGoes(byReset: Bool) throws {
        try withVolume { live in
            try live.make("Documents/a", blocks: 1)
            try live.link("Documents/a", "tmp/a")
            #expect(try live.node("tmp/a").standing.tier == .persistent)
            if byReset {
                try live.set("purgeAfter", of: "tmp", to: "1d")
                try live.command(.storagePolicies, "reset")
            } else {
                empty(live)
            }
            #expect(live.exists("Documents/a"))
            let gone = try live.events(.purge).map { "\($0.path ?? "") \($0.tier?.rawValue ?? "")" }
            #expect(gone == ["tmp/a temporary"])
        }
    }

    /// An open file is charged until its last close, and its data stays accessible until then.
    @Test func whatIsOpenGoesToo() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 2)
            let handle = try live.open("tmp/a")
            empty(live)
            #expect(try stored(live).isEmpty && !live.exists("tmp/a"))
            #expect(live.used == 2)
            #expect(try live.charged(handle.node) == 2 * 4096)
            #expect(try live.events(.purge).map(\.bytes) == [.zero])
            try live.write(handle, at: 2 * 4096, 4096)
            #expect(live.used == 3)
            live.volume.close(handle)
            #expect(live.used == 0)
            #expect(try live.scannedBlocks() == 0)
        }
    }

    /// A call by descriptor that meets the removal waits for it, and still finds the file.
    @Test func whatIsOpenCanBeChangedMeanwhile() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 2)
            let handle = try live.open("tmp/a")
            let volume = live.volume
            let isDone = Gate()
            let errors = Mutex<[Errno]>([])
            let seen = isDone.generation
            var changer: WorkThread?
            let start = {
                changer = try? WorkThread(name: "changer") {
                    defer { isDone.advance() }
                    var change = AttributeChange(caller: LiveVolume.caller)
                    change.mode = 0o600
                    do throws(Errno) {
                        _ = try volume.answering { (debt) throws(Errno) in
                            try volume.setAttributes(of: handle.node, handle: handle, change, debt: &debt)
                        }.announced()
                    } catch { errors.withLock { $0.append(error) } }
                }
                // The call must wait until the file is gone.
                _ = isDone.wait(while: seen, milliseconds: 200)
            }
            let outcome = SystemCallFaults.running(start, before: .unlinkat) { empty(live) }
            try outcome.result.get()
            changer?.join()
            #expect(errors.withLock { $0 } == [])
            #expect(try System.status(handle.descriptor).st_mode & 0o777 == 0o600)
            live.volume.close(handle)
            #expect(live.used == 0)
        }
    }

    /// While ageing waits for an old folder, a new one takes its name.
    @Test func aNewFolderUnderAnOldNameStays() throws {
        try withVolume { live in
            for folder in ["tmp/d", "Documents/new"] { try live.makeDirectory(folder) }
            try Files.setModificationTime(live.stored("tmp/d"), secondsAgo: 30 * 86_400)
            let volume = live.volume
            let isDone = Gate()
            let seen = isDone.generation
            var ageing: WorkThread?
            let start = {
                ageing = try? WorkThread(name: "ageing") {
                    defer { isDone.advance() }
                    let folder = EmptiedFolder(core: volume.core, work: .ageing(volume.clock.now), pid: LiveVolume.tid)
                    _ = volume.purgedNames.awaitingAnnouncements { debt in folder.empty(&debt) }
                }
                // The exchange holds both folders, so ageing waits for it.
                _ = isDone.wait(while: seen, milliseconds: 200)
            }
            let outcome = SystemCallFaults.running(start, before: .renameat2) {
                try live.rename("tmp/d", "Documents/new", flags: System.renameExchange)
            }
            try outcome.result.get()
            try #require(ageing).join()
            #expect(live.exists("tmp/d") && live.exists("Documents/new"))
        }
    }

    @Test func aNameElsewhereStays() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 2)
            try live.link("tmp/a", "Documents/b")
            empty(live)
            #expect(try stored(live).isEmpty && live.exists("Documents/b"))
            #expect(live.volume.status().tiers.persistent.bytes.wholeBlocks == 2)
            #expect(try live.scannedBlocks() == 2)
        }
    }

    @Test func theNamesCanBeUsedAgain() throws {
        try withVolume { live in
            try live.makeDirectory("tmp/d")
            try live.make("tmp/d/a", blocks: 2)
            empty(live)
            try live.make("tmp/d", blocks: 1)
            #expect(try stored(live) == ["d"])
            #expect(live.used == 1)
        }
    }

    /// A failure does not stop the removal of the rest, and the next attempt removes the file.
    @Test func whatCannotBeRemovedStays() throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            try live.makeDirectory("tmp/d")
            for name in ["a", "b", "c"] { try live.make("tmp/d/\(name)", blocks: 1) }
            let outcome = SystemCallFaults(after: 0, of: .unlinkat, code: EIO).during { empty(live) }
            try outcome.result.get()
            #expect(outcome.hits == 1)
            #expect(try stored(live) == ["d"])
            #expect(try Files.names(in: live.stored("tmp/d")).count == 1)
            #expect(live.used == 1)
            #expect(kernel.reports.count == 1)
            empty(live)
            #expect(try stored(live).isEmpty)
            #expect(live.used == 0)
        }
    }

    @Test func pressureIsJudgedAsItGetsEmpty() throws {
        try withVolume(settings: {
            LiveVolume.small(&$0)
            $0.thresholds = .documented
        }) { live in
            try live.make("Documents/a", blocks: 30)
            try live.make("tmp/a", blocks: 26)
            try live.command(.storageOthers, "\(5 * 4096)")
            #expect(live.volume.device.level == .veryLow)
            empty(live)
            #expect(live.volume.device.level == .normal)
            let told = try live.journal().filter { $0.type == .purge || $0.type == .pressure }
            #expect(told.suffix(2).map(\.type) == [.purge, .pressure])
        }
    }
}
