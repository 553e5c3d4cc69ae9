import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Events in the stream and in the journal.
    @Suite struct EventTests {
        @Test func aPurgeIsTold() throws {
            try withMount { mount in
                try mount.make("tmp/before", size: 4096)
                try mount.write("tmp", to: "storage.reclaim")
                let reader = try EventReader(mount)
                try mount.make("Library/Caches/f", size: 5000)
                try mount.write("caches", to: "storage.reclaim")
                try reader.wait("a purge") { $0.contains { $0.type == "purge" } }
                let event = try #require(reader.seen.first { $0.type == "purge" })
                #expect(event.path == "Library/Caches/f" && event.tier == "caches" && event.bytes == 8192)
                #expect(event.reason == "caches" && event.trigger == "command")
                #expect(event.time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil, "\(event.time)")
                reader.close()
            }
        }

        /// The event of a refusal names the refused process, and the event of a purge names the process whose write caused it.
        @Test func processesAreNamed() throws {
            try withMount { mount in
                try mount.make("Library/Caches/f", size: 4096)
                try mount.takeAllFreeSpace()
                let reader = try EventReader(mount)
                try mount.writeImportant(4096)
                let refused = try OpenFile(mount.path("Documents/refused"))
                #expect(throws: Errno.noSpace) { try refused.write(1) }
                try reader.wait("both") { seen in
                    ["purge", "refused"].allSatisfy { type in seen.contains { $0.type == type } }
                }
                let purge = try #require(reader.seen.first { $0.type == "purge" })
                #expect(purge.trigger == "importantWrite" && purge.pid == getpid())
                let event = try #require(reader.seen.first { $0.type == "refused" })
                #expect(event.path == "Documents/refused" && event.tier == "persistent" && event.pid == getpid())
                reader.close()
            }
        }

        /// The journal has every event of the stream once, in order, across mounts.
        @Test func theJournalKeepsThemAll() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                for round in 0..<300 {
                    try mount.make("tmp/f\(round)", size: 4096)
                    try mount.write("tmp", to: "storage.reclaim")
                }
                try reader.wait("300 purges") { $0.filter { $0.type == "purge" }.count == 300 }
                reader.close()
                try mount.remount()
                try mount.write("1M", to: "storage.others")
                try mount.unmount()
                let journal = try StoreEvent.journal(of: mount.store)
                let first = try #require(journal.first?.seq)
                #expect(journal.map(\.seq) == (0..<Int64(journal.count)).map { first + $0 })
                #expect(journal.filter { $0.type == "purge" } == reader.seen.filter { $0.type == "purge" })
                #expect(journal.filter { $0.type == "mount" }.count == 2)
                #expect(journal.filter { $0.type == "unmount" }.count == 2)
                #expect(journal.contains { $0.type == "capacity" })
            }
        }

        /// The events of a mount begin with `mount`, however slowly its threads start: strace delays each by 0.1 s.
        @Test func theStartComesFirst() throws {
            try withMount(mounted: false) { mount in
                let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=clone3"]
                let slowly = strace + ["-e", "inject=clone3:delay_exit=100000"]
                try mount.mount(wrapper: slowly)
                try mount.write("1M", to: "storage.others")
                try mount.make("tmp/a", size: 4096)
                try mount.unmount()
                // Free space is low now, so the mount purges as soon as it can.
                try mount.mount(["--others", "60G"], wrapper: slowly)
                try eventually("the purge") { !mount.exists("tmp/a") }
                try mount.unmount()
                let types = try StoreEvent.journal(of: mount.store).map(\.type)
                // The scan before the mount finds the level.
                #expect(types.filter { $0 != "pressure" }.prefix(4) == ["mount", "capacity", "unmount", "mount"])
                #expect(types.filter { $0 == "purge" }.count == 1)
            }
        }

        /// A read blocks until there is an event and ends at unmount. A reader does not keep the mount busy.
        @Test(arguments: [true, false]) func theStreamBlocksAndEnds(bySignal: Bool) throws {
            try withMount { mount in
                let output = "\(mount.scratch)/events.out"
                let reader = try Program.start(["sh", "-c", "exec cat \(mount.control("events")) > \(output)"])
                try eventually("a reader") { Files.open(in: "\(reader.pid)").contains(mount.control("events")) }
                try mount.make("tmp/f", size: 4096)
                try mount.write("tmp", to: "storage.reclaim")
                try eventually("the event") { try StoreEvent.lines(Files.text(output)).contains { $0.path == "tmp/f" } }
                #expect(reader.status() == nil)
                if bySignal {
                    mount.daemon?.signal(SIGTERM)
                } else {
                    try PurgefsBinary.run("unmount", mount.root).succeeded()
                }
                #expect(try reader.wait(within: 20) == 0)
                try mount.awaitEnd()
            }
        }

        /// A waiting reader can be interrupted.
        @Test func aWaitingReaderCanBeKilled() throws {
            try withMount { mount in
                let readers = try (0..<30).map { _ in try Program.start(["cat", mount.control("events")]) }
                try mount.make("tmp/f", size: 4096)
                for reader in readers { reader.signal(SIGTERM) }
                for reader in readers { #expect(try reader.wait(within: 10) == 143) }
                try mount.write("tmp", to: "storage.reclaim")
            }
        }

        /// Names that are not UTF-8 or need escapes still give valid JSON.
        @Test func oddNames() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                let names = [
                    "quote\"and\\back", "new\nline", "tab\t\u{1}", "Größe 🦆", String(repeating: "n", count: 255),
                ]
                for name in names { try mount.make("tmp/\(name)", size: 4096) }
                try Program.run([Program.python, "-c", "open(b'tmp/\\xff\\xfe', 'w').write('x')"], in: mount.root)
                    .succeeded()
                try mount.write("tmp", to: "storage.reclaim")
                try reader.wait("all purges") { $0.filter { $0.type == "purge" }.count == names.count + 1 }
                let paths = reader.seen.filter { $0.type == "purge" }.map { $0.path ?? "" }
                #expect(paths == names.map { "tmp/\($0)" } + ["tmp/\u{FFFD}\u{FFFD}"])
                reader.close()
                #expect(try Set(mount.purgesAfterUnmount().paths) == Set(paths))
            }
        }

        /// A reader that falls 1 MiB behind gets a record of dropped events.
        @Test func aSlowReaderIsTold() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                let long = String(repeating: "n", count: 240)
                for round in 0..<60 {
                    for number in 0..<100 { try mount.make("tmp/\(long)\(number)", size: 1) }
                    try mount.write("tmp", to: "storage.reclaim")
                    if round == 0 { #expect(try mount.number("storage.used") == 0) }
                }
                try reader.wait("a dropped record") { $0.contains { $0.type == "dropped" } }
                reader.close()
                #expect(try mount.purgesAfterUnmount().count == 6000)
            }
        }
    }
}
