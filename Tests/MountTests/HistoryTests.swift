import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The journal's record of files that are gone.
    @Suite struct HistoryTests {
        /// A line of `purgefs events --json`.
        private struct Line: Decodable {
            struct PassedOver: Decodable, Equatable {
                var path, reason: String
                var pid: Int32?
                var process: String?
            }
            var seq: Int64
            var type: String
            var path, to, tier, cause, process, lastUse, pressure, realTime: String?
            var bytes: Int64?
            var pid: Int32?
            var passedOver: [PassedOver]?

            /// A short form for events about names.
            var text: String {
                let parts: [String?] = [type, path, to.map { "(\($0))" }, tier, bytes.map { "\($0)" }]
                return parts.compactMap { $0 }.joined(separator: " ")
            }
        }
        private func lines(_ mount: TestMount, _ types: String...) throws -> [Line] {
            let words = [PurgefsBinary.path, "events", mount.root, "--json"] + types.flatMap { ["--type", $0] }
            return try Program.run(words).succeeded().split(separator: "\n").map {
                try JSONDecoder().decode(Line.self, from: Data($0.utf8))
            }
        }
        private func ownLines(_ mount: TestMount) throws -> [Line] {
            try lines(mount, "removed", "renamed", "replaced")
        }
        /// Returns the name of a process, without the newline.
        private func commandName(_ pid: pid_t = getpid()) -> String {
            String(Files.text("/proc/\(pid)/comm").dropLast())
        }

        @Test func whatTheAppDoesToNames() throws {
            try withMount { mount in
                let reader = try EventReader(mount)
                try changeNames(mount)
                try mount.write("tmp", to: "storage.reclaim")
                try reader.wait("the purges") { $0.count { $0.type == "purge" } == 2 }
                // The stream omits the app's own changes of names.
                #expect(!reader.seen.contains { ["removed", "renamed", "replaced"].contains($0.type) })
                reader.close()
                let own = try ownLines(mount)
                #expect(own.map(\.text) == Self.namesChanged)
                #expect(own.allSatisfy { $0.pid == getpid() && $0.process == commandName() && $0.realTime != nil })
                // Without `--all` or `--type`, `events` omits the app's own changes of names.
                #expect(try lines(mount).allSatisfy { $0.type == "purge" || $0.type == "mount" })
            }
        }

        private static let namesChanged = [
            "renamed Documents/a (tmp/a) persistent 8192", "replaced Documents/c (Documents/b) persistent 8192",
            "renamed Documents/b (Documents/c) persistent 8192", "renamed Documents/folder (tmp/folder) persistent",
            "removed tmp/folder temporary", "removed Documents/d persistent", "removed Documents/e persistent 8192",
            "renamed tmp/a (Documents/c) temporary 8192", "renamed Documents/c (tmp/a) persistent 8192",
        ]
        private func changeNames(_ mount: TestMount) throws {
            for name in ["a", "b", "c", "d"] { try mount.make("Documents/\(name)", size: 5000) }
            try mount.make("tmp/t", size: 4096)
            try mount.makeDirectory("Documents/folder")
            func rename(_ old: String, _ new: String) {
                #expect(Glibc.rename(mount.path(old), mount.path(new)) == 0)
            }
            rename("Documents/a", "tmp/a")
            rename("Documents/b", "Documents/c")
            rename("Documents/folder", "tmp/folder")
            #expect(rmdir(mount.path("tmp/folder")) == 0)
            #expect(link(mount.path("Documents/d"), mount.path("Documents/e")) == 0)
            rename("Documents/d", "Documents/e")  // no effect: both names belong to one file
            #expect(Glibc.unlink(mount.path("Documents/d")) == 0)
            #expect(Glibc.unlink(mount.path("Documents/e")) == 0)
            try Files.rename(mount.path("tmp/a"), mount.path("Documents/c"), flags: RenameFlag.exchange)
        }

        /// The event of a removal names the program even if the program ended before the journal was written.
        @Test func aProgramThatHasEnded() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 1)
                try Program.run(["rm", mount.path("Documents/a")]).succeeded()
                let told = try ownLines(mount).map { "\($0.text) \($0.process ?? "")" }
                #expect(told == ["removed Documents/a persistent 4096 rm"])
            }
        }

        /// Purges, a reboot and the deletion of the app are not recorded as the app's own changes.
        @Test func whatTheDeviceDoes() throws {
            try withMount { mount in
                for name in ["tmp/a", "tmp/b", "Library/Caches/c"] { try mount.make(name, size: 4096) }
                try mount.makeDirectory("tmp/folder")
                try mount.write("caches", to: "storage.reclaim")
                try mount.write("reboot", to: "device.state")
                try mount.write("delete", to: "app.state")
                #expect(try ownLines(mount).isEmpty)
                let rebooted = try lines(mount, "purge").filter { $0.path?.hasPrefix("tmp/") == true }
                #expect(rebooted.count == 2 && rebooted.allSatisfy { $0.lastUse != nil && $0.pressure == "normal" })
            }
        }

        /// A purge for a write names the written file and the program. It also lists the open and hard-linked files that were
        /// skipped, and the process that has a file open.
        @Test func aPurgeForAWrite() throws {
            try withMount { mount in
                try mount.make("Library/Caches/open", size: 4096)
                try mount.make("Library/Caches/two", size: 4096)
                #expect(link(mount.path("Library/Caches/two"), mount.path("Library/Caches/names")) == 0)
                try mount.make("Documents/open", size: 4096)
                let holder = try Program.start(["sh", "-c", "exec sleep 100 < '\(mount.path("Library/Caches/open"))'"])
                defer { holder.signal(SIGKILL) }
                let document = try OpenFile(mount.path("Documents/open"), O_RDONLY)
                try eventually("sleep") { commandName(holder.pid) == "sleep" }
                try mount.make("Library/Caches/victim", size: 8192)
                let before = try #require(lines(mount, "mount").first?.realTime)
                try mount.takeAllFreeSpace()
                try Program.run(
                    ["dd", "if=/dev/zero", "of=\(mount.path("Documents/big"))", "bs=8192", "count=1", "status=none"]
                ).succeeded()
                let purge = try #require(lines(mount, "purge").first)
                #expect(
                    purge.path == "Library/Caches/victim" && purge.cause == "Documents/big" && purge.process == "dd")
                #expect(try #require(purge.lastUse) > before && purge.realTime ?? "" > purge.lastUse ?? "")
                #expect(purge.pressure == "normal")  // thresholds are off
                let passedOver = try #require(purge.passedOver)
                #expect(passedOver.count == 2)
                #expect(
                    passedOver.first { $0.path == "Library/Caches/open" }
                        == .init(path: "Library/Caches/open", reason: "open", pid: holder.pid, process: "sleep"))
                #expect(passedOver.contains { $0.reason == "severalNames" && $0.pid == nil })
                holder.signal(SIGKILL)
                _ = try holder.wait(within: 10)
                document.close()
            }
        }

        /// A refusal records the pressure, the program and the size of the write.
        @Test func aRefusal() throws {
            try withMount { mount in
                try mount.write("+\(mount.number("storage.available") - 4096)", to: "storage.others")
                let dd = ["dd", "if=/dev/zero", "of=\(mount.path("tmp/refused"))", "bs=8192", "count=1", "status=none"]
                #expect(try Program.run(dd).status != 0)
                let refused = try #require(lines(mount, "refused").first)
                #expect(refused.path == "tmp/refused" && refused.process == "dd" && refused.bytes == 8192)
                #expect(refused.pressure == "veryLow")
            }
        }

        /// Events that only the journal has are not in a run's event file, and do not count as lost there.
        @Test func aRunLosesNothing() throws {
            try withMount { mount in
                let file = "\(mount.scratch)/events.jsonl"
                let store = "\(mount.scratch)/other"
                let script = """
                    cd $HOME; for n in 1 2 3 4 5 6 7 8 9; do echo x > tmp/$n; rm tmp/$n; echo x > tmp/$n
                    echo tmp > .purgefs/storage.reclaim; done
                    """
                let run = try PurgefsBinary.run("run", "--store", store, "--events", file, "--", "sh", "-c", script)
                #expect(run.status == 0 && !run.errors.contains("incomplete"), "\(run.errors)")
                let events = try StoreEvent.lines(Files.text(file))
                #expect(events.count { $0.type == "purge" } == 9 && !events.contains { $0.type == "removed" })
                #expect(try StoreEvent.journal(of: store).count { $0.type == "removed" } == 9)
            }
        }
    }
}
