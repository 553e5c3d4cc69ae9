import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// `purgefs backup create` and `restore` on real trees with real programs.
    @Suite struct BackupTests {
        /// Entries that backup_tree.py creates and a backup leaves out.
        private static let leftOut = [
            "Documents/fifo", "Documents/left out", "Documents/left out/a",
            "Documents/left out/inner", "Documents/left out/inner/b", "Documents/old flag", "Documents/single",
            "Library/Caches/c", "Library/Caches/deep", "Library/Caches/deep/d", "tmp/deep", "tmp/deep/f", "tmp/e",
        ]

        /// Further differences: a restored container gets new folders for the places that are not backed up.
        private static let newFolders = ["time Library/Caches", "time tmp"]

        static func program(_ name: String, _ words: String...) throws -> Outcome {
            try Program.run([Program.python, "\(DocumentedExample.root)/Tests/MountTests/Programs/\(name).py"] + words)
        }

        private func fill(_ container: String, files: Int) throws {
            try Self.program("backup_tree", container, String(files)).succeeded()
        }

        private func differences(_ left: String, _ right: String) throws -> [String] {
            try Self.program("backup_compare", "\(left)/container", "\(right)/container").succeeded()
                .split(separator: "\n").map(String.init)
        }

        /// A restored container equals the original except for the entries left out, whichever way the backup was created.
        @Test(arguments: [true, false], [true, false]) func roundTrip(mounted: Bool, streamed: Bool) throws {
            try withMount(["--total", "16G", "--others", "1G", "--protection", "none"]) { mount in
                try fill(mount.root, files: max(400, Scale.of(2000)))
                if !mounted { try mount.unmount() }
                let target = mounted ? mount.root : mount.store
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/restored")
                let purgefs = PurgefsBinary.path
                if streamed {
                    try Program.shell("'\(purgefs)' backup create '\(target)' --output - > '\(backup)'").succeeded()
                    try Program.shell("cat '\(backup)' | '\(purgefs)' backup restore - '\(restored)'").succeeded()
                } else {
                    try PurgefsBinary.run("backup", "create", target, "--output", backup).succeeded()
                    try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                }
                try mount.unmount()
                let found = try differences(mount.store, restored)
                #expect(found == Self.leftOut.map { "only left \($0)" } + Self.newFolders)
                try PurgefsBinary.run("check", restored).succeeded()
                let old = try settings(mount.store)
                let new = try settings(restored)
                for name in ["total", "others", "protection"] { #expect("\(old[name] ?? "")" == "\(new[name] ?? "-")") }
                #expect("\(old["containerID"] ?? "")" != "\(new["containerID"] ?? "")")
            }
        }

        private func settings(_ store: String) throws -> [String: Any] {
            let content = try Files.content("\(store)/device.json")
            return try #require(JSONSerialization.jsonObject(with: Data(content)) as? [String: Any])
        }

        /// The report of `restore` lists every entry that the source has and the new store lacks, with the reason.
        @Test(arguments: [true, false]) func missingList(mounted: Bool) throws {
            try withMount(["--total", "16G"]) { mount in
                try fill(mount.root, files: 30)
                if !mounted { try mount.unmount() }
                try PurgefsBinary.run("backup", "create", mount.store, "--output", "\(mount.scratch)/backup")
                    .succeeded()
                if !mounted { try mount.mount() }
                try mount.make("Documents/newer", size: 5)
                if !mounted { try mount.unmount() }
                let output = try PurgefsBinary.run(
                    "backup", "restore", "\(mount.scratch)/backup", "\(mount.scratch)/restored", "--json"
                ).succeeded()
                struct Answer: Decodable {
                    struct Item: Decodable {
                        var path: String
                        var reason: String
                        var entries: Int
                    }
                    var missing: [Item]
                    var unexpected: [String]
                }
                let answer = try JSONDecoder().decode(Answer.self, from: Data(output.utf8))
                #expect(answer.unexpected.isEmpty)
                #expect(
                    answer.missing.map { "\($0.path) \($0.reason) \($0.entries)" } == [
                        "Documents/fifo special 1", "Documents/left out excluded 4", "Documents/newer newer 1",
                        "Documents/old flag excluded 1", "Documents/single excluded 1", "Library/Caches caches 3",
                        "tmp temporary 3",
                    ])
            }
        }

        /// tar extracts the same files that `restore` creates, except for the two empty folders of the layout.
        @Test func tarReadsTheArchive() throws {
            try withMount(["--total", "16G"]) { mount in
                try fill(mount.root, files: 200)
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/restored")
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                let plain = "\(mount.scratch)/plain"
                try Files.makeDirectory(plain)
                try Program.run(["tar", "-xpf", "\(backup)/data.tar", "-C", plain]).succeeded()
                let found = try Program.run(
                    ["diff", "-r", "--no-dereference", "\(plain)/container", "\(restored)/container"])
                #expect(
                    found.output
                        == "Only in \(restored)/container/Library: Caches\nOnly in \(restored)/container: tmp\n")
            }
        }

        @Test(arguments: [true, false]) func emptyContainer(mounted: Bool) throws {
            try withMount { mount in
                if !mounted { try mount.unmount() }
                let backup = "\(mount.scratch)/backup"
                try Files.makeDirectory(backup)
                try Files.makeDirectory("\(mount.scratch)/restored")
                try PurgefsBinary.run("backup", "create", mounted ? mount.root : mount.store, "--output", backup)
                    .succeeded()
                try PurgefsBinary.run("backup", "restore", backup, "\(mount.scratch)/restored").succeeded()
                try mount.unmount()
                #expect(try differences(mount.store, "\(mount.scratch)/restored") == Self.newFolders)
            }
        }

        /// An ordinary user can back up their own files, even unreadable ones.
        @Test(arguments: [true, false]) func ordinaryUser(mounted: Bool) throws {
            let programs = "\(DocumentedExample.root)/Tests/MountTests/Programs"
            let python = Program.python
            let outcome = try ClosedStoreTests().asUser(
                """
                ./purgefs mount --total 16G store mountpoint
                trap './purgefs unmount mountpoint' EXIT
                '\(python)' '\(programs)/backup_tree.py' mountpoint 200
                if [ \(mounted) = false ]; then ./purgefs unmount mountpoint; trap - EXIT; fi
                ./purgefs backup create \(mounted ? "mountpoint" : "store") --output backup >&2
                ./purgefs backup restore backup restored >&2
                if [ \(mounted) = true ]; then ./purgefs unmount mountpoint; trap - EXIT; fi
                '\(python)' '\(programs)/backup_compare.py' store/container restored/container
                """)
            let found = try outcome.succeeded().split(separator: "\n").map(String.init)
            #expect(found == Self.leftOut.map { "only left \($0)" } + Self.newFolders)
        }

        /// On a locked device, the error names the unreadable file and nothing is left behind. An unmounted store can be read.
        @Test func lockedDevice() throws {
            try withMount { mount in
                try mount.make("Documents/secret", size: 100)
                try Attributes.mark(mount.path("Documents/secret"), "fileProtection", "complete")
                try mount.write("lock", to: "device.state")
                try mount.write("+1m", to: "device.clock")
                let backup = "\(mount.scratch)/backup"
                let refused = try PurgefsBinary.run("backup", "create", mount.root, "--output", backup)
                #expect(refused.status == 1 && refused.errors.contains("Documents/secret: it cannot be read"))
                #expect(refused.errors.contains("purgefs device unlock"))
                #expect(try !Files.names(in: mount.scratch).contains { $0.contains("backup") })
                try mount.write("unlock", to: "device.state")
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try mount.write("lock", to: "device.state")
                try mount.write("+1m", to: "device.clock")
                try mount.unmount()
                try PurgefsBinary.run("backup", "create", mount.store, "--output", "\(mount.scratch)/other").succeeded()
            }
        }

        /// A backup of a mount or of a store has the file ages that an app sees, and so does the restored container.
        @Test func advancedClock() throws {
            try withMount { mount in
                try mount.make("Documents/before", size: 1)
                let moment = try Files.status(mount.path("Documents/before")).st_mtim.tv_sec
                try mount.write("+3w", to: "device.clock")
                try mount.make("Documents/after", size: 1)
                let shown = try Files.status(mount.path("Documents/before")).st_mtim.tv_sec
                #expect(moment - shown == 21 * 86400)
                // Only an attribute of the link has this time.
                try Files.symlink("before", mount.path("Documents/link"))
                let passed = moment - 5 * 86400
                try Program.run(["touch", "-h", "-d", "@\(passed)", mount.path("Documents/link")]).succeeded()
                for target in [mount.root, mount.store] {
                    if target == mount.store { try mount.unmount() }
                    let (backup, restored) = (
                        "\(mount.scratch)/backup\(target.count)", "\(mount.scratch)/new\(target.count)"
                    )
                    try PurgefsBinary.run("backup", "create", target, "--output", backup).succeeded()
                    try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                    let before = try Files.status("\(restored)/container/Documents/before").st_mtim.tv_sec
                    let after = try Files.status("\(restored)/container/Documents/after").st_mtim.tv_sec
                    #expect(before == shown && after >= moment)
                    #expect(try Files.status("\(restored)/container/Documents/link").st_mtim.tv_sec == passed)
                }
            }
        }

        /// A time in the future ages like any other, also on the device to which it was restored.
        @Test func futureTimes() throws {
            try withMount { mount in
                let (week, now) = (7 * 86400, Int(time(nil)))
                let wanted = [
                    "Documents/file": now + 2 * week, "Documents/folder": now + week, "Documents/link": now + 86400,
                ]
                try mount.make("Documents/file", size: 1)
                try Files.makeDirectory(mount.path("Documents/folder"))
                try Files.symlink("file", mount.path("Documents/link"))
                for (path, moment) in wanted {
                    try Program.run(["touch", "-h", "-d", "@\(moment)", mount.path(path)]).succeeded()
                }
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/new")
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try mount.unmount()
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                try Files.rename(mount.store, "\(mount.scratch)/old")
                try Files.rename(restored, mount.store)
                try mount.mount()
                for (path, moment) in wanted { #expect(try Files.status(mount.path(path)).st_mtim.tv_sec == moment) }
                try mount.write("+1w", to: "device.clock")
                for (path, moment) in wanted {
                    #expect(try Files.status(mount.path(path)).st_mtim.tv_sec == moment - week)
                }
            }
        }

        /// A backup reads files by path, but purging still follows their earlier last uses.
        @Test func itIsNoUse() throws {
            try withMount { mount in
                for name in ["b", "a"] {
                    try mount.make("Documents/\(name)", size: 4096)
                    try mount.mark("Documents/\(name)", "low")
                }
                try PurgefsBinary.run("backup", "create", mount.root, "--output", "\(mount.scratch)/backup").succeeded()
                try mount.write("8K", to: "storage.reclaim")
                #expect(try mount.purgesAfterUnmount().paths == ["Documents/b", "Documents/a"])
            }
        }

        /// A backup contains a program's writes through a mapping even if the kernel has not written them back yet. The
        /// daemon still sees holes.
        @Test func mappedFiles() throws {
            try withMount { mount in
                let sizes = ["small": 1 << 20, "large": 16 << 20]
                var mappings: [(UnsafeMutableRawPointer, Int)] = []
                defer { for (mapping, size) in mappings { munmap(mapping, size) } }
                for (name, size) in sizes {
                    let file = try OpenFile(mount.path("Documents/\(name)"))
                    try System.truncate(file.descriptor, Int64(size))
                    let mapping = try #require(
                        mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0))
                    try #require(mapping != MAP_FAILED)
                    mapping.storeBytes(of: 0x68, toByteOffset: 8192, as: UInt8.self)
                    mappings.append((mapping, size))
                }
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/restored")
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                for (name, size) in sizes {
                    let content = try Files.content("\(restored)/container/Documents/\(name)")
                    #expect(content.count == size && content[8192] == 0x68 && content[8191] == 0)
                }
            }
        }

        /// Files that were excluded after the backup are listed, and the status is 0 because the new store is right. A folder
        /// of the layout that was excluded before is not listed.
        @Test func excludedLater() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 5)
                try mount.make("Library/Application Support/b", size: 5)
                try Attributes.mark(mount.path("Library/Application Support"), "isExcludedFromBackup", "1")
                let backup = "\(mount.scratch)/backup"
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                let same = try PurgefsBinary.run("backup", "restore", backup, "\(mount.scratch)/same").succeeded()
                #expect(!same.contains("restored, but excluded"))
                try Attributes.mark(mount.path("Documents/a"), "isExcludedFromBackup", "1")
                let text = try PurgefsBinary.run("backup", "restore", backup, "\(mount.scratch)/text").succeeded()
                #expect(text.contains("restored, but excluded from backups since then:\n  Documents/a\n"))
                let json = try PurgefsBinary.run("backup", "restore", backup, "\(mount.scratch)/json", "--json")
                    .succeeded()
                #expect(json.contains("\"unexpected\":[\"Documents/a\"]"))
            }
        }

        /// A backup is refused while a deletion is unfinished. The next mount finishes the deletion.
        @Test func unfinishedDeletion() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 5)
                try mount.unmount()
                var settings = try settings(mount.store)
                settings["unfinished"] = "delete"
                let content = try JSONSerialization.data(withJSONObject: settings)
                try Files.write(String(decoding: content, as: UTF8.self), to: "\(mount.store)/device.json")
                try Files.write("", to: "\(mount.store)/device.json.removing")
                for words in [["create", mount.store, "--output", "\(mount.scratch)/backup"], ["audit", mount.store]] {
                    let refused = try Program.run([PurgefsBinary.path, "backup"] + words)
                    #expect(
                        refused.status == 1 && refused.errors.contains("mount the store, and try again"), "\(refused)")
                }
                try mount.mount()
                try mount.unmount()
                #expect(try Files.names(in: "\(mount.store)/container/Documents") == [])
                try PurgefsBinary.run("backup", "audit", mount.store).succeeded()
            }
        }

        /// The error names the changing file, and nothing is left behind.
        @Test func changingFile() throws {
            try withMount(["--total", "1G"]) { mount in
                try mount.make("Documents/log", size: 64 << 20)
                let writer = try Program.start(
                    ["sh", "-c", "while :; do echo x >>Documents/log; done"], in: mount.root)
                defer { writer.signalGroup(SIGKILL) }
                let outcome = try PurgefsBinary.run(
                    "backup", "create", mount.root, "--output", "\(mount.scratch)/backup")
                #expect(
                    outcome.status == 1 && outcome.errors.contains("Documents/log: it changed while it was being read"))
                #expect(try !Files.names(in: mount.scratch).contains { $0.contains("backup") })
                writer.signalGroup(SIGKILL)
                try writer.wait(within: 10)
            }
        }

        @Test func fullDisk() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 8 << 20)
                try mount.unmount()
                let disk = "\(mount.scratch)/disk"
                try Files.makeDirectory(disk)
                try PurgefsBinary.run("backup", "create", mount.store, "--output", "\(mount.scratch)/backup")
                    .succeeded()
                try Program.run("mount", "-t", "tmpfs", "-o", "size=4M", "none", disk).succeeded()
                defer { _ = try? Program.run("umount", disk) }
                for words in [
                    ["create", mount.store, "--output", "\(disk)/b"],
                    ["restore", "\(mount.scratch)/backup", "\(disk)/r"],
                ] {
                    let outcome = try Program.run([PurgefsBinary.path, "backup"] + words)
                    #expect(outcome.status == 1 && outcome.errors.contains("The disk is full"), "\(outcome)")
                    #expect(try Files.names(in: disk) == [])
                }
            }
        }

        /// Existing files are not touched, and a store is not backed up into itself.
        @Test func refusedPlaces() throws {
            try withMount { mount in
                let backup = "\(mount.scratch)/backup"
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try Files.write("x", to: "\(mount.scratch)/file")
                for place in [
                    backup, "\(mount.scratch)/file", mount.path("Documents/b"), "\(mount.store)/b", "/no/such/folder/b",
                ] {
                    #expect(
                        try PurgefsBinary.run("backup", "create", mount.root, "--output", place).status == 1, "\(place)"
                    )
                    #expect(try PurgefsBinary.run("backup", "restore", backup, place).status == 1, "\(place)")
                }
                #expect(try Files.names(in: backup) == ["data.tar", "manifest.json"])
                #expect(try Files.names(in: mount.path("Documents")) == [])
            }
        }

        /// A backup records an event in the source's journal, mounted or not, and a restore records one in the new store's
        /// journal.
        @Test func events() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 5000)
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/restored")
                func backups(_ store: String, _ type: String) throws -> [String] {
                    try PurgefsBinary.run("events", store, "--json", "--type", type).succeeded().split(separator: "\n")
                        .map {
                            String($0).contains("\"bytes\":5000") ? "5000" : String($0)
                        }
                }
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                #expect(try backups(mount.root, "backup") == ["5000"])
                try mount.unmount()
                try PurgefsBinary.run("backup", "create", mount.store, "--output", "\(backup)2").succeeded()
                #expect(try backups(mount.store, "backup") == ["5000", "5000"])
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                #expect(try backups(restored, "restore") == ["5000"])
            }
        }

        /// A backup of 100,000 entries (30,000 outside of `make long`) and its restore need less than 50,000 KiB of memory
        /// each.
        @Test func memory() throws {
            try Scratch.with("backup") { scratch in
                let (store, directories) = ("\(scratch.path)/store", Scale.factor < 1 ? 30 : 100)
                try Files.makeDirectory("\(scratch.path)/m")
                try PurgefsBinary.run("mount", "--total", "16G", store, "\(scratch.path)/m").succeeded()
                try PurgefsBinary.run("unmount", "\(scratch.path)/m").succeeded()
                try Program.shell(
                    "for d in $(seq \(directories)); do mkdir $d; (cd $d; seq 1000 | xargs touch); done",
                    in: "\(store)/container/Documents", timeout: 240
                ).succeeded()
                for words in [
                    ["create", store, "--output", "\(scratch.path)/backup"],
                    ["restore", "\(scratch.path)/backup", "\(scratch.path)/restored"],
                ] {
                    let outcome = try Program.run(
                        ["/usr/bin/python3", "-c", Self.measure, PurgefsBinary.path, "backup"] + words, timeout: 240)
                    let kibibytes = try #require(Int(outcome.succeeded().split(separator: "\n").last ?? ""))
                    #expect(kibibytes < 50_000)
                }
                let last = "\(scratch.path)/restored/container/Documents/\(directories)"
                #expect(try Files.names(in: last).count == 1000)
            }
        }

        private static let measure = """
            import resource, subprocess, sys
            subprocess.run(sys.argv[1:], check=True)
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
            """
    }
}
