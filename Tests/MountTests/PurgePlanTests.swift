import Glibc
import Support
import Testing

extension Mounts {
    /// The complete output of `purge --dry-run`: the victims in purge order, each with its reason.
    @Suite struct PurgePlanTests {
        private static let album = "Documents/album"

        /// Runs `body` on a device with 5 MiB of others.purgeable, and with files for each step of the order.
        private func withFiles(_ body: (TestMount) throws -> Void) throws {
            try withMount(["--total", "64M", "--others", "20M", "--others-purgeable", "5M"]) { mount in
                for (path, size) in [
                    ("tmp/a", 300 << 10), ("tmp/used", 4096), ("Library/Caches/b", 1 << 20), ("Documents/kept", 4096),
                    ("tmp/empty", 0),
                ] { try mount.make(path, size: size) }
                try mount.makeDirectory("Library/Caches/t")
                try Attributes.mark(mount.path("Library/Caches/t"), "purgeTombstone", "1")
                try mount.make("Library/Caches/t/c", size: 8192)
                for folder in [Self.album, "Documents/feed"] {
                    try mount.makeDirectory(folder)
                    try Attributes.mark(mount.path(folder), "isPurgeable", folder == Self.album ? "high" : "low")
                }
                try mount.make("\(Self.album)/one", size: 2 << 20)
                for name in ["1", "2", "3"] { try mount.make("Documents/feed/\(name)", size: 1 << 20) }
                try Attributes.mark(mount.path("Documents/feed"), "sizeLimit", "2M")
                try body(mount)
            }
        }

        private func plan(_ words: [String], in directory: String? = nil) throws -> Outcome {
            try Program.run([PurgefsBinary.path, "purge", "--dry-run"] + words, in: directory)
        }

        /// Checks the plan for `words`, and that its lines fit 80 columns. An empty word and `@` stand for the mount point. The
        /// file `open` stays open meanwhile.
        private func check(
            _ mount: TestMount, _ words: [String], status: Int32 = 0, _ expected: String, _ open: OpenFile? = nil
        ) throws {
            let outcome = try plan(words.map { $0.isEmpty ? mount.root : $0.replacing("@", with: mount.root) })
            #expect(outcome.status == status, "\(outcome)")
            #expect(outcome.output == expected + "\n")
            #expect(outcome.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
            withExtendedLifetime(open) {}
        }

        @Test func everything() throws {
            try withFiles { mount in
                let used = try OpenFile(mount.path("tmp/used"), O_RDONLY)
                let expected = """
                    others         5.0 MiB  (the system and other apps)
                    temporary    300.0 KiB  tmp/a
                    policySize     1.0 MiB  Documents/feed/1
                    policySize     1.0 MiB  Documents/feed/2
                    caches         1.0 MiB  Library/Caches/b
                    caches         8.0 KiB  Library/Caches/t/c  (emptied)
                    purgeable      1.0 MiB  Documents/feed/3
                    purgeable      2.0 MiB  Documents/album/one
                    command            0 B  tmp/empty
                    would purge 8 files, 11.3 MiB (5.0 MiB of it from others)
                      others         5.0 MiB  purgeable space of the system and other apps
                      temporary    300.0 KiB  1 file in tmp
                      policySize     2.0 MiB  2 files over the size limit of a folder's policy
                      caches         1.0 MiB  2 files in Library/Caches
                      purgeable      3.0 MiB  2 files marked purgeable, or in a marked folder
                      command            0 B  1 file, empty or in use, that only commands purge
                    """
                try check(mount, ["", "--all"], expected, used)
                #expect(try Files.names(in: mount.path("Documents/feed")).count == 3, "nothing is purged")
            }
        }

        @Test func aSize() throws {
            try withFiles { mount in
                let used = try OpenFile(mount.path("tmp/used"), O_RDONLY)
                try check(
                    mount, ["", "--bytes", "5400K"],
                    """
                    others         5.0 MiB  (the system and other apps)
                    temporary    300.0 KiB  tmp/a
                    would purge 1 file, 5.2 MiB (5.0 MiB of it from others)
                      others         5.0 MiB  purgeable space of the system and other apps
                      temporary    300.0 KiB  1 file in tmp
                    """, used)
                try check(
                    mount, ["", "--bytes", "1M"],
                    """
                    others         1.0 MiB  (the system and other apps)
                    would purge 0 files, 1.0 MiB (all of it from others)
                      others         1.0 MiB  purgeable space of the system and other apps
                    """)
                let short = try plan([mount.root, "--bytes", "1G"])
                #expect(short.status == 1 && short.errors.contains("less would be freed than requested"), "\(short)")
                #expect(short.output.contains("\nwould purge 7 files, 11.3 MiB (5.0 MiB of it from others)\n"))
            }
        }

        @Test func aPlaceAPatternAndPaths() throws {
            try withFiles { mount in
                let used = try OpenFile(mount.path("tmp/used"), O_RDONLY)
                try check(
                    mount, ["", "--tier", "tmp"],
                    """
                    temporary    300.0 KiB  tmp/a
                    command            0 B  tmp/empty
                    would purge 2 files, 300.0 KiB
                      temporary    300.0 KiB  1 file in tmp
                      command            0 B  1 file, empty or in use, that only commands purge
                    """, used)
                let album = """
                    purgeable      2.0 MiB  Documents/album/one
                    would purge 1 file, 2.0 MiB
                      purgeable      2.0 MiB  1 file marked purgeable, or in a marked folder
                    """
                try check(mount, ["@/Documents", "--path", "album/*"], album)
                try check(mount, ["@/Documents/album"], album)
                try check(mount, ["@/Documents/album", "--all"], album)
                let refused = try plan(["\(mount.root)/tmp", "\(mount.root)/Documents/kept"])
                #expect(refused.status == 1 && refused.output.contains("would purge 2 files, 300.0 KiB\n"))
                #expect(refused.errors.contains("tmp/used: it is in use by process "), "\(refused)")
                #expect(refused.errors.contains("Documents/kept: it is neither in tmp nor in Library/Caches"))
            }
        }

        @Test func nothing() throws {
            try withMount { mount in
                let expected = """
                    would purge 0 files, 0 B (nothing here is purgeable now: open and hard-linked
                      files, and unmarked persistent files, are skipped)
                    """
                for words in [["--all"], ["--tier", "caches"]] {
                    try check(mount, [""] + words, expected)
                    #expect(try plan([mount.root, "--json"] + words).output == "")
                }
                try check(
                    mount, ["", "--bytes", "0"], "would purge 0 files, 0 B (0 B were asked for)")
                #expect(try plan([mount.root, "--json", "--bytes", "0"]).output == "")
                try check(
                    mount, ["@/tmp"],
                    """
                    would purge 0 files, 0 B (the named paths have no files to purge; folders stay)
                    """)
            }
        }

        /// An unmounted store has the same plan as its mount, in text and in JSON, and a purge carries it out.
        @Test(arguments: [["--all"], ["--bytes", "8M"], ["--tier", "purgeable"], ["--path", "*[123]"]])
        func ofAStore(words: [String]) throws {
            try withFiles { mount in
                let (text, json) = (try plan([mount.root] + words), try plan([mount.root, "--json"] + words))
                #expect(text.status == 0 && json.status == 0)
                try mount.unmount()
                #expect(try plan([mount.store] + words).output == text.output)
                #expect(try plan([mount.store, "--json"] + words).output == json.output)
                let done = try Program.run([PurgefsBinary.path, "purge", mount.store, "--json"] + words)
                #expect(done.output == json.output)
            }
        }
    }
}
