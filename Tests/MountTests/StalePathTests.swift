import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Absolute paths that an app has stored, after its container got another UUID (Programs/stale_paths.py).
    @Suite struct StalePathTests {
        private static let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/stale_paths.py"
        private static let foreign =
            "Documents/foreign.json: 1 text, in $[0]: Documents/photo.jpg of container "
            + "6FA459EA-EE8A-3CA4-894E-DB77E160355E; it is here now"

        /// A store whose app has stored paths, with the path and the UUID that its container had.
        private struct Stored {
            let store: String
            let home: String
            var container: String { String(home.split(separator: "/").last ?? "") }
        }

        /// Makes a store; `update` gives its container another UUID.
        private func make(in scratch: String, update: Bool = true) throws -> Stored {
            let store = "\(scratch)/store"
            let script = "printf %s \"$HOME\"; exec \(Program.python) \(Self.program) make"
            let home = try PurgefsBinary.run("run", "--quiet", "--store", store, "--", "sh", "-c", script).succeeded()
            if update { try PurgefsBinary.run("app", "update", store).succeeded() }
            return Stored(store: store, home: home)
        }

        private func stale(_ target: String) throws -> [String] {
            let outcome = try PurgefsBinary.run("diagnose", "--all", target, "--json")
            #expect(outcome.errors.isEmpty)
            let report = try JSONDecoder().decode(
                DiagnoseTests.Report.self, from: Data(try outcome.succeeded().utf8))
            let found = report.findings.filter { $0.rule == "stalePath" }
            #expect(found.allSatisfy { $0.severity == "warning" })
            return found.map { "\($0.path ?? ""): \($0.detail ?? "")" }.sorted()
        }

        /// Returns the time of the newest event of a type.
        private func time(_ type: String, _ target: String) throws -> String {
            let lines = try PurgefsBinary.run("events", target, "--type", type, "--json").succeeded()
            struct Event: Decodable { let time: String }
            let last = try #require(lines.split(separator: "\n").last)
            return try JSONDecoder().decode(Event.self, from: Data(last.utf8)).time
        }

        private func expected(_ stored: Stored, before change: String) -> [String] {
            let (photo, here) = (
                "Documents/photo.jpg of container \(stored.container), before the \(change)", "it is here now"
            )
            let gone = photo.replacingOccurrences(of: "photo.jpg", with: "my photo.jpg")
            return [
                "Documents/app.db: 2 texts, first in it\"ems.path: \(photo); \(here)",
                "Documents/binary.plist: 1 text: \(gone); there is no such entry now",
                Self.foreign,
                "Documents/link: to \(photo); \(here)",
                "Documents/state.json: 1 text, in $.items[0].path: \(photo); \(here)",
                "Documents/wal.db: 2 texts, first in it\"ems.path: \(photo); \(here)",
                "Documents/xml.plist: 1 text, in recent: \(photo); \(here)",
            ]
        }

        /// A path with the present UUID is not stale, although each run mounts the container below another directory.
        @Test func anUpdate() throws {
            try Scratch.with("stale") { scratch in
                let stored = try make(in: scratch.path, update: false)
                try PurgefsBinary.run("run", "--quiet", "--store", stored.store, "--", "true").succeeded()
                #expect(try stale(stored.store) == [Self.foreign])
                try PurgefsBinary.run("app", "update", stored.store).succeeded()
                let found = try stale(stored.store)
                #expect(try found == expected(stored, before: "update of \(time("app", stored.store))"))
                let link = try PurgefsBinary.run("diagnose", "\(stored.store)/container/Documents/link").succeeded()
                #expect(link.contains("! warning: paths into a container that no longer exists (1)"))
            }
        }

        /// Through a mount, the content is read without using the files: neither their times nor their order change, and a
        /// locked database or a locked device is no obstacle.
        @Test func throughAMount() throws {
            try Scratch.with("stale") { scratch in
                let stored = try make(in: scratch.path)
                let found = try stale(stored.store)
                #expect(found.count == 7)
                let mount = "\(scratch.path)/mount"
                try Files.makeDirectory(mount)
                try PurgefsBinary.run("mount", stored.store, mount).succeeded()
                defer { _ = try? PurgefsBinary.run("unmount", mount) }
                func times() throws -> [String] {
                    try Files.tree(mount).compactMap { path in
                        let status = try Files.status("\(mount)/\(path)")
                        return status.st_mode & S_IFMT == S_IFREG ? "\(path) \(status.st_atim)" : nil
                    }
                }
                let before = try times()
                #expect(try stale(mount) == found)
                #expect(try times() == before)
                let locked = try Program.run([
                    Program.python, Self.program, "locked", "\(mount)/Documents/app.db", PurgefsBinary.path, "diagnose",
                    "--all", mount,
                ])
                #expect(try locked.succeeded().contains("paths into a container that no longer exists (7)"))
                try PurgefsBinary.run("mark", "--protection", "complete", "\(mount)/Documents/state.json").succeeded()
                try PurgefsBinary.run("device", "lock", mount).succeeded()
                try PurgefsBinary.run("clock", "advance", "10s", mount).succeeded()
                #expect(try stale(mount) == found)
                let events = try PurgefsBinary.run("events", mount, "--type", "protectionDenied").succeeded()
                #expect(events.isEmpty)
            }
        }

        @Test func aRestore() throws {
            try Scratch.with("stale") { scratch in
                let stored = try make(in: scratch.path, update: false)
                let (backup, restored) = ("\(scratch.path)/backup", "\(scratch.path)/restored")
                try PurgefsBinary.run("backup", "create", stored.store, "--output", backup).succeeded()
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                let found = try stale(restored)
                #expect(try found == expected(stored, before: "restore of \(time("restore", restored))"))
                let why = try why("\(stored.home)/Documents/photo.jpg", restored)
                #expect(
                    why.hasPrefix("Documents/photo.jpg: it is there. \(stored.home)/Documents/photo.jpg leads into"))
                #expect(why.contains("This container was restored on ") && why.contains(" from a backup of that one."))
            }
        }

        /// Damaged files end neither the diagnosis nor the search for the other files' paths.
        @Test func damagedFiles() throws {
            try Scratch.with("stale") { scratch in
                let stored = try make(in: scratch.path)
                let documents = "\(stored.store)/container/Documents"
                try Program.run([Program.python, Self.program, "damage", documents, String(Scale.of(500))]).succeeded()
                let found = try stale(stored.store).filter { !$0.hasPrefix("Documents/damaged/") }
                #expect(found.count == 7)
            }
        }

        /// Returns the answer and messages of `why` with single spaces in place of all white space.
        private func why(_ words: String...) throws -> String {
            let outcome = try Program.run([PurgefsBinary.path, "why"] + words)
            return (outcome.output + outcome.errors).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }

        @Test func whereItIsNow() throws {
            try Scratch.with("stale") { scratch in
                let stored = try make(in: scratch.path)
                let old = "\(stored.home)/Documents/photo.jpg"
                let there = try why(old, stored.store)
                #expect(there.hasPrefix("Documents/photo.jpg: it is there. \(old) leads into the earlier container"))
                #expect(there.contains("The app was updated on ") && there.contains("do not store it."))
                #expect(
                    there.contains("The same path in this container is \(stored.store)/container/Documents/photo.jpg."))
                #expect(try why(old).contains("no container is known to have had this path Name its container"))

                let mount = "\(scratch.path)/mount"
                try Files.makeDirectory(mount)
                try PurgefsBinary.run("mount", stored.store, mount).succeeded()
                defer { _ = try? PurgefsBinary.run("unmount", mount) }
                try Files.unlink("\(mount)/Documents/photo.jpg")
                let url =
                    "file:///private/var/mobile/Containers/Data/Application/\(stored.container)/Documents/photo%2Ejpg"
                for path in [old, url] {
                    let gone = try why(path)
                    #expect(gone.hasPrefix("Documents/photo.jpg: it was deleted by the app, process "))
                    #expect(gone.contains("is \(mount)/Documents/photo.jpg. It was deleted on "))
                }
                #expect(try why("\(stored.home)/Documents/never", mount).contains("never: nothing is known about it"))
                let link = try why("\(mount)/Documents/link")
                #expect(link.hasPrefix("Documents/link: it is there. \(old) leads into the earlier container"))
                let status = try PurgefsBinary.run("status", mount, "--json").succeeded()
                let present = try #require(status.firstRange(of: #""container": ""#)).upperBound
                let now = status[present...].prefix(36)
                let elsewhere = try why("/private/var/mobile/Containers/Data/Application/\(now)/Documents/relative")
                #expect(
                    elsewhere.hasPrefix("Documents/relative: it is there.") && !elsewhere.contains("earlier container"))
            }
        }
    }
}
