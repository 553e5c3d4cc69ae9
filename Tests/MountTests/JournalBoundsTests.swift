import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `journal.size`, `journal.age`, and the samples of the device's use.
    @Suite struct JournalBoundsTests {
        private func ask(_ mount: TestMount, _ query: String) throws -> String {
            let words = ["sqlite3", "-readonly", "-cmd", ".timeout 10000", "\(mount.store)/journal.sqlite", query]
            return try Program.run(words).succeeded()
        }

        /// With size 0, nothing is recorded except the unmount of a mount that is already in the journal. The setting is kept,
        /// and the stream continues.
        @Test func noEvents() throws {
            try withMount { mount in
                try PurgefsBinary.run("set", mount.root, "journal.size=0", "journal.age=30d").succeeded()
                let before = try StoreEvent.journal(of: mount.store).count
                let samples = try ask(mount, "SELECT count(*) FROM samples")
                let reader = try EventReader(mount)
                for number in 0..<10 { try mount.make("tmp/\(number)", size: 4096) }
                #expect(Glibc.unlink(mount.path("tmp/0")) == 0)
                try mount.write("tmp", to: "storage.reclaim")
                try reader.wait("the purges") { $0.count { $0.type == "purge" } == 9 }
                reader.close()
                try mount.remount()
                #expect(try mount.read("journal.size") == "0" && mount.read("journal.age") == "30d")
                try mount.unmount()
                #expect(try StoreEvent.journal(of: mount.store).dropFirst(before).map(\.type) == ["unmount"])
                #expect(try ask(mount, "SELECT count(*) FROM samples") == samples)
                try mount.mount()
                try PurgefsBinary.run("set", mount.root, "journal.size=1M").succeeded()
                try mount.write("+1M", to: "storage.others")
                #expect(try StoreEvent.journal(of: mount.store).contains { $0.reason == "storage.others=+1M" })
            }
        }

        /// The journal's file never exceeds its size limit, however many names change.
        @Test func staysWithinItsSize() throws {
            try withMount { mount in
                try PurgefsBinary.run("set", mount.root, "journal.size=1M").succeeded()
                let path = "\(mount.store)/journal.sqlite"
                var longest: Int64 = 0
                let long = String(repeating: "n", count: 200)
                let rounds = max(3, Scale.of(8))
                for round in 0..<rounds {
                    let script = """
                        import os
                        os.chdir('\(mount.path("tmp"))')
                        for n in range(1000):
                            open('\(long)%d' % n, 'w').close()
                            os.rename('\(long)%d' % n, 'x')
                            os.unlink('x')
                        """
                    try Program.run([Program.python, "-c", script]).succeeded()
                    try mount.write("+\(4096 * (round + 1))", to: "storage.others")
                    longest = max(longest, try Files.size(path))
                }
                #expect(longest <= 1 << 20 && longest > 1 << 19)
                #expect(try StoreEvent.journal(of: mount.store).last?.reason == "storage.others=+\(4096 * rounds)")
                try mount.unmount()
                #expect(try Files.size(path) <= 1 << 20)
            }
        }

        @Test func samples() throws {
            try withMount(["--total", "64M"]) { mount in
                func used() throws -> [String] {
                    try ask(mount, "SELECT used || ' ' || caches || ' ' || pressure FROM samples ORDER BY id")
                        .split(separator: "\n").map(String.init)
                }
                try eventually("the first") { try used() == ["0 0 normal"] }
                try mount.make("Library/Caches/small", size: 4096)
                try mount.make("Library/Caches/big", size: 1 << 20)
                try eventually("a second") { try used().last == "1052672 1052672 normal" }
                let total = try mount.number("storage.total")
                try mount.write("\(total - (2 << 20))", to: "storage.others")
                try eventually("the level") { try used().contains { $0.hasSuffix(" veryLow") } }
                try mount.write("0", to: "storage.others")
                try mount.make("Documents/tiny", size: 4096)
                try mount.unmount()
                let last = try #require(used().last)
                #expect(last.split(separator: " ").first.flatMap { Int64($0) } == 4096 + (try cachesUsed(mount)))
            }
        }
        /// Returns the bytes in Library/Caches according to the unmounted store's files.
        private func cachesUsed(_ mount: TestMount) throws -> Int64 {
            let folder = "\(mount.store)/container/Library/Caches"
            return try Files.names(in: folder).reduce(0) { $0 + (try Files.size("\(folder)/\($1)")) }
        }
    }
}
