import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs events`: filters, start time, summary, and following the stream.
    @Suite struct EventsVerbTests {
        private func events(_ place: String, _ words: String...) throws -> [StoreEvent] {
            try StoreEvent.lines(
                Program.run([PurgefsBinary.path, "events", place, "--json"] + words).succeeded())
        }

        private func purge(_ mount: TestMount, _ name: String) throws {
            try mount.make("tmp/\(name)", size: 4096)
            try mount.write("tmp", to: "storage.reclaim")
        }

        /// `--since` uses the device's clock, in a mount and in a store.
        @Test func since() throws {
            try withMount { mount in
                try purge(mount, "old")
                try PurgefsBinary.run("clock", "advance", "2h", mount.root).succeeded()
                try purge(mount, "new")
                let all = try events(mount.root, "--type", "purge")
                #expect(all.map(\.path) == ["tmp/old", "tmp/new"])
                #expect(try events(mount.root, "--since", "1h", "--type", "purge").map(\.path) == ["tmp/new"])
                #expect(try events(mount.root, "--since", "3h", "--type", "purge").map(\.path) == all.map(\.path))
                #expect(try events(mount.root, "--since", all[1].time).first == all[1])
                try mount.unmount()
                #expect(try events(mount.store, "--since", "1h", "--type", "purge").map(\.path) == ["tmp/new"])
                #expect(try events(mount.store, "--since", all[0].time).contains(all[0]))
            }
        }

        @Test func tail() throws {
            try withMount { mount in
                for name in ["a", "b", "c"] { try purge(mount, name) }
                try mount.write("1M", to: "storage.others")
                #expect(try events(mount.root, "--tail", "1").map(\.type) == ["capacity"])
                #expect(
                    try events(mount.root, "--tail", "2", "--path", "tmp/*").map(\.path) == ["tmp/b", "tmp/c"])
                #expect(try events(mount.root, "--tail", "0").isEmpty)
                #expect(try events(mount.root, "--tail", "99").first?.type == "mount")
                let summary = try PurgefsBinary.run(
                    "events", mount.root, "--tail", "3", "--type", "purge", "--path", "*/[bc]", "--summary")
                #expect(try summary.succeeded().hasPrefix("2 events, "), "\(summary)")
            }
        }

        private struct Summary: Decodable {
            struct Line: Decodable {
                let directory: String?
                let type: String?
                let reason: String?
                let trigger: String?
                let process: String?
                let events: Int64
                let files: Int64
                let purgedFiles: Int64
                let purgedBytes: Int64
                let refusedWrites: Int64
            }
            let total: Line
            let directories: [Line]
            let reasons: [Line]
            let processes: [Line]
        }

        @Test func summary() throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                try mount.makeDirectory("Library/Caches/thumbs")
                try mount.makeDirectory("Library/Caches/thumbs/deep")
                try mount.make("Library/Caches/thumbs/one", size: 8192)
                try mount.make("Library/Caches/thumbs/deep/two", size: 4096)
                try mount.make("tmp/t", size: 4096)
                try mount.write("+\(mount.number("storage.available"))", to: "storage.others")
                let script = "head -c 16384 /dev/zero > Documents/new; head -c 1 /dev/zero > Documents/more"
                #expect(try Program.run(["sh", "-c", script], in: mount.root).status == 1)
                let text = try PurgefsBinary.run("events", mount.root, "--summary", "--json").succeeded()
                let summary = try JSONDecoder().decode(Summary.self, from: Data(text.utf8))
                #expect(summary.total.purgedFiles == 3 && summary.total.purgedBytes == 16384)
                #expect(summary.total.refusedWrites == 1)
                #expect(summary.processes.contains { $0.process == "head" && $0.purgedFiles == 3 })
                let thumbs = try #require(summary.directories.first)
                #expect(thumbs.directory == "Library/Caches/thumbs" && thumbs.purgedFiles == 2)
                #expect(thumbs.purgedBytes == 12288 && thumbs.files == 2)
                let documents = try #require(summary.directories.first { $0.directory == "Documents" })
                #expect(documents.refusedWrites == 1 && documents.purgedFiles == 0)
                let caches = try #require(summary.reasons.first { $0.reason == "caches" })
                #expect(caches.type == "purge" && caches.trigger == "importantWrite" && caches.purgedBytes == 12288)
                let lines = try PurgefsBinary.run("events", mount.root, "--summary").succeeded()
                #expect(lines.contains("\npurged 3 files, 16.0 KiB; refused 1 write\n"), "\(lines)")
                #expect(lines.contains("\n  Library/Caches/thumbs                         2        2    12.0 KiB\n"))
                #expect(lines.split(separator: "\n").allSatisfy { $0.count <= 80 })
            }
        }

        /// `--follow` prints each event once and in order, up to the unmount.
        @Test(arguments: [["--all"], ["--type", "purge", "--type", "removed", "--type", "unmount"]])
        func followsWhatTheAppDoes(words: [String]) throws {
            try withMount { mount in
                let reader = try Program.start(
                    [PurgefsBinary.path, "events", mount.root, "--follow", "--json"] + words)
                for round in 0..<3 {
                    try mount.make("Documents/mine\(round)", size: 4096)
                    try Program.run("rm", mount.path("Documents/mine\(round)")).succeeded()
                    try purge(mount, "f\(round)")
                    try eventually("round \(round)") {
                        try StoreEvent.lines(reader.output).contains { $0.path == "tmp/f\(round)" }
                    }
                }
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                #expect(try reader.wait(within: 20) == 0, "\(reader.errors)")
                try mount.awaitEnd()
                let journal = try StoreEvent.journal(of: mount.store)
                let seen = try StoreEvent.lines(reader.output)
                let wanted = journal.filter { words == ["--all"] || words.contains($0.type) }
                #expect(seen.map(\.seq) == wanted.map(\.seq))
                #expect(seen.filter { $0.type == "removed" }.map(\.path) == (0..<3).map { "Documents/mine\($0)" })
                #expect(seen.last?.type == "unmount")
            }
        }

        /// `--follow` does not report a killed daemon as an unmount.
        @Test(arguments: [[], ["--all"]]) func theDaemonDies(words: [String]) throws {
            try withMount { mount in
                let reader = try Program.start([PurgefsBinary.path, "events", mount.root, "--follow"] + words)
                try purge(mount, "a")
                try eventually("the purge") { reader.output.contains("tmp/a") }
                try mount.kill()
                #expect(try reader.wait(within: 30) == 1)
                #expect(reader.errors.hasPrefix("purgefs: ") && reader.errors.contains("Its daemon has ended."))
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }

        /// The app's own changes are listed with --all, or if their type is named.
        @Test func theAppsOwnDoing() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.make("Documents/b", size: 4096)
                try Program.run("mv", mount.path("Documents/a"), mount.path("Documents/c")).succeeded()
                try Program.run("mv", mount.path("Documents/b"), mount.path("Documents/c")).succeeded()
                try Program.run("rm", mount.path("Documents/c")).succeeded()
                let ofApp: Set = ["removed", "renamed", "replaced"]
                #expect(try events(mount.root).allSatisfy { !ofApp.contains($0.type) })
                #expect(
                    try events(mount.root, "--all").map(\.type).filter { ofApp.contains($0) }.sorted()
                        == ["removed", "renamed", "renamed", "replaced"])
                let text = try PurgefsBinary.run("events", mount.root, "--type", "renamed").succeeded()
                #expect(text.contains("Documents/a -> Documents/c  pid ") && text.contains(" (mv)\n"), "\(text)")
                #expect(
                    try PurgefsBinary.run("events", mount.root, "--type", "replaced").succeeded()
                        .contains("4.0 KiB  Documents/c (by Documents/b)"))
                #expect(try events(mount.root, "--all", "--path", "Documents/b").count == 2, "and the one it replaced")
            }
        }

        /// Like any filter, `events` ends without a message when its reader closes the pipe.
        @Test func aReaderThatHasSeenEnough() throws {
            try withMount { mount in
                for round in 0..<20 { try purge(mount, "\(round)\(String(repeating: "n", count: 200))") }
                let script = "set -o pipefail; \(PurgefsBinary.path) events \(mount.root) --json | head -n 1"
                let outcome = try Program.run(["bash", "-c", script])
                #expect(outcome.output.split(separator: "\n").count == 1 && outcome.errors == "", "\(outcome)")
            }
        }
    }
}
