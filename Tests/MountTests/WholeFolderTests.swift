import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `Library/Caches` and `tmp` as folders that go as a whole, in profile `device` (docs/RULES.md, Profiles).
    @Suite struct WholeFolderTests {
        enum Place: String, CaseIterable, CustomTestStringConvertible {
            case caches = "Library/Caches"
            case tmp
            var testDescription: String { rawValue }
            /// The word that a purge command takes.
            var command: String { self == .caches ? "caches" : "tmp" }
            /// The reason in the purge events.
            var reason: String { self == .caches ? "caches" : "temporary" }
        }

        /// Mounts a device in profile `device` that never is at a level.
        static func withDevice(deadline: Double = 240, _ body: (TestMount) throws -> Void) throws {
            let options = ["--total", "256M", "--profile", "device", "--purge-latency", "0"]
            try withMount(options, deadline: deadline) { mount in
                try mount.turnThresholdsOff()
                try body(mount)
            }
        }

        // What goes.

        /// A descriptor and a mapping keep working. The file is charged until both are gone.
        @Test(arguments: Place.allCases) func openFilesGoToo(place: Place) throws {
            try Self.withDevice { mount in
                let folder = place.rawValue
                try mount.makeDirectory("\(folder)/d")
                try mount.make("\(folder)/d/closed", size: 4096)
                let open = try OpenFile(mount.path("\(folder)/d/open"))
                let mapped = try OpenFile(mount.path("\(folder)/mapped"))
                for file in [open, mapped] { try file.fill(8192) }
                let address = try #require(mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, mapped.descriptor, 0))
                mapped.close()
                try mount.write(place.command, to: "storage.reclaim")
                #expect(try Files.names(in: mount.path(folder)) == [])
                for path in ["d/open", "d/closed", "mapped", "d"] {
                    #expect(throws: Errno.noEntry) { try Files.status(mount.path("\(folder)/\(path)")) }
                }
                #expect(try mount.number("storage.used") == 4 * 4096)
                #expect(try open.read(8192) == [UInt8](repeating: 0xA7, count: 8192))
                #expect(try open.write(4096, at: 8192) == 4096)
                #expect(try mount.number("storage.used") == 5 * 4096)
                #expect(address.load(fromByteOffset: 4096, as: UInt8.self) == 0xA7)
                address.storeBytes(of: 7, as: UInt8.self)
                #expect(msync(address, 8192, MS_SYNC) == 0)
                open.close()
                #expect(try mount.number("storage.used") == 2 * 4096)
                munmap(address, 8192)
                try eventually("the end of the mapping") { try mount.number("storage.used") == 0 }
                let told = try mount.purgesAfterUnmount()
                #expect(
                    Set(told.map { "\($0.path ?? "") \($0.bytes ?? -1)" }) == [
                        "\(folder)/d/open 0", "\(folder)/d/closed 4096", "\(folder)/mapped 0",
                    ])
                #expect(told.allSatisfy { $0.reason == place.reason && $0.trigger == "command" })
            }
        }

        /// A file with two names in the folder is gone and free. One with a name elsewhere keeps that name, and its bytes.
        @Test(arguments: Place.allCases) func hardLinks(place: Place) throws {
            try Self.withDevice { mount in
                let folder = place.rawValue
                try mount.make("\(folder)/plain", size: 4096)
                try mount.make("\(folder)/twice", size: 8192)
                try Files.link(mount.path("\(folder)/twice"), mount.path("\(folder)/twice too"))
                try mount.make("\(folder)/kept", size: 4 * 4096)
                try Files.link(mount.path("\(folder)/kept"), mount.path("Documents/kept"))
                #expect(try mount.status().tiers.persistent.bytes == 4 * 4096)
                try mount.write(place.command, to: "storage.reclaim")
                #expect(try Files.names(in: mount.path(folder)) == [])
                let kept = try Files.status(mount.path("Documents/kept"))
                #expect(kept.st_nlink == 1 && kept.st_size == 4 * 4096)
                let status = try mount.status()
                #expect(status.storage.used == 4 * 4096 && status.tiers.persistent.bytes == 4 * 4096)
                let told = try mount.purgesAfterUnmount()
                #expect(told.first { $0.path == "\(folder)/kept" }?.bytes == 0)
                #expect(told.compactMap(\.bytes).reduce(0, +) == 3 * 4096)
                try PurgefsBinary.run("check", mount.store).succeeded()
            }
        }

        /// The new folder is empty, has mode 0700, the owner of the store and no attributes, and can be used at once.
        @Test(arguments: Place.allCases) func theNewFolder(place: Place) throws {
            try Self.withDevice { mount in
                let folder = place.rawValue
                for path in ["a", "a/b", "a/b/empty", "links"] { try mount.makeDirectory("\(folder)/\(path)") }
                try mount.make("\(folder)/a/b/file", size: 4096)
                try mount.make("\(folder)/nothing", size: 0)
                try Files.symlink("a/b/file", mount.path("\(folder)/links/link"))
                try Files.changeMode(mount.path(folder), 0o755)
                for (name, value) in [
                    ("isPurgeable", "high"), ("purgeAfter", "3d"), ("purgeGroup", "1"), ("purgeTombstone", "1"),
                    ("fileProtection", "complete"), ("isExcludedFromBackup", "1"),
                ] { try Attributes.mark(mount.path(folder), name, value) }
                let before = try Files.status(mount.path(folder))
                try mount.write(place.command, to: "storage.reclaim")
                let after = try Files.status(mount.path(folder))
                #expect(after.st_mode == S_IFDIR | 0o700 && after.st_ino != before.st_ino)
                #expect(after.st_uid == getuid() && after.st_gid == before.st_gid && after.st_nlink == 2)
                #expect(try Attributes.names(mount.path(folder)) == [])
                #expect(try Files.tree(mount.path(folder)) == [])
                try mount.make("\(folder)/new", size: 4096)
                #expect(try Attributes.text(mount.path("\(folder)/new"), "user.purgefs.tier") == place.reason)
                #expect(try mount.read("storage.policies") == "")
                #expect(throws: Errno.noEntry) { try mount.make("\(folder)/a/new", size: 4096) }
                // The next mount finds the same folder, and nothing of the old one.
                try mount.remount()
                #expect(try Files.status(mount.path(folder)).st_mode == S_IFDIR | 0o700)
                #expect(try Files.names(in: mount.path(folder)) == ["new"])
                #expect(try Files.chargedTree(mount.root) == 4096 && mount.number("storage.used") == 4096)
            }
        }

        /// A hidden folder that holds the old content for a moment is neither listed nor found by an app, and does not stay in
        /// the store.
        @Test func nothingElseAppears() throws {
            try Self.withDevice { mount in
                let before = try Set(Files.tree(mount.root))
                for number in 0..<50 { try mount.make("Library/Caches/\(number)", size: 4096) }
                try mount.write("caches", to: "storage.reclaim")
                #expect(try Set(Files.tree(mount.root)) == before)
                try mount.unmount()
                #expect(try Set(Files.tree("\(mount.store)/container")) == before)
            }
        }

        /// A file in the place of a folder goes alone, and commands end.
        @Test(arguments: ["all", "8192", "tmp"]) func aFileInThePlaceOfTmp(command: String) throws {
            try Self.withDevice { mount in
                try Program.shell("rmdir tmp; head -c 8192 /dev/zero > tmp", in: mount.root).succeeded()
                try mount.write(command, to: "storage.reclaim")
                #expect(try mount.number("storage.used") == 0)
                #expect(!FileManager.default.fileExists(atPath: mount.path("tmp")))
            }
        }

        /// A mount leaves a folder alone that the user has put beside the container.
        @Test func anotherFolderInTheStore() throws {
            try Self.withDevice { mount in
                try mount.make("Library/Caches/a", size: 4096)
                try Program.shell("mkdir purged && echo kept > purged/file", in: mount.store).succeeded()
                try mount.write("caches", to: "storage.reclaim")
                try mount.unmount()
                try PurgefsBinary.run("mount", mount.store, mount.root).succeeded()
                #expect(Files.text("\(mount.store)/purged/file") == "kept\n")
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        // The numbers.

        /// Reclaimable counts the folders only if the app is not in the foreground, and never open or hard-linked files.
        @Test func reclaimable() throws {
            try Self.withDevice { mount in
                try mount.make("Library/Caches/a", size: 4096)
                try mount.make("tmp/b", size: 2 * 4096)
                try mount.make("Documents/marked", size: 4 * 4096)
                try mount.mark("Documents/marked", "high")
                let open = try OpenFile(mount.path("tmp/open"))
                try open.fill(8 * 4096)
                try mount.make("Library/Caches/linked", size: 16 * 4096)
                try Files.link(mount.path("Library/Caches/linked"), mount.path("Library/Caches/linked too"))
                for (command, blocks) in [
                    ("launch", 4), ("background", 7), ("launch", 4), ("suspend", 7), ("terminate", 7), ("offload", 7),
                    ("install", 7),
                ] {
                    try mount.write(command, to: "app.state")
                    #expect(try mount.status().storage.reclaimable == Int64(blocks) * 4096, "\(command)")
                }
                open.close()
                #expect(try mount.status().storage.reclaimable == 15 * 4096)
            }
        }

        /// The plan names every file of a folder, with the bytes that it will free, and the purge does what the plan says.
        @Test(arguments: [["--tier", "caches"], ["--tier", "tmp"], ["--bytes", "4K"], ["--all"]], [true, false])
        func theDryRunIsRight(words: [String], inForeground: Bool) throws {
            try Self.withDevice { mount in
                for place in Place.allCases.map(\.rawValue) {
                    try mount.makeDirectory("\(place)/d")
                    try mount.make("\(place)/d/a", size: 4096)
                    try mount.make("\(place)/empty", size: 0)
                    try mount.make("\(place)/linked", size: 4096)
                    try Files.link(mount.path("\(place)/linked"), mount.path("Documents/\(place.count)"))
                }
                try mount.make("Documents/marked", size: 4096)
                try mount.mark("Documents/marked", "low")
                if inForeground { try mount.write("launch", to: "app.state") }
                let open = try Place.allCases.map { try OpenFile(mount.path("\($0.rawValue)/open")) }
                for file in open { try file.fill(4096) }
                let dry = try PurgefsBinary.run(["purge", mount.root, "--json", "--dry-run"] + words)
                #expect(try mount.status().counters.purgedFiles == 0)
                let done = try PurgefsBinary.run(["purge", mount.root, "--json"] + words)
                #expect(dry.status == 0 && done.status == 0 && Self.lines(dry) == Self.lines(done), "\(dry) \(done)")
                func folder(_ place: Place) -> [String] {
                    [("d/a", 4096), ("empty", 0), ("linked", 0), ("open", 0)].map { name, bytes in
                        "{\"path\":\"\(place.rawValue)/\(name)\",\"reason\":\"\(place.reason)\",\"bytes\":\(bytes)}"
                    }
                }
                let marked = "{\"path\":\"Documents/marked\",\"reason\":\"purgeable\",\"bytes\":4096}"
                let expected =
                    switch words.last {
                    case "caches": folder(.caches)
                    case "tmp": folder(.tmp)
                    case "4K": inForeground ? [marked] : folder(.caches)
                    default: (inForeground ? [] : folder(.caches) + folder(.tmp)) + [marked]
                    }
                #expect(Self.lines(done) == expected.sorted())
                for file in open { file.close() }
            }
        }

        private static func lines(_ outcome: Outcome) -> [String] {
            outcome.output.split(separator: "\n").map(String.init).sorted()
        }

        // The urgency of caches follows from when the app was last in the foreground.

        /// Leaves one block too few at near low. Returns true if the purge takes `Library/Caches`, and false if it takes the
        /// marked file.
        private func nearLowTakesCaches(_ mount: TestMount) throws -> Bool {
            try mount.make("Library/Caches/a", size: 4096)
            try mount.make("Documents/marked", size: 4096)
            try mount.mark("Documents/marked", "low")
            let free = try mount.number("storage.available")
            try mount.write(
                "verylow=0,low=0,nearlow=\(free + 4096),desired=\(free + 4096)", to: "storage.thresholds")
            try eventually("the purge") { !mount.exists("Library/Caches/a") || !mount.exists("Documents/marked") }
            try mount.turnThresholdsOff()
            #expect(mount.exists("Library/Caches/a") != mount.exists("Documents/marked"))
            defer { for path in ["Library/Caches/a", "Documents/marked"] { try? Files.unlink(mount.path(path)) } }
            return !mount.exists("Library/Caches/a")
        }

        /// The time in the foreground does not count, however long it is; the time without a mount does.
        @Test func theMomentOutlivesTheMount() throws {
            try Self.withDevice { mount in
                #expect(try nearLowTakesCaches(mount))
                try mount.write("launch", to: "app.state")
                try mount.write("+30d", to: "device.clock")
                try mount.write("background", to: "app.state")
                #expect(try !nearLowTakesCaches(mount))
                try mount.write("+23h", to: "device.clock")
                try mount.remount()
                #expect(try !nearLowTakesCaches(mount))
                try mount.unmount()
                try PurgefsBinary.run("clock", "advance", "1h", mount.store).succeeded()
                try mount.mount()
                #expect(try nearLowTakesCaches(mount))
                // A process in the background is no use of the app.
                for commands in [["background"], ["background", "suspend"], []] {
                    for command in commands { try mount.write(command, to: "app.state") }
                    #expect(try nearLowTakesCaches(mount), "\(commands)")
                }
            }
        }

        // Stores that are not mounted.

        @Test(arguments: Place.allCases) func ofAStore(place: Place) throws {
            try Self.withDevice { mount in
                let folder = place.rawValue
                try mount.makeDirectory("\(folder)/d")
                try mount.make("\(folder)/d/a", size: 4096)
                try mount.make("\(folder)/linked", size: 4096)
                try Files.link(mount.path("\(folder)/linked"), mount.path("Documents/linked"))
                try mount.unmount()
                let words = ["purge", mount.store, "--json", "--tier", place.command]
                let dry = try PurgefsBinary.run(words + ["--dry-run"])
                let done = try PurgefsBinary.run(words)
                #expect(done.status == 0 && Self.lines(dry) == Self.lines(done), "\(dry) \(done)")
                #expect(
                    Self.lines(done)
                        == [("d/a", 4096), ("linked", 0)].map { name, bytes in
                            "{\"path\":\"\(folder)/\(name)\",\"reason\":\"\(place.reason)\",\"bytes\":\(bytes)}"
                        })
                let container = "\(mount.store)/container"
                #expect(try Files.names(in: "\(container)/\(folder)") == [])
                #expect(Files.exists("\(container)/Documents/linked"))
                try PurgefsBinary.run("check", mount.store).succeeded()
            }
        }

        // Commands for a part of a folder.

        /// A path, a pattern and a command for a part of the container take files one by one, and leave the folders.
        @Test(arguments: [["Library/Caches/d/a"], ["Library/Caches/d"], ["--path", "*/d/*"], ["Library/Caches"]])
        func aPartGoesFileByFile(words: [String]) throws {
            try Self.withDevice { mount in
                try mount.makeDirectory("Library/Caches/d")
                try mount.make("Library/Caches/d/a", size: 4096)
                let open = try OpenFile(mount.path("Library/Caches/open"))
                try open.fill(4096)
                let before = try Files.status(mount.path("Library/Caches"))
                let outcome = try Program.run([PurgefsBinary.path, "purge"] + words, in: mount.root)
                #expect(outcome.output.contains("Library/Caches/d/a"), "\(outcome)")
                #expect(try Files.tree(mount.path("Library/Caches")) == ["d", "open"])
                #expect(try Files.status(mount.path("Library/Caches")).st_ino == before.st_ino)
                open.close()
            }
        }

        /// Profile `documented` still purges file by file.
        @Test func notInTheOtherProfile() throws {
            try Self.withDevice { mount in
                try mount.write("documented", to: "storage.profile")
                try mount.makeDirectory("Library/Caches/d")
                try mount.make("Library/Caches/d/a", size: 4096)
                let open = try OpenFile(mount.path("Library/Caches/d/open"))
                try open.fill(4096)
                try mount.write("caches", to: "storage.reclaim")
                #expect(try Files.tree(mount.path("Library/Caches")) == ["d", "d/open"])
                open.close()
            }
        }
    }
}

extension PurgefsBinary {
    /// Runs a verb to its end.
    fileprivate static func run(_ arguments: [String]) throws -> Outcome { try Program.run([path] + arguments) }
}
