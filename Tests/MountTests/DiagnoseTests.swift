import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Findings of `purgefs diagnose` on real containers (docs/DIAGNOSIS.md).
    @Suite struct DiagnoseTests {
        struct Report: Decodable, Equatable {
            struct Finding: Decodable, Equatable {
                var rule: String
                var severity: String
                var path: String?
                var bytes: Int64?
                var files: Int64?
                var detail: String?
            }
            struct Count: Decodable, Equatable {
                var rule: String
                var findings: Int64
            }
            var files: Int64?
            var bytes: Int64?
            var rules: [Count]
            var findings: [Finding]
        }

        private func report(_ words: String...) throws -> Report {
            let outcome = try Program.run([PurgefsBinary.path, "diagnose"] + words + ["--json"])
            #expect(outcome.errors.isEmpty)
            return try JSONDecoder().decode(Report.self, from: Data(try outcome.succeeded().utf8))
        }

        private func lines(_ report: Report) -> [String] {
            report.findings.map { [$0.severity, $0.rule, $0.path, $0.detail].compactMap { $0 }.joined(separator: " ") }
        }

        /// Fills a container with 8 files and a folder that give 10 findings, each of a different rule.
        private func spoil(_ mount: TestMount) throws {
            try mount.make("Library/Caches/app.sqlite", size: 9000)
            try mount.make("Library/Caches/keep", size: 1)
            try mount.mark("Library/Caches/keep", "0")
            try mount.make("Documents/IMG_0001.HEIC", size: 9000)
            try mount.mark("Documents/IMG_0001.HEIC", "high")
            try mount.make("Documents/none", size: 1)
            try Attributes.mark(mount.path("Documents/none"), "fileProtection", "none")
            try mount.make("Documents/empty", size: 0)
            for name in ["saved", ".new"] { try mount.make("Documents/\(name)", size: 1) }
            try Attributes.mark(mount.path("Documents/saved"), "isExcludedFromBackup", "1")
            try Files.rename(mount.path("Documents/.new"), mount.path("Documents/saved"))
            try mount.makeDirectory("Library/Caches/feed")
            try Attributes.mark(mount.path("Library/Caches/feed"), "purgeAfter", "0")
            try Attributes.mark(mount.path("Library/Caches/feed"), "isExcludedFromBackup", "1")
            try mount.make("tmp/old", size: 1)
            try mount.write("+3d", to: "device.clock")
            try mount.make("tmp/new", size: 1)
        }

        private static let spoiled = [
            "error databaseMayBePurged Library/Caches/app.sqlite because of its place, Library/Caches",
            "error userContentMayBePurged Documents/IMG_0001.HEIC because of its mark, isPurgeable",
            "warning flagLost Documents/saved isExcludedFromBackup=1",
            "warning oldTemporary tmp/old", "warning purgeableInBackup Documents/IMG_0001.HEIC",
            "warning ineffectiveMark Library/Caches/keep",
            "note emptyFile Documents/empty", "note protectionNone Documents/none",
            "note policyWithoutLimit Library/Caches/feed", "note redundantExclusion Library/Caches/feed",
        ]

        /// The findings are the same through the mount and in the store, for the whole container and for its parts.
        @Test func whatIsFound() throws {
            try withMount { mount in
                try spoil(mount)
                let mounted = try report("--all", mount.root)
                #expect(lines(mounted) == Self.spoiled)
                #expect(mounted.files == 8 && mounted.bytes == 18005)
                #expect(mounted.rules.map(\.findings) == [Int64](repeating: 1, count: 10))
                #expect(try report("--all", mount.store) == mounted)
                #expect(try lines(report(mount.path("tmp"))) == Self.spoiled.filter { $0.contains(" tmp/") })
                #expect(try report(mount.path("")).findings == mounted.findings)
                let strict = try PurgefsBinary.run("diagnose", "--all", "--strict", mount.root)
                #expect(
                    strict.status == 1 && strict.errors.isEmpty && strict.output.hasPrefix("8 files, 17.5 KiB\n\n! e"))
                #expect(strict.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
                #expect(try PurgefsBinary.run("diagnose", mount.path("tmp/new"), "--strict").status == 0)
                #expect(try PurgefsBinary.run("diagnose", mount.path("tmp/old"), "--strict").status == 1)
                try mount.unmount()
                #expect(try report("--all", mount.store) == mounted)
                #expect(
                    try lines(report("\(mount.store)/container/tmp/old")) == ["warning oldTemporary tmp/old"])
            }
        }

        /// A diagnosis changes neither the purge order, nor the times and modes of files, nor device.json.
        @Test func nothingIsChanged() throws {
            try withMount { mount in
                try spoil(mount)
                try mount.make("Library/Caches/late", size: 5000)
                func state() throws -> [String] {
                    try Files.tree(mount.root).map { path in
                        let status = try Files.status(mount.path(path))
                        return "\(path) \(status.st_atim) \(status.st_mtim) \(status.st_ctim) \(status.st_mode)"
                    }
                }
                let plan = try PurgefsBinary.run("purge", "--all", "--dry-run", mount.root).succeeded()
                let before = try state()
                _ = try report("--all", mount.root)
                _ = try report(mount.path("Library/Caches/app.sqlite"))
                #expect(try state() == before)
                #expect(try PurgefsBinary.run("purge", "--all", "--dry-run", mount.root).succeeded() == plan)
                try mount.unmount()
                let device = Files.text("\(mount.store)/device.json")
                _ = try report("--all", mount.store)
                #expect(Files.text("\(mount.store)/device.json") == device)
            }
        }

        /// For a file, the report has the file's size and the totals of its folder; for a folder, the folder's own totals. This
        /// holds in a mount and in the store.
        @Test func sizesOfAPath() throws {
            struct Sizes: Decodable, Equatable {
                struct State: Decodable, Equatable {
                    var bytes: Int64?
                    var charged: Int64?
                }
                struct Folder: Decodable, Equatable {
                    var path: String
                    var bytes: Int64
                    var files: Int64
                    var folders: Int64
                }
                var state: State
                var folder: Folder
            }
            try withMount { mount in
                try Files.makeDirectory(mount.path("Documents/sub"))
                try mount.make("Documents/a", size: 5000)
                try mount.make("Documents/sub/b", size: 7000)
                func sizes(_ path: String) throws -> Sizes {
                    let text = try PurgefsBinary.run("diagnose", path, "--json").succeeded()
                    return try JSONDecoder().decode(Sizes.self, from: Data(text.utf8))
                }
                func check(_ root: String, charged: Int64?) throws {
                    let file = try sizes("\(root)/Documents/a")
                    #expect(file.state == .init(bytes: 5000, charged: charged))
                    #expect(file.folder == .init(path: "Documents", bytes: 12000, files: 2, folders: 1))
                    let folder = try sizes("\(root)/Documents/sub")
                    #expect(folder.folder == .init(path: "Documents/sub", bytes: 7000, files: 1, folders: 0))
                }
                try check(mount.root, charged: 8192)
                try mount.unmount()
                try check("\(mount.store)/container", charged: nil)
            }
        }

        @Test func linksAreNotFollowed() throws {
            try withMount { mount in
                try Files.makeDirectory("\(mount.scratch)/outside")
                try Files.make("\(mount.scratch)/outside/app.sqlite", size: 10)
                try Files.symlink("\(mount.scratch)/outside", mount.path("tmp/link"))
                try Files.symlink("..", mount.path("tmp/up"))
                try Files.symlink("nowhere", mount.path("tmp/dangling"))
                let report = try report("--all", mount.root)
                #expect(report.files == 0 && report.findings.isEmpty)
                for name in ["link", "dangling"] {
                    let text = try PurgefsBinary.run("diagnose", mount.path("tmp/\(name)")).succeeded()
                    #expect(
                        text.hasPrefix("tmp/\(name)\n") && text.contains("symbolic link; its target is not checked"))
                }
                let outcome = try PurgefsBinary.run("diagnose", mount.path("tmp/link/app.sqlite"))
                #expect(outcome.status == 1 && outcome.errors.contains("it is not in a container"))
            }
        }

        /// A dangling link is reported if a purge removed its target, and only while that purge is why the target is missing.
        @Test func linksToWhatWasPurged() throws {
            try withMount { mount in
                let names = ["here", "again", "removed", "gone\u{202E}"]
                for name in names { try mount.make("Library/Caches/\(name)", size: 5000) }
                for name in names.dropFirst() {
                    try PurgefsBinary.run("purge", mount.path("Library/Caches/\(name)")).succeeded()
                }
                for name in ["again", "removed"] { try mount.make("Library/Caches/\(name)", size: 5000) }
                try Files.unlink(mount.path("Library/Caches/removed"))
                for name in names { try Files.symlink("../Library/./Caches/\(name)", mount.path("Documents/\(name)")) }
                let target = "Library/Caches/gone\u{202E}"
                try Files.symlink(mount.path(target), mount.path("tmp/absolute"))
                try Files.symlink("../../" + target, mount.path("tmp/outside"))
                try Files.symlink("never", mount.path("tmp/never"))
                func check(_ report: Report, _ paths: String...) {
                    #expect(
                        report.findings.map { "\($0.severity) \($0.rule)" } == paths.map { _ in "warning purgedTarget" }
                    )
                    #expect(report.findings.map(\.path) == paths)
                    let details = report.findings.compactMap(\.detail)
                    #expect(details.allSatisfy { $0.hasPrefix("to \(target), purged 20") }, "\(details)")
                }
                check(try report("--all", mount.root), "Documents/gone\u{202E}", "tmp/absolute")
                check(try report(mount.path("Documents/gone\u{202E}")), "Documents/gone\u{202E}")
                check(try report(mount.path("tmp/absolute")), "tmp/absolute")
                for name in ["here", "again", "removed"] { check(try report(mount.path("Documents/\(name)"))) }
                let text = try PurgefsBinary.run("diagnose", mount.path("Documents")).succeeded()
                #expect(text.contains(#"to Library/Caches/gone\u{202e}, purged 20"#) && !text.contains("\u{202E}"))
                try mount.unmount()
                check(try report("--all", mount.store), "Documents/gone\u{202E}")
            }
        }

        /// `diagnose` and `report` reach files in folders that are nested much deeper than the soft limit on open files.
        @Test func deepFolders() throws {
            try withMount { mount in
                let script = """
                    import os, sys
                    os.chdir(sys.argv[1])
                    for _ in range(300): os.mkdir('d'); os.chdir('d')
                    open('end.sqlite', 'w').write('x')
                    """
                try Program.run([Program.python, "-c", script, mount.path("tmp")]).succeeded()
                let page = "\(mount.scratch)/report.html"
                for words in ["diagnose --all \(mount.root) --json", "report \(mount.root) --output \(page)"] {
                    let outcome = try Program.shell("ulimit -S -n 100; \(PurgefsBinary.path) \(words)")
                    #expect(try outcome.succeeded().contains("end.sqlite") == words.hasPrefix("diagnose"))
                    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
                }
                #expect(Files.text(page).contains("d/d/end.sqlite"))
            }
        }

        /// A refused copy that succeeds later is no longer reported, even if it has the time of the original.
        @Test func copiedAgainWithItsTime() throws {
            try withMount { mount in
                let source = "\(mount.scratch)/letter"
                try Files.make(source, size: 5 << 20)
                try Program.run("touch", "-d", "2020-01-01", source).succeeded()
                try mount.write("62M", to: "storage.others")
                #expect(try Program.run("cp", "-p", source, mount.path("Documents/letter")).status == 1)
                _ = try Program.shell("tar -C \(mount.scratch) -cf - letter | tar -C \(mount.path("tmp")) -xf -")
                let refused = [
                    "error writeRefused Documents/letter cut short, refused once",
                    "error writeRefused tmp/letter empty, refused once",
                ]
                let places = [mount.root, mount.store]
                for place in places { #expect(try lines(report("--all", place)) == refused) }
                try mount.write("0", to: "storage.others")
                // Waits until at least a second has passed since the refusal.
                let after = System.now() + 1_100_000_000
                try eventually("a later second") { System.now() > after }
                try Program.run("cp", "-p", source, mount.path("Documents/letter")).succeeded()
                for place in places { #expect(try lines(report("--all", place)) == [refused[1]]) }
                try mount.unmount()
                #expect(try lines(report("--all", mount.store)) == [refused[1]])
            }
        }

        /// The age of a file copied to tmp counts from the copy, even if the copy kept an older modification time.
        @Test func copiedToTemporary() throws {
            try withMount { mount in
                try Files.make("\(mount.scratch)/letter", size: 10)
                try Program.run("touch", "-d", "2020-01-01", "\(mount.scratch)/letter").succeeded()
                try Program.run("cp", "-p", "\(mount.scratch)/letter", mount.path("tmp/letter")).succeeded()
                for target in [mount.root, mount.store] { #expect(try report("--all", target).findings.isEmpty) }
                try mount.write("+3d", to: "device.clock")
                for target in [mount.root, mount.store] {
                    #expect(try lines(report("--all", target)) == ["warning oldTemporary tmp/letter"])
                }
            }
        }

        /// A hard-linked file counts once, and gives no finding, because it is not purged.
        @Test func hardLinks() throws {
            try withMount { mount in
                try mount.make("Library/Caches/app.sqlite", size: 5000)
                try Files.link(mount.path("Library/Caches/app.sqlite"), mount.path("Library/Caches/other.sqlite"))
                let report = try report("--all", mount.root)
                #expect(report.files == 1 && report.bytes == 5000 && report.findings.isEmpty)
                let text = try PurgefsBinary.run("diagnose", mount.path("Library/Caches/app.sqlite")).succeeded()
                #expect(text.contains("may not be purged: it is hard-linked") && text.contains("it has 2 names"))
            }
        }

        @Test func namesAreShownSafely() throws {
            try withMount { mount in
                try mount.make("tmp/a\n\u{1B}[31m.sqlite", size: 10)
                try Program.run([
                    Program.python, "-c", "import os, sys; open(os.fsencode(sys.argv[1]) + b'/\\xff', 'w').write('x')",
                    mount.path("Documents"),
                ]).succeeded()
                let text = try PurgefsBinary.run("diagnose", "--all", mount.root).succeeded()
                #expect(text.contains(#"tmp/a\u{a}\u{1b}[31m.sqlite"#) && !text.contains("\u{1B}"))
                #expect(text.contains("Documents/\u{FFFD}  not UTF-8"))
                let command = "'\(PurgefsBinary.path)' diagnose \"$(printf '\(mount.path("Documents"))/\\377')\""
                #expect(try Program.shell(command).succeeded().hasPrefix("Documents/\u{FFFD}\n"))
            }
        }

        /// A store with a damaged journal is not diagnosed, and the message names the repair.
        @Test func damagedJournal() throws {
            try withMount { mount in
                try mount.make("tmp/a.sqlite", size: 10)
                try mount.unmount()
                try Files.write("nonsense", to: "\(mount.store)/journal.sqlite")
                let outcome = try PurgefsBinary.run("diagnose", "--all", mount.store)
                #expect(outcome.status == 1 && outcome.output.isEmpty)
                #expect(outcome.errors.contains("journal.sqlite: the journal is damaged"))
                #expect(outcome.errors.contains("purgefs check --repair \(mount.store)"))
                try Files.unlink("\(mount.store)/journal.sqlite")
            }
        }

        /// Each rule keeps its worst thousand findings and counts all of them.
        @Test func manyFiles() throws {
            try withMount(["--total", "4G"], deadline: 300) { mount in
                let script = """
                    import os, sys
                    for folder in range(50):
                        os.mkdir(f'{sys.argv[1]}/tmp/{folder}')
                        for file in range(60):
                            open(f'{sys.argv[1]}/tmp/{folder}/{file}.sqlite', 'wb').write(b'x' * (folder * 60 + file))
                    """
                try Program.run([Program.python, "-c", script, mount.root], timeout: 200).succeeded()
                let report = try report("--all", mount.root)
                #expect(report.files == 3000 && report.rules == [.init(rule: "databaseMayBePurged", findings: 3000)])
                #expect(report.findings.map(\.bytes) == (2000..<3000).reversed().map { Int64($0) })
            }
        }

        /// Unreadable folders are named, and the rest is diagnosed.
        @Test(.enabled(if: geteuid() == 0, "only root can give a right up")) func withoutTheRightToReadAll() throws {
            try withMount { mount in
                try mount.make("tmp/a.db", size: 2)
                try mount.makeDirectory("Documents/closed")
                try mount.make("Documents/closed/a", size: 2)
                try Files.changeMode(mount.path("Documents/closed"), 0)
                let rights = "-dac_override,-dac_read_search"
                let outcome = try Program.run([
                    "setpriv", "--bounding-set", rights, "--inh-caps", rights, PurgefsBinary.path, "diagnose", "--all",
                    mount.root, "--json",
                ])
                let report = try JSONDecoder().decode(Report.self, from: Data(try outcome.succeeded().utf8))
                #expect(
                    lines(report) == [
                        "error databaseMayBePurged tmp/a.db because of its place, tmp",
                        "error noPermission Documents/closed",
                    ])
                #expect(
                    outcome.errors.contains("Documents/closed: it cannot be read, so its content was not checked"))
            }
        }
    }
}
