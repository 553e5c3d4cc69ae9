import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Files that a purge empties instead of removing them (docs/RULES.md, Tombstones).
struct TombstoneTests {
    /// Creates a volume in which `Library/Caches/d` leaves tombstones.
    private func withTombstones(port: any KernelPort = NoKernel(), _ body: (LiveVolume) throws -> Void) throws {
        try withVolume(port: port) { live in
            try live.makeDirectory("Library/Caches/d")
            try live.set("purgeTombstone", of: "Library/Caches/d", to: "1")
            try body(live)
        }
    }

    private func size(_ live: LiveVolume, _ path: String) throws -> Int64 {
        try live.volume.attributes(of: try live.node(path)).status.size
    }

    /// Without a second lookup, a kernel that does not know the file yet would get the old size.
    @Test func aLookupThatAPurgeHasOvertakenIsRepeated() throws {
        try withVolume { live in
            try live.makeDirectory("Library/Caches/t")
            try live.set("purgeTombstone", of: "Library/Caches/t", to: "1")
            try live.make("Library/Caches/t/file", blocks: 2)
            let (core, parent) = (live.volume.core, try live.node("Library/Caches/t"))
            let lookups = Lookups(core: core)
            func status() throws -> (Int, FileStatus) {
                (core.filesEmptied.load(ordering: .relaxed), try Files.status(live.stored("Library/Caches/t/file")))
            }
            let (before, old) = try status()
            try live.command(.storageReclaim, "caches")
            #expect(lookups.lookup(Name("file"), old, in: parent, emptied: before) == nil)
            let (after, new) = try status()
            let entry = try #require(lookups.lookup(Name("file"), new, in: parent, emptied: after))
            #expect(entry.attributes.status.st_size == 0 && entry.attributes.status.st_blocks == 0)
            live.volume.forget(entry.node, count: 1)
        }
    }

