import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Branches of the decision trees of "Local File Storage Diagnostics" on a real mount. For each, a command names the tree's
    /// cause and its remedy (docs/DIAGNOSIS.md, Decision trees).
    @Suite struct DecisionTreeTests {
        /// Returns the output and messages of `purgefs VERB PATH`, with single spaces in place of all white space.
        private func said(_ verb: String, _ mount: TestMount, _ path: String) throws -> String {
            let outcome = try PurgefsBinary.run(verb, path.hasPrefix("/") ? path : mount.path(path))
            return (outcome.output + outcome.errors).split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        }

        private func expect(
            _ text: String, _ parts: String..., sourceLocation: SourceLocation = #_sourceLocation
        ) {
            for part in parts { #expect(text.contains(part), "\(text)", sourceLocation: sourceLocation) }
        }

        private func lock(_ mount: TestMount) throws {
            try mount.write("lock", to: "device.state")
            try mount.write("+10s", to: "device.clock")
        }

        /// Creates a file that cannot be read while the device is locked.
        private func makeComplete(_ mount: TestMount, _ path: String) throws {
            try mount.make(path, size: 100)
            try Attributes.mark(mount.path(path), "fileProtection", "complete")
        }

        // Branch: files are gone.

        @Test func temporaryFilesGoneAfterARestart() throws {
            try withMount { mount in
                try mount.make("tmp/data.json", size: 5000)
                try mount.write("reboot", to: "device.state")
                expect(
                    try said("why", mount, "tmp/data.json"), "tmp/data.json: it was purged.",
                    "because the device was rebooted, which empties tmp",
                    "keep files that can be recreated in Library/Caches",
                    "others in Library/Application Support")
            }
        }

        @Test func cachesGoneWhileTheAppWasInTheBackground() throws {
            try withMount(["--total", "64M", "--profile", "device", "--purge-latency", "0"]) { mount in
                try mount.make("Library/Caches/feed", size: 5000)
                for command in ["launch", "background"] { try mount.write(command, to: "app.state") }
                try mount.write("62M", to: "storage.others")
                try eventually("the cache is gone") { !Files.exists(mount.path("Library/Caches/feed")) }
                try mount.write("0", to: "storage.others")
                try mount.write("launch", to: "app.state")
                expect(
                    try said("why", mount, "Library/Caches/feed"), "Library/Caches/feed: it was purged.",
                    "Keep files that cannot be recreated in Library/Application Support")
            }
        }

        @Test(arguments: [false, true]) func cachesGoneForLackOfSpace(afterARestart: Bool) throws {
            try withMount { mount in
                try mount.make("Library/Caches/feed", size: 5000)
                try mount.write("+3w", to: "device.clock")
                try mount.write("64M", to: "storage.others")
                try mount.settle()
                try mount.write("0", to: "storage.others")
                if afterARestart { try mount.write("reboot", to: "device.state") }
                expect(
                    try said("why", mount, "Library/Caches/feed"), "Library/Caches/feed: it was purged.",
                    "because it was in Library/Caches, which is purged after tmp", "ree space",
                    "Keep files that cannot be recreated in Library/Application Support")
            }
        }

        @Test func everythingGoneWithTheApp() throws {
            try withMount { mount in
                try mount.make("Documents/letter", size: 5000)
                try mount.write("delete", to: "app.state")
                expect(
                    try said("why", mount, "Documents/letter"), "it was removed when the app was deleted",
                    "Only data outside of the container, such as a backup or a server, outlives the app.")
            }
        }

        /// An update empties tmp and leaves other files.
        @Test func goneAfterAnUpdate() throws {
            try withMount { mount in
                try mount.make("tmp/photo", size: 5000)
                try mount.make("Documents/letter", size: 5000)
                try mount.write("update", to: "app.state")
                expect(
                    try said("why", mount, "tmp/photo"), "because an update of the app empties tmp",
                    "Keep files that cannot be recreated in Library/Application Support or Documents")
                expect(try said("why", mount, "Documents/letter"), "it is there.", "It cannot be purged now")
            }
        }

        @Test func goneAfterARestore() throws {
            try withMount { mount in
                try mount.make("Documents/photo", size: 5000)
                try Attributes.mark(mount.path("Documents/photo"), "isExcludedFromBackup", "1")
                let (backup, restored) = ("\(mount.scratch)/backup", "\(mount.scratch)/restored")
                try PurgefsBinary.run("backup", "create", mount.root, "--output", backup).succeeded()
                try PurgefsBinary.run("backup", "restore", backup, restored).succeeded()
                expect(
                    try said("why", mount, "\(restored)/container/Documents/photo"),
                    "it was not in the backup from which this container was restored",
                    "Library/Caches and excluded items",
                    "do not exclude them from the backup")
            }
        }

        /// The file's protection class keeps it closed after a restart.
        @Test func closedAfterARestart() throws {
            try withMount { mount in
                try makeComplete(mount, "Documents/diary")
                try mount.write("reboot", to: "device.state")
                expect(
                    try said("why", mount, "Documents/diary"), "it is there, but cannot be opened now",
                    "Wait until the device is unlocked")
            }
        }

        // Branch: some files disappear and others do not.

        @Test func gonePerhapsOutOfReachAfterARestart() throws {
            try withMount { mount in
                try makeComplete(mount, "Documents/diary")
                try mount.write("reboot", to: "device.state")
                expect(
                    try said("diagnose", mount, "Documents/diary"), "complete (its own): inaccessible while the device",
                    "It cannot be opened now: wait for the first unlock",
                    "or use completeUntilFirstUserAuthentication")
            }
        }

        @Test func someAreMissingForTheirNames() throws {
            try withMount { mount in
                try mount.make("Documents/Report: 1", size: 1)
                try mount.make("Documents/caf\u{E9}", size: 1)
                try mount.make("Documents/cafe\u{301}", size: 1)
                let text = try said("diagnose", mount, "Documents")
                expect(
                    text, "names that other file systems or programs may not accept (3)",
                    "Documents/Report: 1 a colon or a backslash", "only in case or Unicode form",
                    "Use plain characters in one Unicode form")
            }
        }

        @Test func someAreMissingForTheirPermissions() throws {
            try withMount { mount in
                try mount.make("Documents/closed", size: 1)
                try Files.changeMode(mount.path("Documents/closed"), 0o200)
                expect(
                    try said("diagnose", mount, "Documents/closed"),
                    "error: files and folders that the app may not",
                    "chmod u+rwX")
            }
        }

        @Test func someAreMissingForTheirExclusion() throws {
            try withMount { mount in
                try mount.makeDirectory("Documents/album")
                try mount.make("Documents/album/IMG_0001.HEIC", size: 5000)
                try Attributes.mark(mount.path("Documents/album"), "isExcludedFromBackup", "1")
                expect(
                    try said("diagnose", mount, "Documents/album"), "left out because of its own isExcludedFromBackup",
                    "error: user content that is not backed up (1)",
                    "It is lost with the device. Include it, unless it is also kept elsewhere.")
            }
        }

        @Test func photosAreInCaches() throws {
            try withMount { mount in
                try mount.make("Library/Caches/IMG_0001.HEIC", size: 5000)
                expect(
                    try said("diagnose", mount, "Library/Caches/IMG_0001.HEIC"),
                    "error: user content that may be purged (1)", "because of its place, Library/Caches",
                    "Move it to Documents"
                )
            }
        }

        @Test func temporaryFilesAreCountedOn() throws {
            try withMount { mount in
                try mount.make("tmp/data.sqlite", size: 5000)
                try mount.make("tmp/draft", size: 5000)
                try mount.write("+4d", to: "device.clock")
                expect(
                    try said("diagnose", mount, "tmp/data.sqlite"), "tmp: purged first, at any time, and emptied by a",
                    "error: databases that may be purged (1)", "Move it to Library/Application Support")
                expect(
                    try said("diagnose", mount, "tmp/draft"), "warning: files in tmp that are older than three days",
                    "Move files that can be recreated to Library/Caches")
            }
        }

        @Test func cachesArePurgedAgainAndAgain() throws {
            try withMount { mount in
                for _ in 1...2 {
                    try mount.make("Library/Caches/feed", size: 5000)
                    try mount.write("caches", to: "storage.reclaim")
                }
                try mount.make("Library/Caches/feed", size: 5000)
                expect(
                    try said("diagnose", mount, "Library/Caches/feed"),
                    "warning: files that were purged and recreated more than once (1)", "purged 2 times",
                    "Library/Application Support and exclude them from the backup")
            }
        }

        // Branch: files are inaccessible.

        @Test func theDeviceIsLocked() throws {
            try withMount { mount in
                try makeComplete(mount, "Documents/diary")
                try lock(mount)
                expect(
                    try said("diagnose", mount, "Documents/diary"),
                    "It cannot be opened now: wait for the unlock, or use completeUntilFirstUserAuthentication")
                try mount.write("unlock", to: "device.state")
                expect(try said("diagnose", mount, "Documents/diary"), "It can be opened now", "No findings.")
            }
        }

        @Test func aBackgroundTaskNeedsIt() throws {
            try withMount { mount in
                try makeComplete(mount, "Documents/queue")
                try lock(mount)
                #expect(throws: Errno.notPermitted) { try Files.content(mount.path("Documents/queue")) }
                try mount.write("unlock", to: "device.state")
                expect(
                    try said("diagnose", mount, "Documents/queue"),
                    "error: files that were accessed while their class kept them closed", "complete, refused once",
                    "Use completeUntilFirstUserAuthentication for files needed in the background")
                try Attributes.mark(mount.path("Documents/queue"), "fileProtection", "none")
                #expect(try !said("diagnose", mount, "Documents/queue").contains("error:"))
            }
        }

        @Test func itIsThereAndEmpty() throws {
            try withMount { mount in
                try mount.write("64M", to: "storage.others")
                #expect(throws: Errno.noSpace) { try mount.make("Documents/letter", size: 5000) }
                #expect(try Files.size(mount.path("Documents/letter")) == 0)
                expect(
                    try said("diagnose", mount, "Documents/letter"), "empty because the write to it was refused",
                    "error: failed writes that were never retried (1)", "check the result of each write")
                try mount.write("0", to: "storage.others")
                try mount.make("Documents/letter", size: 5000)
                #expect(try said("diagnose", mount, "Documents/letter").contains("No findings."))
            }
        }

        @Test func itIsLookedForInTheWrongFolder() throws {
            try withMount { mount in
                try mount.make("Library/Caches/Report.txt", size: 1)
                expect(
                    try said("diagnose", mount, "Documents/report.txt"), "No such file or directory",
                    "The container has that name at Library/Caches/Report.txt: check the folder and the case",
                    "purgefs why PATH")
            }
        }

        // Branch: the backup is too large.

        @Test func theBackupIsTooLarge() throws {
            try withMount(["--total", "2G"]) { mount in
                for path in ["Documents/map.mbtiles", "Documents/film.mov", "Library/Application Support/talk.mp3"] {
                    try Files.write("", to: mount.path(path))
                    try Files.truncate(mount.path(path), 170_000_000)
                }
                expect(
                    try said("diagnose", mount, ""), "warning: the backup is over 500 MB",
                    "Exclude data that can be downloaded",
                    "! warning: over 100 MB of Documents in the backup (1) 324.2 MiB Documents 2 files Look for files",
                    "! warning: files over 10 MB in the backup (1) 162.1 MiB Documents/map.mbtiles If they can be "
                        + "downloaded again, exclude them or move them to Library/Caches.",
                    "Documents/film.mov User content belongs in Documents",
                    "tell the user when it gets over 1 GB",
                    "Library/Application Support/talk.mp3 Downloaded media needs no backup: set isExcludedFromBackup")
                try Attributes.mark(mount.path("Documents/map.mbtiles"), "isExcludedFromBackup", "1")
                #expect(try !said("diagnose", mount, "").contains("the backup is over 500 MB"))
                try Files.truncate(mount.path("Documents/film.mov"), 1_000_000_000)
                #expect(try !said("diagnose", mount, "").contains("over 1 GB of Documents"))
                try Files.truncate(mount.path("Documents/film.mov"), 1_000_000_001)
                expect(
                    try said("diagnose", mount, ""),
                    "! warning: over 1 GB of Documents in the backup (1) 953.6 MiB Documents Tell the user how much space"
                )
            }
        }

        @Test func anAtomicSaveLosesTheExclusion() throws {
            try withMount { mount in
                try mount.make("Documents/map", size: 10)
                try Attributes.mark(mount.path("Documents/map"), "isExcludedFromBackup", "1")
                try mount.make("Documents/.new", size: 10)
                try Files.rename(mount.path("Documents/.new"), mount.path("Documents/map"))
                expect(
                    try said("diagnose", mount, "Documents/map"),
                    "warning: flags that were lost when the file was replaced",
                    "isExcludedFromBackup=1", "set them after each save")
                try Attributes.mark(mount.path("Documents/map"), "isExcludedFromBackup", "1")
                #expect(try said("diagnose", mount, "Documents/map").contains("No findings."))
            }
        }
    }
}
