import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Damaged stores give a clear message and lose no file of the container.
    @Suite struct DamagedStoreTests {
        private func withStore(_ body: (TestMount) throws -> Void) throws {
            try withMount { mount in
                try mount.make("Documents/precious", size: 100_000)
                try mount.make("Library/Caches/cached", size: 5000)
                try mount.mark("Documents/precious", "low")
                try mount.unmount()
                try body(mount)
                let container = "\(mount.store)/container"
                #expect(
                    try Files.content("\(container)/Documents/precious") == [UInt8](repeating: 0xA7, count: 100_000))
                #expect(Files.exists("\(container)/Library/Caches/cached"))
            }
        }

        @Test(arguments: [
            "", "{", "not json", "[]", "null", "{}", "{\"version\":99}", "{\"version\":1,\"total\":-4096}",
            "{\"version\":1,\"total\":\"much\"}", "\u{0}\u{0}\u{0}\u{0}",
        ])
        func deviceSettings(content: String) throws {
            try withStore { mount in
                let file = "\(mount.store)/device.json"
                let good = Files.text(file)
                try Files.write(content, to: file)
                try BadInputTests.refused(["mount", mount.store, mount.root], status: 1, naming: ["device.json"])
                try BadInputTests.refused(["status", mount.store], status: 1, naming: ["device.json"])
                try BadInputTests.refused(
                    ["run", "--store", mount.store, "--", "true"], status: 125, naming: ["device.json"])
                #expect(Files.text(file) == content)
                try Files.write(good, to: file)
                try mount.mount()
                #expect(try mount.number("storage.used") == 102_400 + 8192)
                try mount.unmount()
            }
        }

        /// device.json may be cut in half, or hold values that no device can have.
        @Test func deviceSettingsThatAreAlmostSound() throws {
            try withStore { mount in
                let file = "\(mount.store)/device.json"
                let good = Files.text(file)
                let bad = [
                    String(good.prefix(good.count / 2)), good.replacingOccurrences(of: "67108864", with: "-67108864"),
                    good.replacingOccurrences(of: "documented", with: "unheard-of"),
                ]
                for content in bad {
                    #expect(content != good)
                    try Files.write(content, to: file)
                    try BadInputTests.refused(["mount", mount.store, mount.root], status: 1, naming: ["device.json"])
                    #expect(Files.text(file) == content)
                }
                try Files.write(good, to: file)
            }
        }

        /// The journal is only history, so a mount works without it. The mount keeps the damaged file, and reports it in the
        /// log and in the new journal. An empty file counts as a new journal.
        @Test(arguments: ["not a database at all, but long enough to look like one".repeated(100), "short", ""])
        func journal(content: String) throws {
            try withStore { mount in
                let file = "\(mount.store)/journal.sqlite"
                for name in try Files.names(in: mount.store) where name.hasPrefix("journal.sqlite-") {
                    try Files.unlink("\(mount.store)/\(name)")
                }
                try Files.write(content, to: file)
                let check = try Program.run([PurgefsBinary.path, "check", mount.store])
                if !content.isEmpty {
                    #expect(check.status == 1 && check.output.contains("journal.sqlite"), "\(check)")
                }
                try mount.mount()
                if !content.isEmpty {
                    mount.expectWarnings()
                    #expect(Files.text("\(mount.store)/journal.sqlite.damaged-1") == content)
                    #expect(mount.log.contains("is now `journal.sqlite.damaged-1`, and a new one was started"))
                }
                try mount.unmount()
                let types = try StoreEvent.journal(of: mount.store).map(\.type)
                #expect(types == (content.isEmpty ? [] : ["dropped"]) + ["mount", "unmount"])
            }
        }

        /// A run ends with 125, and `unmount` with 1, if the journal has lost events meanwhile.
        @Test(arguments: ["head -c 100000 /dev/zero | tr '\\0' x > JOURNAL", "rm JOURNAL"])
        func theJournalOfARun(damage: String) throws {
            try withStore { mount in
                let journal = "\(mount.store)/journal.sqlite"
                let script =
                    damage.replacingOccurrences(of: "JOURNAL", with: "'\(journal)'")
                    + "; '\(PurgefsBinary.path)' set others=1M; '\(PurgefsBinary.path)' set others=2M"
                let run = try Program.run(
                    [PurgefsBinary.path, "run", "--store", mount.store, "--", "sh", "-c", script])
                #expect(run.status == 125 && run.errors.contains("the journal was "), "\(run)")
                #expect(try StoreEvent.journal(of: mount.store).contains { $0.type == "dropped" })
                let second = try Program.run([PurgefsBinary.path, "run", "--store", mount.store, "--", "true"])
                #expect(second.status == 0, "\(second)")
                try mount.mount()
                mount.expectWarnings()
                // A write of the journal that is under way would write over the damage.
                try eventually("the mount event") { try StoreEvent.journal(of: mount.store).last?.type == "mount" }
                try Program.shell(script, in: mount.root).succeeded()
                let daemon = try #require(mount.daemon)
                let unmount = try Program.run([PurgefsBinary.path, "unmount", mount.root])
                try mount.awaitDaemonEnd(daemon)
                #expect(unmount.status == 1 && unmount.errors.contains("the journal was "), "\(unmount)")
            }
        }

        /// A mount replaces a journal that is cut short or has other bytes in the middle. A repair reads the events that are
        /// left in it.
        @Test(arguments: [true, false]) func aPartOfTheJournal(isCut: Bool) throws {
            try withStore { mount in
                try mount.mount()
                for number in 0..<2000 { try mount.write("\(4096 * number)", to: "storage.others") }
                try mount.unmount()
                let file = try OpenFile("\(mount.store)/journal.sqlite", O_RDWR)
                let size = try Files.size("\(mount.store)/journal.sqlite")
                if isCut {
                    #expect(ftruncate(file.descriptor, off_t(size / 2)) == 0)
                } else {
                    let noise = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 * $0 / 7) }
                    let written = pwrite(file.descriptor, noise, noise.count, off_t(size / 2))
                    #expect(written == noise.count)
                }
                file.close()
                try mount.mount()
                mount.expectWarnings()
                #expect(mount.log.contains("is now `journal.sqlite.damaged-1`, and a new one was started"))
                #expect(try mount.number("storage.used") == 102_400 + 8192)
                try mount.write("1M", to: "storage.others")
                try mount.unmount()
                let journal = try StoreEvent.journal(of: mount.store)
                #expect(journal.map(\.type) == ["dropped", "mount", "capacity", "unmount"])
                #expect(journal[0].reason == "events of a damaged journal, which is now `journal.sqlite.damaged-1`")
                // A run does the same as a mount.
                try Files.write("nonsense", to: "\(mount.store)/journal.sqlite")
                let run = try Program.run([PurgefsBinary.path, "run", "--store", mount.store, "--", "true"])
                #expect(run.status == 0 && run.errors.contains("the journal was damaged"), "\(run)")
                try Files.rename("\(mount.store)/journal.sqlite.damaged-1", "\(mount.store)/journal.sqlite")
                let repair = try Program.run([PurgefsBinary.path, "check", "--repair", mount.store]).succeeded()
                let words = try #require(repair.firstMatch(of: /; (\d+) events could be read/))
                let read = try #require(Int(words.1))
                #expect(read > 100 && read < 2000)
            }
        }

        /// After a crash, the journal says that events of about the last second may be missing.
        @Test func aDaemonThatWasKilled() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 1)
                #expect(Glibc.unlink(mount.path("Documents/a")) == 0)
                try eventually("the journal") {
                    try StoreEvent.journal(of: mount.store).contains { $0.type == "removed" }
                }
                try mount.crash()
                try mount.mount()
                try mount.unmount()
                try mount.mount()
                try mount.unmount()
                let journal = try StoreEvent.journal(of: mount.store)
                #expect(journal.map(\.type) == ["mount", "removed", "dropped", "mount", "unmount", "mount", "unmount"])
                #expect(
                    journal[2].reason == "about one second of events: the last mount did not end with an unmount")
            }
        }

        @Test func aJournalThatIsADirectory() throws {
            try withStore { mount in
                for name in try Files.names(in: mount.store) where name.hasPrefix("journal.sqlite") {
                    try Files.unlink("\(mount.store)/\(name)")
                }
                try Files.makeDirectory("\(mount.store)/journal.sqlite")
                try BadInputTests.refused(["mount", mount.store, mount.root], status: 1, naming: ["journal.sqlite"])
            }
        }

        /// A mount recreates missing folders of the layout. A file in the place of such a folder belongs to the app and stays.
        @Test func containerLayout() throws {
            try withStore { mount in
                let container = "\(mount.store)/container"
                try Program.shell("rmdir '\(container)/Library/Application Support' '\(container)/tmp'").succeeded()
                try mount.mount()
                #expect(mount.exists("Library/Application Support") && mount.exists("tmp"))
                try mount.unmount()
                try Files.removeDirectory("\(container)/tmp")
                try Files.write("in the way", to: "\(container)/tmp")
                try? mount.mount()
                try mount.unmount()
                #expect(Files.text("\(container)/tmp") == "in the way")
            }
        }

        /// A mount does not fail because of attributes with values that purgefs would not have written.
        @Test func attributesInTheStore() throws {
            try withStore { mount in
                let file = "\(mount.store)/container/Documents/precious"
                for name in try Attributes.names(file) { try Attributes.set(file, name, "\u{1}nonsense") }
                try mount.mount()
                #expect(try Files.content(mount.path("Documents/precious")).count == 100_000)
                #expect(try mount.number("storage.used") == 102_400 + 8192)
                try mount.write("1M", to: "storage.others")
                try mount.crash()
            }
        }
    }
}

extension String {
    fileprivate func repeated(_ count: Int) -> String { String(repeating: self, count: count) }
}
