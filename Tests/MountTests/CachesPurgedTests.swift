import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The end of an app in the background whose caches are purged: 0xbaddd15c (docs/RULES.md, Profiles).
    @Suite struct CachesPurgedTests {
        /// Runs COMMAND, a shell script, on 64 MiB, of which `Library/Caches/a` has 8 MiB and the open file
        /// `tmp/open` a block. $C is the control directory.
        private func run(
            _ options: [String], _ script: String, seeded: String = "Library/Caches/a", profile: String = "device",
            _ check: (Outcome, _ events: [StoreEvent], _ summary: String) throws -> Void
        ) throws {
            try Scratch.with("caches") { scratch in
                let place = scratch.path
                try Program.shell(
                    "mkdir -p seed/Library/Caches seed/tmp && head -c 8M /dev/zero > seed/\(seeded)", in: place
                )
                .succeeded()
                let outcome = try Program.run(
                    [
                        PurgefsBinary.path, "run", "--total", "64M", "--profile", profile, "--purge-latency", "0",
                        "--seed", "\(place)/seed", "--summary", "\(place)/summary", "--events", "\(place)/events",
                    ] + options + [
                        "--", "bash", "-c", "C=$PURGEFS_MOUNT/.purgefs; exec 9> ~/tmp/open; echo x >&9; \(script)",
                    ], environment: ["P": PurgefsBinary.path])
                try check(
                    outcome, StoreEvent.lines(Files.text("\(place)/events")), Files.text("\(place)/summary"))
            }
        }

        private func checkTermination(_ outcome: Outcome, _ events: [StoreEvent], _ summary: String) {
            #expect(outcome.status == 137, "\(outcome)")
            #expect(
                outcome.errors.contains("the system terminated the app (0xbaddd15c, cachesPurged"), "\(outcome)")
            #expect(summary.contains("0xbaddd15c"))
            let ends = events.filter { $0.type == "terminated" }
            #expect(ends.map(\.reason) == ["cachesPurged"])
            // The app ends before its files go.
            let end = events.firstIndex { $0.type == "terminated" } ?? events.endIndex
            let purge = events.firstIndex { $0.type == "purge" && $0.path != nil } ?? events.endIndex
            #expect(end < purge && purge < events.endIndex, "\(events)")
        }

        private func checkNothing(_ outcome: Outcome, _ events: [StoreEvent], _ summary: String) {
            #expect(outcome.status == 5, "\(outcome)")
            #expect(!events.contains { $0.type == "terminated" } && !summary.contains("0xbaddd15c"), "\(events)")
        }

        /// Other apps grow, and the app is in the background or suspended.
        @Test(arguments: ["background", "suspend"]) func whenOthersGrow(state: String) throws {
            try run(
                ["--at", "1s", "app.state=\(state)", "--at", "2s", "storage.others=60M"], "sleep 1000",
                checkTermination)
        }

        /// The app itself writes more than there is room for.
        @Test func whenItsOwnWriteIsRefused() throws {
            try run(
                [], "echo background > $C/app.state; head -c 60M /dev/zero > ~/Documents/big; sleep 1000",
                checkTermination)
        }

        /// tmp goes as a whole at the highest urgency, and the app with it.
        @Test func whenTmpGoes() throws {
            try run(
                ["--at", "1s", "app.state=background", "--at", "2s", "storage.others=60M"], "sleep 1000",
                seeded: "tmp/a"
            ) {
                outcome, events, summary in
                checkTermination(outcome, events, summary)
                #expect(events.filter { $0.type == "purge" }.compactMap(\.path).sorted() == ["tmp/a", "tmp/open"])
            }
        }

        /// A command that names the place does so too.
        @Test(arguments: ["caches", "tmp"]) func whenACommandNamesThePlace(place: String) throws {
            try run(
                [], "echo background > $C/app.state; $P purge $PURGEFS_MOUNT --tier \(place); sleep 1000",
                seeded: place == "tmp" ? "tmp/a" : "Library/Caches/a", checkTermination)
        }

        /// Commands spare an app in the foreground, but not its folders.
        @Test(arguments: ["caches", "tmp"]) func notInTheForeground(place: String) throws {
            try run(
                [], "$P purge $PURGEFS_MOUNT --tier \(place); cat $C/app.state; ls ~/Library/Caches; ls ~/tmp; exit 5"
            ) {
                outcome, events, summary in
                checkNothing(outcome, events, summary)
                let left = place == "caches" ? ["open"] : ["a"]
                let words = outcome.output.split { $0 == "\n" }.drop { $0 != "foreground" }
                #expect(words.dropFirst().map(String.init) == left, "\(outcome)")
            }
        }

        /// Single files go without the app's end.
        @Test func notForSingleFiles() throws {
            try run(
                [],
                """
                head -c 1M /dev/zero > ~/Documents/m; $P mark --purgeable ~/Documents/m; echo background > $C/app.state
                $P purge $PURGEFS_MOUNT --tier purgeable; $P purge ~/Library/Caches/a; cat $C/app.state; exit 5
                """
            ) { outcome, events, summary in
                checkNothing(outcome, events, summary)
                #expect(outcome.output.hasSuffix("background\n"), "\(outcome)")
                #expect(events.count { $0.type == "purge" } == 2)
            }
        }

        /// A folder in which nothing would be freed stays, and so does the app.
        @Test func notForFoldersThatStay() throws {
            try run(
                [],
                """
                exec 8< ~/Library/Caches/a; echo background > $C/app.state
                echo 70M > $C/storage.others; cat $C/app.state; echo 0 > $C/storage.others; exit 5
                """
            ) { outcome, events, summary in
                checkNothing(outcome, events, summary)
                #expect(outcome.output == "background\n" && !events.contains { $0.type == "purge" }, "\(outcome)")
            }
        }

        /// Profile `documented` purges file by file, and ends no app.
        @Test func notInTheOtherProfile() throws {
            try run(
                [], "echo background > $C/app.state; $P purge $PURGEFS_MOUNT --tier caches; cat $C/app.state; exit 5",
                profile: "documented", checkNothing)
        }

        /// With `--signals off` the app ends, and COMMAND goes on.
        @Test func withoutSignals() throws {
            try run(
                ["--signals", "off", "--at", "1s", "app.state=background", "--at", "2s", "storage.others=60M"],
                "until grep -qx terminated $C/app.state; do sleep 0.02; done; exit 5"
            ) { outcome, events, _ in
                #expect(outcome.status == 5, "\(outcome)")
                #expect(events.filter { $0.type == "terminated" }.map(\.reason) == ["cachesPurged"])
            }
        }

        /// On a mount without a process of the app, an app in the background or suspended becomes `terminated`, and the event
        /// is recorded. Neither happens to an app in the foreground, or to one that is not running.
        @Test(
            arguments: [
                (["background"], "terminated", 1), (["launch", "suspend"], "terminated", 1),
                (["launch"], "foreground", 0),
                (["launch", "terminate"], "terminated", 0), (["offload"], "offloaded", 0),
            ] as [([String], String, Int64)]) func onAMount(commands: [String], state: String, ends: Int64) throws
        {
            try WholeFolderTests.withDevice { mount in
                try mount.make("Library/Caches/a", size: 8 << 20)
                for command in commands { try mount.write(command, to: "app.state") }
                try mount.write("255M", to: "storage.others")
                #expect(try mount.read("app.state") == state)
                #expect(mount.exists("Library/Caches/a") == (state == "foreground"))
                #expect(try mount.table("storage.stat")["app.terminated"] == ends)
                let events = try mount.afterUnmount { try StoreEvent.journal(of: mount.store) }
                #expect(events.filter { $0.type == "terminated" }.compactMap(\.reason).count == Int(ends))
            }
        }
    }
}
