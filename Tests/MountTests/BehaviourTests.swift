import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Groups and tombstones as programs see them (docs/RULES.md).
    @Suite struct BehaviourTests {
        private static let folder = "Library/Caches/d"

        /// Creates a folder with these attributes and ten files of 8 KiB, and returns their names.
        private func makeFolder(_ mount: TestMount, _ attributes: [String] = ["purgeTombstone"]) throws -> [String] {
            try mount.makeDirectory(Self.folder)
            for attribute in attributes { try Attributes.mark(mount.path(Self.folder), attribute, "1") }
            let names = (0..<10).map { "f\($0)" }
            for name in names { try mount.make("\(Self.folder)/\(name)", size: 8192) }
            return names
        }

        @Test(arguments: [true, false]) func watchersSeeAChange(byCommand: Bool) throws {
            try withMount { mount in
                let names = try makeFolder(mount)
                let watch = try DirectoryWatch(mount.path(Self.folder))
                if byCommand {
                    try mount.write("caches", to: "storage.reclaim")
                } else {
                    try mount.takeAllFreeSpace()
                    try mount.writeImportant(10 * 8192)
                }
                watch.collect()
                #expect(watch.modified == names && watch.deleted == [])
            }
        }

        /// After the purge, programs see neither the sizes nor the pages that the kernel had cached before.
        @Test func nothingStaleIsLeft() throws {
            try withMount { mount in
                let names = try makeFolder(mount)
                let folder = mount.path(Self.folder)
                #expect(try Program.shell("cat * | wc -c", in: folder).succeeded() == "81920\n")
                try Program.shell("stat * && ls -l && du -a", in: folder).succeeded()
                try mount.write("caches", to: "storage.reclaim")
                for name in names {
                    let status = try Files.status("\(folder)/\(name)")
                    #expect(status.st_size == 0 && status.st_blocks == 0)
                    #expect(try Files.content("\(folder)/\(name)") == [])
                }
                #expect(
                    try Program.shell("cat * | wc -c; stat -c %s f3; ls | wc -l", in: folder).succeeded()
                        == "0\n0\n10\n")
                #expect(try mount.status().storage.used == 0)
                try Program.shell("echo again > f3; test \"$(cat f3)\" = again", in: folder).succeeded()
                #expect(try Files.charged("\(folder)/f3") == 4096)
            }
        }

        /// A tombstone has the time of the purge as its modification time and keeps its other attributes.
        @Test func attributesStay() throws {
            try withMount { mount in
                _ = try makeFolder(mount)
                let file = mount.path("\(Self.folder)/f0")
                try Program.shell(
                    "setfattr -n user.origin -v here '\(file)'; chmod 640 '\(file)'; touch -d 2020-01-01 '\(file)'"
                ).succeeded()
                let before = try Files.status(file)
                try PurgefsBinary.run("purge", file).succeeded()
                let after = try Files.status(file)
                #expect(after.st_ino == before.st_ino && after.st_mode == before.st_mode && after.st_size == 0)
                #expect(after.st_mtim.tv_sec > before.st_mtim.tv_sec)
                #expect(try Attributes.text(file, "user.origin") == "here")
            }
        }

        /// Programs that open a file while it is emptied and rewritten find it full, partly written or empty, but always find
        /// it.
        @Test func openersNeverMissIt() throws {
            try withMount { mount in
                try mount.makeDirectory(Self.folder)
                try Attributes.mark(mount.path(Self.folder), "purgeTombstone", "1")
                try mount.make("\(Self.folder)/f", size: 8192)
                let reader = try Program.start([
                    Program.python, "-c",
                    """
                    import os, sys
                    seen = set()
                    while not os.path.exists(sys.argv[2]):
                        file = os.open(sys.argv[1], os.O_RDONLY)
                        data = os.read(file, 1 << 16)
                        os.close(file)
                        assert os.stat(sys.argv[1]).st_size in (0, 4096, 8192)
                        assert data == bytes([0xa7]) * len(data) and len(data) in (0, 4096, 8192), data
                        seen.add(len(data))
                    print(sorted(seen))
                    """, mount.path("\(Self.folder)/f"), mount.path("Documents/stop"),
                ])
                for number in 0..<200 {
                    _ = try? PurgefsBinary.run("--version")
                    _ = try? mount.write("caches", to: "storage.reclaim")
                    if number % 2 == 0 {
                        let file = try OpenFile(mount.path("\(Self.folder)/f"), O_WRONLY)
                        _ = try file.write(8192, at: 0)
                    }
                }
                try mount.make("Documents/stop", size: 0)
                #expect(try reader.wait(within: 60) == 0, "\(reader.errors)")
                #expect(reader.output.contains("0") && reader.output.contains("8192"))
            }
        }

        /// An append to a tombstone begins at offset 0, not at the old end of the file.
        @Test func appendersFindTheEnd() throws {
            try withMount { mount in
                try mount.makeDirectory(Self.folder)
                try Attributes.mark(mount.path(Self.folder), "purgeTombstone", "1")
                let appender = try Program.start([
                    Program.python, "-c",
                    """
                    import os, sys
                    while not os.path.exists(sys.argv[2]):
                        file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                        os.write(file, b"q" * 5000)
                        os.close(file)
                        with open(sys.argv[1], "rb") as file:
                            data = file.read()
                        assert data.strip(b"q") == b"" and len(data) % 5000 == 0, (len(data), data[:10])
                    """, mount.path("\(Self.folder)/f"), mount.path("Documents/stop"),
                ])
                for round in 0..<100_000 {
                    _ = try? mount.write("caches", to: "storage.reclaim")
                    if round % 50 == 0, try mount.status().counters.purgedFiles > Scale.of(500) { break }
                }
                try mount.make("Documents/stop", size: 0)
                #expect(try appender.wait(within: 60) == 0, "\(appender.errors)")
                #expect(try mount.status().counters.purgedFiles > Scale.of(500))
            }
        }

        /// The kernel locks a file during a write. A write that purges must not wait forever for such a victim.
        @Test func writersOfEmptiedFilesAndOthersGoOn() throws {
            try withMount(["--total", "16M"]) { mount in
                try mount.turnThresholdsOff()
                try mount.makeDirectory("Documents/d")
                try Attributes.mark(mount.path("Documents/d"), "purgeTombstone", "1")
                try mount.mark("Documents/d", "low")
                for number in 0..<8 { try mount.make("Documents/d/\(number)", size: 1 << 20) }
                try Workers.run(4) { worker in
                    for round in 0..<60 {
                        let name = worker < 2 ? "Documents/d/\((round + worker) % 8)" : "Documents/w\(worker)"
                        let file = try OpenFile(mount.path(name), O_RDWR | O_CREAT | (worker < 2 ? 0 : O_TRUNC))
                        _ = try? file.write(worker < 2 ? 256 << 10 : 5 << 20, at: 0)
                    }
                }
                #expect(try Files.names(in: mount.path("Documents/d")).count == 8)
                let used = try mount.number("storage.used")
                #expect(try Files.chargedTree(mount.path("Documents")) == used)
            }
        }

        @Test func aLockedDevice() throws {
            try withMount { mount in
                _ = try makeFolder(mount)
                try Attributes.mark(mount.path("\(Self.folder)/f0"), "fileProtection", "complete")
                try mount.write("lock", to: "device.state")
                try mount.write("+10s", to: "device.clock")
                try PurgefsBinary.run("purge", mount.path("\(Self.folder)/f0")).succeeded()
                #expect(try Files.size(mount.path("\(Self.folder)/f0")) == 0)
                #expect(throws: Errno.notPermitted) { try OpenFile(mount.path("\(Self.folder)/f0"), O_RDONLY) }
            }
        }

        @Test func theVerbsInAMountAndInAStore() throws {
            try withMount { mount in
                let names = try makeFolder(mount, [])
                let folder = mount.path(Self.folder)
                try PurgefsBinary.run("mark", "--group", "--tombstone", folder).succeeded()
                #expect(try Attributes.names(folder) == ["user.purgefs.purgeGroup", "user.purgefs.purgeTombstone"])
                #expect(try PurgefsBinary.run("mark", "--group", "\(folder)/f0").status == 1)
                #expect(try PurgefsBinary.run("mark", "--group", "--no-group", folder).status == 64)
                let plan = try PurgefsBinary.run("purge", mount.root, "--bytes", "1", "--dry-run", "--json").succeeded()
                let lines = names.map {
                    #"{"path":"\#(Self.folder)/\#($0)","reason":"caches","bytes":8192,"tombstone":true}"#
                }
                #expect(plan.split(separator: "\n").map(String.init) == lines)
                let done = try PurgefsBinary.run("purge", mount.root, "--bytes", "1").succeeded()
                #expect(done.contains("f9  (emptied)") && done.contains("purged 10 files, 80.0 KiB"))
                #expect(
                    try PurgefsBinary.run("events", mount.root).succeeded().contains("\(Self.folder)/f9  (emptied)"))
                // All files are already empty.
                #expect(try PurgefsBinary.run("purge", folder).succeeded().hasPrefix("purged 0 files"))
                try mount.unmount()
                let stored = "\(mount.store)/container/\(Self.folder)"
                try PurgefsBinary.run("mark", "--no-group", "--no-tombstone", stored).succeeded()
                #expect(try Attributes.text(stored, "user.purgefs.purgeGroup") == "0")
                try PurgefsBinary.run("purge", mount.store, "--tier", "caches").succeeded()
                #expect(try Files.names(in: stored) == [])
                let events = try StoreEvent.journal(of: mount.store)
                #expect(
                    events.filter { $0.type == "mark" }.map(\.reason) == [
                        "purgeGroup=1", "purgeTombstone=1", "purgeGroup=0", "purgeTombstone=0",
                    ])
                #expect(events.filter { $0.type == "purge" }.map(\.isTombstone).filter { $0 }.count == 10)
            }
        }

        /// Programs that copy attributes copy purgeGroup and purgeTombstone too.
        @Test func copiesAndArchives() throws {
            try withMount { mount in
                _ = try makeFolder(mount, ["purgeGroup", "purgeTombstone"])
                try Program.shell(
                    """
                    cp -a d e && tar --xattrs --xattrs-include='*' -cf ../d.tar d && mkdir ../x && \
                    tar --xattrs --xattrs-include='*' -xf ../d.tar -C ../x && rsync -aX d/ r/
                    """, in: mount.path("Library/Caches")
                ).succeeded()
                for copy in ["Library/Caches/e", "Library/x/d", "Library/Caches/r"] {
                    #expect(try Attributes.text(mount.path(copy), "user.purgefs.purgeGroup") == "1", "\(copy)")
                    #expect(try Attributes.text(mount.path(copy), "user.purgefs.purgeTombstone") == "1", "\(copy)")
                }
            }
        }

        /// A kill during a group's purge leaves the rest of the group in the next mount, where it can be purged.
        @Test(arguments: [false, true]) func aKillWhileAGroupIsPurged(leavesTombstones: Bool) throws {
            try withMount(["--total", "256M"]) { mount in
                try mount.turnThresholdsOff()
                try mount.makeDirectory(Self.folder)
                try Attributes.mark(mount.path(Self.folder), "purgeGroup", "1")
                if leavesTombstones { try Attributes.mark(mount.path(Self.folder), "purgeTombstone", "1") }
                for number in 0..<1500 { try mount.make("\(Self.folder)/\(number)", size: 4096) }
                let stored = "\(mount.store)/container/\(Self.folder)"
                func left() throws -> Int {
                    try Files.names(in: stored).count { ((try? Files.size("\(stored)/\($0)")) ?? 0) > 0 }
                }
                let purge = Workers.start(1) { _ in _ = try? mount.write("1", to: "storage.reclaim") }
                try eventually("the beginning") { try left() < 1500 }
                try mount.crash()
                try purge.join()
                let rest = try left()
                try mount.mount()
                #expect(try mount.number("storage.used") == Int64(rest) * 4096)
                #expect(try mount.number("storage.reclaimable") == Int64(rest) * 4096)
                if rest > 0 { try mount.write("1", to: "storage.reclaim") }
                #expect(try mount.number("storage.used") == 0)
                #expect(try Files.names(in: stored).count == (leavesTombstones ? 1500 : 0))
                try mount.unmount()
                try PurgefsBinary.run("check", mount.store).succeeded()
            }
        }

        /// After a remount, a group's last use is the latest one recorded for any of its files.
        @Test func theOrderAfterARemount() throws {
            try withMount { mount in
                try mount.makeDirectory("tmp/g")
                try Attributes.mark(mount.path("tmp/g"), "purgeGroup", "1")
                for path in ["tmp/g/old", "tmp/a", "tmp/g/new", "tmp/b"] { try mount.make(path, size: 4096) }
                try mount.remount()
                for size in ["4096", "8192"] { try mount.write(size, to: "storage.reclaim") }
                #expect(try mount.purgesAfterUnmount().map(\.path) == ["tmp/a", "tmp/g/old", "tmp/g/new"])
            }
        }

        /// Attributes and renames of a folder with many files below it keep the ledger right.
        @Test func largeTrees() throws {
            try withMount(["--total", "1G"]) { mount in
                let count = Scale.of(5000)
                try mount.makeDirectory("Library/Caches/t")
                for number in 0..<count {
                    if number % 500 == 0 { try mount.makeDirectory("Library/Caches/t/\(number / 500)") }
                    try mount.make("Library/Caches/t/\(number / 500)/\(number)", size: 1)
                }
                let tree = mount.path("Library/Caches/t")
                for (name, value) in [("purgeGroup", "1"), ("purgeTombstone", "1"), ("purgeGroup", "0")] {
                    try Attributes.mark(tree, name, value)
                    #expect(try mount.number("storage.reclaimable") == Int64(count) * 4096)
                }
                try Attributes.mark(mount.path("tmp"), "purgeGroup", "1")
                try Attributes.remove(tree, "user.purgefs.purgeGroup")
                try Files.rename(tree, mount.path("tmp/t"))
                #expect(try mount.status().tiers.temporary.bytes == Int64(count) * 4096)
                try mount.write("1", to: "storage.reclaim")
                #expect(try mount.number("storage.used") == 0)
                #expect(try Files.size(mount.path("tmp/t/0/0")) == 0)
            }
        }
    }
}
