import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Names and contents of the control directory (docs/CONTROL.md).
    @Suite struct ControlTests {
        static let files = [
            "storage.total", "storage.others", "storage.others.purgeable", "storage.used", "storage.available",
            "storage.important", "storage.opportunistic", "storage.reclaimable", "storage.thresholds", "storage.stat",
            "storage.pressure", "storage.reclaim", "status.json", "events",
        ]

        @Test func foundByNameButNeverListed() throws {
            try withMount { mount in
                #expect(try Files.names(in: mount.root) == ["Documents", "Library", "tmp"])
                let status = try Files.status(mount.path(".purgefs"))
                #expect(status.st_mode == S_IFDIR | 0o700 && status.st_uid == getuid() && status.st_gid == getgid())
                for name in Self.files { #expect(Files.exists(mount.control(name)), "\(name)") }
                #expect(try Set(Files.names(in: mount.path(".purgefs"))).isSuperset(of: Self.files))
                #expect(throws: Errno.noEntry) { try Files.status(mount.control("nothing")) }
                #expect(!Files.exists("\(mount.store)/container/.purgefs"))
            }
        }

        @Test func theDirectoryCanBeSynced() throws {
            try withMount { mount in
                let directory = try OpenFile(mount.path(".purgefs"), O_RDONLY | O_DIRECTORY)
                #expect(fsync(directory.descriptor) == 0)
            }
        }

        /// No file or folder of the app can be called `.purgefs` at the root.
        @Test func theNameIsTaken() throws {
            try withMount { mount in
                let name = mount.path(".purgefs")
                try mount.make("Documents/f", size: 1)
                #expect(throws: Errno.exists) { try Files.makeDirectory(name) }
                #expect(throws: Errno.exists) { try OpenFile(name, O_RDWR | O_CREAT | O_EXCL) }
                #expect(throws: Errno.notPermitted) { try Files.rename(mount.path("Documents"), name) }
                #expect(throws: Errno.notPermitted) { try Files.rename(name, mount.path("x")) }
                // The kernel finds the existing name and answers without asking the daemon.
                #expect(throws: Errno.exists) { try Files.link(mount.path("Documents/f"), name) }
                #expect(throws: (any Error).self) { try Files.rename(mount.path("Documents/f"), mount.control("f")) }
                #expect(throws: (any Error).self) { try Files.rename(mount.control("storage.total"), mount.path("f")) }
                #expect(throws: (any Error).self) { try Files.unlink(mount.control("storage.total")) }
                #expect(throws: (any Error).self) { try Files.removeDirectory(name) }
                #expect(throws: (any Error).self) { try OpenFile(mount.control("new"), O_RDWR | O_CREAT) }
                #expect(mount.exists("Documents/f"))
                try mount.makeDirectory("Documents/.purgefs")
            }
        }

        @Test func numbersOfAKnownState() throws {
            try withMount(["--total", "64M", "--others", "16M", "--others-purgeable", "4M"]) { mount in
                try mount.make("Documents/d", size: 1 << 20)
                try mount.make("Library/Caches/c", size: 2 << 20)
                try mount.make("tmp/t", size: 3 << 20)
                try mount.make("Library/m", size: 1)
                try mount.mark("Library/m", "low")
                let mib: Int64 = 1 << 20
                let used = 6 * mib + 4096
                for (name, value) in [
                    ("storage.total", 64 * mib), ("storage.others", 16 * mib), ("storage.others.purgeable", 4 * mib),
                    ("storage.used", used), ("storage.available", 48 * mib - used),
                    ("storage.reclaimable", 9 * mib + 4096), ("storage.important", 51 * mib),
                    ("storage.opportunistic", 48 * mib - used - 6_713_344),  // 10 % of 64 MiB, rounded up
                ] as [(String, Int64)] {
                    #expect(try mount.read(name) == "\(value)", "\(name)")
                }
                #expect(
                    try mount.table("storage.thresholds")
                        == ["verylow": 3_358_720, "low": 6_713_344, "nearlow": 7_049_216, "desired": 7_385_088])
                #expect(try mount.read("storage.pressure") == "normal")
            }
        }

        /// `status.json` has the values of the storage files in one object, under the keys that docs/CONTROL.md lists.
        @Test func statusIsTheSameInOne() throws {
            try withMount(["--total", "64M", "--others", "16M", "--others-purgeable", "4M"]) { mount in
                try mount.make("Library/Caches/c", size: 2 << 20)
                try mount.make("tmp/t", size: 0)
                try mount.make("Documents/m", size: 1)
                try mount.mark("Documents/m", "high")
                try Attributes.mark(mount.path("Documents/m"), "isExcludedFromBackup", "1")
                let status = try mount.status()
                let storage = status.storage
                for (name, value) in [
                    ("total", storage.total), ("others", storage.others), ("others.purgeable", storage.othersPurgeable),
                    ("used", storage.used), ("available", storage.available), ("important", storage.important),
                    ("opportunistic", storage.opportunistic), ("reclaimable", storage.reclaimable),
                ] {
                    #expect(try mount.number("storage.\(name)") == value, "\(name)")
                }
                #expect(status.version == 1 && status.profile == "documented")
                #expect(status.mountpoint == mount.root && status.store == mount.store)
                #expect(status.tiers.temporary == .init(bytes: 0, files: 1))
                #expect(status.tiers.caches == .init(bytes: 2 << 20, files: 1))
                #expect(status.tiers.persistent == .init(bytes: 4096, files: 1))
                #expect(status.marked.purgeable == .init(bytes: 4096, files: 1))
                #expect(status.marked.excludedFromBackup == .init(bytes: 4096, files: 1))
                #expect(status.pressure == "normal" && !status.purging)
                #expect(status.counters.purgedFiles == 0 && status.counters.refusedWrites == 0)
                let command = try PurgefsBinary.run("status", mount.root, "--json")
                #expect(command.status == 0)
                #expect(try command.output == mount.read("status.json") + "\n")
            }
        }

        @Test func countersCount() throws {
            try withMount { mount in
                try mount.make("Library/Caches/a", size: 4096)
                try mount.make("Library/Caches/b", size: 8192)
                try mount.takeAllFreeSpace()
                let file = try OpenFile(mount.path("Library/Caches/c"))
                #expect(throws: Errno.noSpace) { try file.write(1) }
                try mount.writeImportant(4097)
                let counters = try mount.status().counters
                #expect(counters.purgedFiles == 2 && counters.purgedBytes == 12_288)
                #expect(counters.refusedWrites == 1 && counters.protectionDenied == 0)
                let table = try mount.table("storage.stat")
                #expect(table.values.contains(12_288))
            }
        }

        /// Each read at offset 0 generates the content anew, even through a descriptor that has been read before.
        @Test func contentIsMadeAnewAtOffsetZero() throws {
            try withMount { mount in
                let file = try OpenFile(mount.control("storage.used"), O_RDONLY)
                #expect(try file.read(100) == Array("0\n".utf8))
                try mount.make("Documents/f", size: 4096)
                #expect(try file.read(100) == Array("4096\n".utf8))
                #expect(try file.read(100, at: 5) == [])
                #expect(try file.read(2, at: 2) == Array("96".utf8))
            }
        }
    }
}
