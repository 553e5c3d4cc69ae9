import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// The announcing thread, and no other, still finds a purged name (docs/INTERNALS.md, Telling the kernel of a purge).
struct VolumeGhostTests {
    static let announcer = Caller(owner: 0, group: 0, tid: 99, umask: 0)

    /// Creates a kernel that holds announcements until it is told to finish them.
    static func holdingKernel() -> FakeKernel { FakeKernel(announcer: announcer.tid, holdsAnnouncements: true) }

    /// Creates a volume in which a write to `Documents/f` has purged `tmp/a` and not announced it yet. The kernel knows `tmp`.
    private func withGhost(_ body: (LiveVolume, Node, FakeKernel) throws -> Void) throws {
        let announcements = Self.holdingKernel()
        try withVolume(port: announcements) { live in
            _ = try live.volume.lookup("tmp", in: live.volume.root, caller: LiveVolume.caller)
            try live.make("tmp/a", blocks: 40)
            try live.make("Documents/f", blocks: 60)
            #expect(announcements.unfinished == 1)
            try body(live, try live.node("tmp"), announcements)
        }
    }

    @Test func theNameIsGoneForEverybodyElse() throws {
        try withGhost { live, tmp, _ in
            #expect(throws: Errno.noEntry) { try live.volume.lookup("a", in: tmp, caller: LiveVolume.caller) }
            #expect(throws: Errno.noEntry) { try live.unlink("tmp/a") }
            #expect(throws: Errno.noEntry) { try live.rename("tmp/a", "tmp/b") }
        }
    }

    @Test func theAnnouncerFindsAndRemovesIt() throws {
        try withGhost { live, tmp, _ in
            let entry = try live.volume.lookup("a", in: tmp, caller: Self.announcer)
            #expect(entry.attributes.status.st_mode & S_IFMT == S_IFREG)
            #expect(!entry.attributes.mayBeCached)
            try live.volume.unlink("a", in: tmp, caller: Self.announcer)
            live.volume.forget(entry.node, count: 1)
            #expect(throws: Errno.noEntry) { try live.volume.lookup("b", in: tmp, caller: Self.announcer) }
            #expect(throws: Errno.noEntry) { try live.volume.unlink("b", in: tmp, caller: Self.announcer) }
            let documents = try live.node("Documents")
            #expect(throws: Errno.noEntry) { try live.volume.lookup("a", in: documents, caller: Self.announcer) }
        }
    }

    /// If a link became a file, the kernel would consider the link broken, so the name keeps its type.
    @Test func itKeepsItsType() throws {
        let volume = Mutex<Volume?>(nil)
        let modes = Mutex<[String: mode_t]>([:])
        let kernel = FakeKernel(on: .announcing, announcer: Self.announcer.tid) {
            if let volume = volume.withLock({ $0 }), let tmp = volume.root.entry(named: Name("tmp")) {
                for name in ["link", "fifo", "empty"] {
                    guard let entry = try? volume.lookup(name, in: tmp, caller: Self.announcer) else { continue }
                    modes.withLock { $0[name] = entry.attributes.status.st_mode & S_IFMT }
                }
            }
        }
        try withVolume(port: kernel) { live in
            volume.withLock { $0 = live.volume }
            defer { volume.withLock { $0 = nil } }
            _ = try live.volume.lookup("tmp", in: live.volume.root, caller: LiveVolume.caller)
            try live.symlink("tmp/link")
            try live.makeFIFO("tmp/fifo")
            try live.make("tmp/empty", blocks: 0)
            try live.command(.storageReclaim, "tmp")
        }
        #expect(modes.withLock { $0 } == ["link": S_IFLNK, "fifo": S_IFIFO, "empty": S_IFREG])
    }

    @Test func itIsGoneOnceItHasBeenAnnounced() throws {
        try withGhost { live, tmp, announcements in
            #expect(!live.volume.mayCacheAbsence("a", in: tmp))
            #expect(live.volume.mayCacheAbsence("b", in: tmp))
            announcements.finish()
            #expect(throws: Errno.noEntry) { try live.volume.lookup("a", in: tmp, caller: Self.announcer) }
            #expect(throws: Errno.noEntry) { try live.volume.unlink("a", in: tmp, caller: Self.announcer) }
            #expect(live.volume.mayCacheAbsence("a", in: tmp))
        }
    }

    /// A successful unlink(2) by the announcer would make the kernel drop the new file's name.
    @Test func aNameThatWasMadeAnewIsNotTheAnnouncersToRemove() throws {
        try withGhost { live, tmp, announcements in
            try live.make("tmp/a", blocks: 1)
            #expect(throws: Errno.noEntry) { try live.volume.unlink("a", in: tmp, caller: Self.announcer) }
            #expect(live.exists("tmp/a") && Files.exists(live.stored("tmp/a")))
            announcements.finish()
            #expect(live.exists("tmp/a"))
            try live.unlink("tmp/a")
            #expect(!Files.exists(live.stored("tmp/a")))
        }
    }

    @Test func oneNamePurgedTwiceIsAGhostUntilTheSecondIsAnnounced() throws {
        try withGhost { live, tmp, announcements in
            try live.unlink("Documents/f")
            try live.make("tmp/a", blocks: 40)
            let handle = try live.create("Documents/g")
            defer { live.volume.close(handle) }
            let request = WriteRequest(
                offset: 0, length: 60 * 4096, isMapped: false, dropsPrivileges: false, tid: 1)
            let unpaid = live.volume.answering { (debt) throws(Errno) in
                try live.volume.fileData.write(
                    handle, request,
                    TestData { (fd, bytes) throws(Errno) in try LiveVolume.put(fd, bytes.count, 0) }, debt: &debt)
            }
            let directories = unpaid.debt.removals.map { String(decoding: $0.purgedName.directoryPath, as: UTF8.self) }
            #expect(directories == ["tmp"])
            announcements.finish()  // the first announcement
            #expect(!live.volume.mayCacheAbsence("a", in: tmp))
            let done = Tally()
            unpaid.pay { _ in
                done.add(100)
            } later: {
                { _ in done.add() }
            }
            #expect(done.value == 0)
            announcements.finish()
            #expect(done.value == 1)
            #expect(live.volume.mayCacheAbsence("a", in: tmp))
        }
    }

    /// Nothing is announced in a directory that the kernel does not know.
    @Test func ofAnUnknownDirectoryNothingIsToBeTold() throws {
        let announcements = Self.holdingKernel()
        try withVolume(port: announcements) { live in
            try live.make("tmp/a", blocks: 40)
            let tmp = try live.node("tmp")
            var purge = live.volume.change { $0.choose(.all, trigger: .command, tid: 1) }
            let unpaid = live.volume.answering { debt in _ = live.volume.purger.carryOut(&purge, &debt) }
            let concernsKernel = unpaid.debt.removals.map(\.concernsKernel)
            #expect(concernsKernel == [false])
            #expect(live.volume.mayCacheAbsence("a", in: tmp))
            try unpaid.announced()
        }
    }

    /// While there is no announcer (pid 0), a caller whose pid is unknown (0) is not mistaken for the announcer.
    @Test func nobodyIsNotTheAnnouncer() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.unlink("tmp/f", caller: .nobody)
            #expect(!live.exists("tmp/f"))
        }
    }
}