    @Test func theFileKeepsAllButItsData() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            try live.set("com.example.kept", of: "Library/Caches/d/a", to: "v")
            try live.set("isExcludedFromBackup", of: "Library/Caches/d/a", to: "1")
            try Files.setModificationTime(live.stored("Library/Caches/d/a"), secondsAgo: 1)
            let before = try Files.status(live.stored("Library/Caches/d/a"))
            let use = try live.node("Library/Caches/d/a").lastUse
            try live.command(.storageReclaim, "caches")
            let after = try Files.status(live.stored("Library/Caches/d/a"))
            #expect(after.st_size == 0 && after.st_ino == before.st_ino && after.st_mode == before.st_mode)
            #expect(Instant(after.st_mtim) > Instant(before.st_mtim))
            #expect(try live.node("Library/Caches/d/a").lastUse == use)
            #expect(try size(live, "Library/Caches/d/a") == 0)
            #expect(
                try Support.Attributes.names(live.stored("Library/Caches/d/a"))
                    == ["user.purgefs.isExcludedFromBackup", "user.purgefs.raw.com.example.kept"])
            #expect(live.used == 0)
            #expect(try live.scannedBlocks() == 0)
            #expect(live.volume.controlFiles.text(of: .storageStat).contains("purged.files 1\npurged.bytes 20480\n"))
            let event = try #require(try live.events(.purge).first)
            #expect(event.tombstone == true && event.reason == "caches" && event.bytes == ByteCount(blocks: 5))
            #expect(event.path == "Library/Caches/d/a" && event.trigger == .command)
        }
    }

    /// An emptied file can be written again, and is then purged again.
    @Test func anEmptiedFileIsNoVictimUntilItHasData() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            try live.make("Library/Caches/d/empty", blocks: 0)
            try live.symlink("Library/Caches/d/link")
            try live.make("Library/Caches/empty", blocks: 0)
            for _ in 0..<2 { try live.command(.storageReclaim, "all") }
            #expect(
                try live.events(.purge).map { [$0.path, $0.tombstone == true ? "emptied" : "removed"] } == [
                    ["Library/Caches/d/a", "emptied"], ["Library/Caches/d/link", "removed"],
                    ["Library/Caches/empty", "removed"],
                ])
            #expect(try Files.names(in: live.stored("Library/Caches/d")) == ["a", "empty"])
            let handle = try live.open("Library/Caches/d/a")
            try live.write(handle, at: 0, 2 * 4096)
            live.volume.close(handle)
            #expect(try live.blocks(.storageReclaimable) == 2)
            try live.command(.storageReclaim, "4096")
            #expect(try live.events(.purge).count == 4 && live.used == 0)
        }
    }

    /// An empty file that a command names is neither purged nor refused.
    @Test func commandsThatNameItEmptyItToo() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            let line = #"{"path":"Library/Caches/d/a","reason":"caches","bytes":20480,"tombstone":true}"# + "\n"
            for (file, expected) in [
                (.storagePlan, line), (.storageReclaim, line), (.storagePlan, ""), (.storageReclaim, ""),
            ] as [(ControlFile, String)] {
                let handle = ControlHandle(file: file, reader: nil)
                try live.volume.controlFiles.write(handle, Array("paths\0Library/Caches/d\0".utf8), pid: 1)
                let answer = live.volume.controlFiles.read(handle, offset: 0, limit: .max)
                #expect(String(decoding: answer, as: UTF8.self) == expected)
            }
            #expect(live.exists("Library/Caches/d/a"))
        }
    }

    /// Emptying a file also drops its list of blocks, even from a sidecar, and frees blocks past the end.
    @Test(arguments: [3, 600]) func aFileWithHoles(runs: Int) throws {
        try withVolume(settings: { $0.total = ByteCount(blocks: 10_000) }) { live in
            try live.set("purgeTombstone", of: "tmp", to: "1")
            let handle = try live.create("tmp/holes")
            for run in 0..<runs { try live.write(handle, at: Int64(run * 2 * 4096), 1) }
            for run in 0..<runs { try live.allocate(handle, 1, Int64((2 * runs + 2 * run) * 4096), 4096) }
            live.volume.close(handle)
            #expect(live.used == Int64(2 * runs))
            try live.command(.storageReclaim, "tmp")
            #expect(live.used == 0 && live.exists("tmp/holes"))
            #expect(try Support.Attributes.names(live.stored("tmp/holes")) == [])
            #expect((try? Files.names(in: live.storePath + "/extents")) ?? [] == [])
            #expect(try live.scannedBlocks() == 0)
            let again = try live.open("tmp/holes")
            try live.write(again, at: 4096, 1)
            live.volume.close(again)
            #expect(live.used == 1)
            #expect(try live.scannedBlocks() == 1)
        }
    }

    /// An open, a lookup and a change of attributes wait until the file is empty, and none of them gets ENOENT.
    @Test func openingItMeanwhile() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            let (volume, node) = (live.volume, try live.node("Library/Caches/d/a"))
            let folder = try live.node("Library/Caches/d")
            var purge = volume.change { $0.choose(.all, trigger: .command, tid: 1) }
            #expect(live.used == 0)
            let asking = Workers.start(3) { worker in
                switch worker {
                case 0:
                    func open() throws(Errno) -> Handle {
                        try volume.open(node, flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: false)
                    }
                    let handle = try (try? open()) ?? open()
                    #expect(try System.status(handle.descriptor).size == 0)
                    #expect(!handle.keepsCache)
                    volume.close(handle)
                case 1:
                    let entry = try volume.lookup("a", in: folder, caller: LiveVolume.caller)
                    #expect(entry.attributes.status.size == 0)
                    volume.forget(entry.node, count: 1)
                default:
                    try volume.extendedAttributes.set(
                        of: node, named: "user.purgefs.isExcludedFromBackup", to: Array("1".utf8), flags: 0,
                        caller: LiveVolume.caller)
                }
            }
            try eventually("all of them wait") { volume.core.purges.waiters == 3 }
            _ = volume.purgedNames.awaitingAnnouncements { volume.purger.carryOut(&purge, &$0) }
            try asking.join(within: 10)
            #expect(live.used == 0 && node.holds == 0 && !node.isGoing)
        }
    }

    /// Until the kernel knows the size, each thread that opens the file looks it up first.
    @Test func anOpenerLooksItUpAgain() throws {
        let announcements = VolumeGhostTests.holdingKernel()
        try withTombstones(port: announcements) { live in
            let path = "Library/Caches/d/a"
            try live.make(path, blocks: 40)
            let node = try live.node(path)
            func open(by tid: pid_t) throws { live.volume.close(try opened(node, by: tid, in: live)) }
            func write() throws {
                let handle = try opened(node, by: 4, in: live)
                try live.write(handle, at: 0, 40 * 4096)
                live.volume.close(handle)
            }
            try live.make("Documents/f", blocks: 60)
            for tid in [1, 2] as [pid_t] {
                #expect(throws: Errno.stale) { try open(by: tid) }
                try lookUp(by: tid, in: live)
                try open(by: tid)
            }
            // An open through a descriptor looks nothing up, so it works when it is repeated.
            #expect(throws: Errno.stale) { try open(by: 5) }
            try open(by: 5)
            // The file is purged a second time before the first purge is announced.
            #expect(throws: Errno.stale) { try write() }
            try lookUp(by: 4, in: live)
            try live.unlink("Documents/f")
            try write()
            try live.make("Documents/f", blocks: 60)
            #expect(announcements.unfinished == 2)
            #expect(throws: Errno.stale) { try open(by: 2) }
            announcements.finish()
            try open(by: 3)
            #expect(live.volume.read { $0.emptied.isEmpty })
        }
    }

    /// The kernel tries a call only twice. So a thread that was sent to look the file up is not sent again, even if the file is
    /// emptied once more before the lookup.
    @Test func anOpenerIsSentToLookItUpOnlyOnce() throws {
        let announcements = VolumeGhostTests.holdingKernel()
        try withTombstones(port: announcements) { live in
            let path = "Library/Caches/d/a"
            try live.make(path, blocks: 40)
            let node = try live.node(path)
            func emptyAgain(by tid: pid_t) throws {
                try live.unlink("Documents/f")
                try lookUp(by: tid, in: live)
                let handle = try opened(node, by: tid, in: live)
                try live.write(handle, at: 0, 40 * 4096)
                live.volume.close(handle)
                try live.make("Documents/f", blocks: 60)
            }
            try live.make("Documents/f", blocks: 60)
            #expect(throws: Errno.stale) { try opened(node, by: 1, in: live) }
            try emptyAgain(by: 2)
            #expect(announcements.unfinished == 2)
            try lookUp(by: 1, in: live)
            live.volume.close(try opened(node, by: 1, in: live))
            // A lookup from before the file was emptied again does not count.
            try emptyAgain(by: 2)
            for tid in [1, 2] as [pid_t] {
                #expect(throws: Errno.stale) { try opened(node, by: tid, in: live) }
                try lookUp(by: tid, in: live)
                live.volume.close(try opened(node, by: tid, in: live))
            }
            // A thread that has looked the name up, because of another file that had it, need not do so again for this file.
            try lookUp(by: 3, in: live)
            live.volume.close(try opened(node, by: 3, in: live))
            announcements.finish()
            #expect(live.volume.read { $0.emptied.isEmpty })
        }
    }

    private func caller(_ tid: pid_t) -> Caller {
        Caller(owner: geteuid(), group: getegid(), tid: tid, umask: 0)
    }

    /// Looks up `Library/Caches/d/a`.
    private func lookUp(by tid: pid_t, in live: LiveVolume) throws {
        let folder = try live.node("Library/Caches/d")
        live.volume.forget(try live.volume.lookup("a", in: folder, caller: caller(tid)).node, count: 1)
    }

    private func opened(_ node: Node, by tid: pid_t, in live: LiveVolume) throws(Errno) -> Handle {
        try live.volume.open(node, flags: O_WRONLY | O_APPEND, caller: caller(tid), offersPassthrough: false)
    }

    /// A write that cannot get enough room leaves the files as they were.
    @Test func aWriteThatFindsTooLittle() throws {
        try withTombstones { live in
            for number in 0..<4 { try live.make("Library/Caches/d/\(number)", blocks: 2) }
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            #expect(throws: Errno.noSpace) { try live.allocate(handle, 0, 0, 65 * 4096) }
            #expect(try size(live, "Library/Caches/d/0") == 2 * 4096)
            try live.allocate(handle, 0, 0, 60 * 4096)
            #expect(live.used == 64)
            #expect(try ["0", "1", "2", "3"].map { try size(live, "Library/Caches/d/\($0)") } == [0, 0, 8192, 8192])
            #expect(try live.scannedBlocks() == 64)
        }
    }

    /// The announcer tells the kernel with truncate(2), which must not touch data that the app has written since.
    @Test func theAnnouncementChangesNothing() throws {
        let announcements = VolumeGhostTests.holdingKernel()
        try withTombstones(port: announcements) { live in
            _ = try live.volume.lookup("Library", in: live.volume.root, caller: LiveVolume.caller)
            let caches = try live.volume.lookup("Caches", in: try live.node("Library"), caller: LiveVolume.caller).node
            _ = try live.volume.lookup("d", in: caches, caller: LiveVolume.caller)
            try live.make("Library/Caches/d/a", blocks: 40)
            let file = try live.node("Library/Caches/d/a")
            try live.make("Documents/f", blocks: 60)
            #expect(announcements.unfinished == 1)
            #expect(throws: Errno.stale) { try opened(file, by: 1, in: live) }
            try lookUp(by: 1, in: live)
            let handle = try opened(file, by: 1, in: live)
            try live.write(handle, at: 0, 7)
            live.volume.close(handle)
            var change = AttributeChange(caller: VolumeGhostTests.announcer)
            change.size = 0
            let answer = change
            let node = try live.volume.lookup(
                "a", in: try live.node("Library/Caches/d"), caller: VolumeGhostTests.announcer
            ).node
            let attributes = try live.announcing { (debt) throws(Errno) in
                try live.volume.setAttributes(of: node, handle: nil, answer, debt: &debt)
            }
            #expect(attributes.status.size == 7)
            #expect(throws: Errno.noEntry) {
                try live.volume.unlink(
                    "a", in: try live.node("Library/Caches/d"), caller: VolumeGhostTests.announcer)
            }
            announcements.finish()
            #expect(try size(live, "Library/Caches/d/a") == 7 && live.used == 61)
        }
    }

    @Test func aLockedDeviceDoesNotPreventIt() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            try live.set("fileProtection", of: "Library/Caches/d/a", to: "complete")
            try live.enter(.locked)
            try live.command(.storageReclaim, "caches")
            #expect(try Files.size(live.stored("Library/Caches/d/a")) == 0)
            #expect(try live.events(.protectionDenied).isEmpty)
            #expect(try live.protection(of: "Library/Caches/d/a") == .complete)
        }
    }

    /// A reboot and a reset still remove the names, but a policy leaves them.
    @Test func whoRemovesNames() throws {
        try withVolume { live in
            try live.set("purgeTombstone", of: "", to: "1")
            try live.makeDirectory("Documents/p")
            try live.make("tmp/a", blocks: 1)
            for name in ["1", "2", "3"] { try live.make("Documents/p/\(name)", blocks: 2) }
            try live.set("sizeLimit", of: "Documents/p", to: "20480")
            try live.command(.storagePolicies, "check")
            #expect(try ["1", "2", "3"].map { try size(live, "Documents/p/\($0)") } == [0, 0, 8192])
            #expect(try live.events(.purge).map(\.reason) == ["policySize", "policySize"])
            #expect(try live.events(.purge).allSatisfy { $0.tombstone == true && $0.trigger == .policy })
            try live.command(.storagePolicies, "reset")
            #expect(try Files.names(in: live.stored("Documents/p")) == [])
            try live.command(.deviceState, "reboot")
            #expect(try Files.names(in: live.stored("tmp")) == [])
            #expect(try live.events(.purge).suffix(4).allSatisfy { $0.tombstone == nil })
        }
    }

    /// The nearest value decides, whether it was set, moved there or found by a scan.
    @Test func theAttribute() throws {
        try withTombstones { live in
            #expect(throws: Errno.invalid) { try live.set("purgeTombstone", of: "tmp", to: "yes") }
            try live.make("Library/Caches/d/a", blocks: 1)
            #expect(throws: Errno.invalid) { try live.set("purgeTombstone", of: "Library/Caches/d/a", to: "1") }
            let event = try #require(try live.events(.mark).last)
            #expect(event.reason == "purgeTombstone=1" && event.path == "Library/Caches/d")
            try live.makeDirectory("Library/Caches/d/sub")
            try live.make("Library/Caches/d/sub/b", blocks: 1)
            func leaves(_ path: String) throws -> Bool { try live.node(path).standing.leavesTombstone }
            #expect(try leaves("Library/Caches/d/a") && leaves("Library/Caches/d/sub/b"))
            try live.set("purgeTombstone", of: "Library/Caches/d/sub", to: "0")
            #expect(try !leaves("Library/Caches/d/sub/b"))
            let root: Node? = try live.scanned().root
            func found(_ path: String) -> Bool? {
                path.split(separator: "/").reduce(root) { $0?.entry(named: Name(utf8: $1.utf8)) }?.standing
                    .leavesTombstone
            }
            #expect(found("Library/Caches/d/a") == true && found("Library/Caches/d/sub/b") == false)
            try live.remove("purgeTombstone", from: "Library/Caches/d/sub")
            try live.rename("Library/Caches/d/sub", "tmp/sub")
            #expect(try !leaves("tmp/sub/b"))
            try live.rename("tmp/sub", "Library/Caches/d/sub")
            #expect(try leaves("Library/Caches/d/sub/b"))
            try live.command(.storageReclaim, "all")
            #expect(try Files.names(in: live.stored("Library/Caches/d/sub")) == ["b"])
            #expect(try live.events(.mark).map(\.reason).suffix(2) == ["purgeTombstone=0", "purgeTombstone=removed"])
        }
    }

    /// A file that cannot be emptied counts again, and the other file goes nevertheless.
    @Test func theDiskRefuses() throws {
        try withTombstones { live in
            try live.make("Library/Caches/d/a", blocks: 5)
            try live.make("Library/Caches/b", blocks: 5)
            _ = SystemCallFaults(after: 0, of: .ftruncate, code: EIO, count: 1).during {
                _ = try? live.command(.storageReclaim, "\(10 * 4096)")
            }
            #expect(live.used == 5 && !live.exists("Library/Caches/b"))
            #expect(try size(live, "Library/Caches/d/a") == 5 * 4096)
            #expect(try live.blocks(.storageReclaimable) == 0)
            #expect(try live.scannedBlocks() == 5)
            // A command that names the file tries again.
            try live.command(.storageReclaim, "paths\0Library/Caches/d/a\0")
            #expect(live.used == 0)
            #expect(try size(live, "Library/Caches/d/a") == 0)
        }
    }
}
