import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs report` and `run --report`.
    @Suite struct ReportTests {
        private static let chromium = "\(DocumentedExample.root)/Tests/MountTests/Programs/report_page.py"

        /// A page as Chromium shows it at one width.
        private struct View: Decodable {
            let figures, parts: [String: String]
            let text: String
            let width: Int
            let outside, overlaps, faint, loose: [String]
            let filtered: [Int]?
            let unnamed: Int
        }

        /// Fills the container, purges, has a write refused, locks the device and reboots it.
        private static func live(_ mount: TestMount) throws {
            try mount.write("2M", to: "storage.others.purgeable")
            for index in 1...12 { try mount.make("Library/Caches/image-\(index)", size: 1 << 20) }
            try mount.make("tmp/<script>alert(1)&\"'", size: 2 << 20)
            try mount.make("Documents/movie \u{202E}vom.fdp", size: 12 << 20)
            try mount.make("Documents/import", size: 28 << 20)
            try mount.settle()
            _ = try Program.shell("head -c 30M /dev/zero > Library/Caches/refused", in: mount.root)
            try mount.write("lock", to: "device.state")
            try mount.write("+3d", to: "device.clock")
            try mount.write("reboot", to: "device.state")
            try mount.write("unlock", to: "device.state")
            try mount.make("Documents/last", size: 1 << 20)
            try mount.settle()
            try eventually("nothing more to purge") { try !mount.status().purging }
        }

        /// The page that Chromium shows agrees with `status --json`, at the widths of a phone and of a computer screen, in
        /// light and in dark mode.
        @Test func pageInABrowser() throws {
            try withMount(["--total", "64M", "--others", "10M"]) { mount in
                try Self.live(mount)
                let page = "\(mount.scratch)/report.html"
                let status = try mount.status()
                try PurgefsBinary.run("report", mount.root, "--output", page).succeeded()
                let after = try mount.status()
                #expect(after == status, "\(after) was \(status)")
                let seen = try Program.run([Program.python, Self.chromium, page, mount.scratch], timeout: 120)
                    .succeeded()
                let views = try JSONDecoder().decode([String: View].self, from: Data(seen.utf8))
                #expect(views.count == 4)
                for (name, view) in views {
                    Self.check(view, name)
                    Self.compare(view, status)
                }
                let text = try #require(views["screen"]).text
                for part in [
                    "\(after.counters.purgedFiles) files were purged",
                    "Library/Caches/image-", "<script>alert(1)&\"'", #"Documents/movie \u{202e}vom.fdp"#,
                    "caches: in Library/Caches", "Library/Caches/refused", "beforeFirstUnlock", "3d ahead",
                ] { #expect(text.contains(part), "\(part)") }
                // The story and the counters agree.
                let groups = text.matches(of: /([0-9]+) purges \(/).compactMap { Int64($0.1) }
                let alone = text.matches(of: /Purged [A-Za-z]+\//).count
                #expect(groups.reduce(0, +) + Int64(alone) == after.counters.purgedFiles, "\(text)")
            }
        }

        /// Byte counts of a device of usual size fit the width of a phone.
        @Test func largeNumbers() throws {
            try withMount(["--total", "64G"]) { mount in
                let page = "\(mount.scratch)/report.html"
                try PurgefsBinary.run("report", mount.root, "--output", page).succeeded()
                let seen = try Program.run([Program.python, Self.chromium, page, mount.scratch], timeout: 120)
                    .succeeded()
                let views = try JSONDecoder().decode([String: View].self, from: Data(seen.utf8))
                #expect(views.count == 4)
                for (name, view) in views { Self.check(view, name) }
            }
        }

        private static func check(_ view: View, _ name: String) {
            #expect(view.outside == [], "\(name)")
            #expect(view.overlaps == [], "\(name)")
            #expect(view.faint == [], "\(name)")
            #expect(view.unnamed == 0, "\(name)")
            #expect(view.loose == [], "\(name)")
            #expect(view.filtered?.count == 4, "\(name)")
            #expect(view.filtered?[0] == 0 && view.filtered?[2] != 0, "\(name)")
            // Rows of several paths stay.
            #expect(view.filtered?[1] == view.filtered?[3], "\(name)")
            #expect(view.width <= (name.hasPrefix("phone") ? 360 : 1280), "\(name)")
        }

        /// Compares byte counts and counters exactly, and sizes of parts as they are rounded.
        private static func compare(_ view: View, _ status: MountStatus) {
            let storage = status.storage
            let amounts = [
                "total": storage.total, "used": storage.used, "others": storage.others,
                "othersPurgeable": storage.othersPurgeable, "available": storage.available,
                "important": storage.important, "opportunistic": storage.opportunistic,
                "reclaimable": storage.reclaimable, "markedPurgeable": status.marked.purgeable.bytes,
                "notBackedUp": status.marked.excludedFromBackup.bytes, "purgedBytes": status.counters.purgedBytes,
            ]
            for (name, bytes) in amounts {
                #expect(view.figures[name]?.hasSuffix(" \(grouped(bytes)) bytes") == true, "\(name)")
            }
            let counts = [
                "purgedFiles": status.counters.purgedFiles, "refusedWrites": status.counters.refusedWrites,
                "protectionDenied": status.counters.protectionDenied,
            ]
            for (name, count) in counts { #expect(view.figures[name] == grouped(count), "\(name)") }
            let parts = [
                "documents": status.tiers.persistent.bytes, "others": storage.others - storage.othersPurgeable,
            ]
            for (name, bytes) in parts {
                #expect(view.parts[name] == String(format: "%.1f MiB", Double(bytes) / 1_048_576), "\(name)")
            }
            #expect(status.tiers.caches.bytes > 0 || view.parts["caches"] == "0 B")
        }

        private static func grouped(_ number: Int64) -> String {
            number.formatted(.number.locale(Locale(identifier: "en_US")))
        }

        /// The report of an unmounted store has the same files but no mount point, and leaves the store unchanged.
        @Test func storeAtRest() throws {
            try withMount(["--total", "64M", "--others", "10M"]) { mount in
                try Self.live(mount)
                try mount.unmount()
                let page = "\(mount.scratch)/report.html"
                let before = try Program.run("find", mount.store, "-printf", "%p %s %T@ %C@\n").succeeded()
                try PurgefsBinary.run("report", mount.store, "--output", page).succeeded()
                #expect(try Program.run("find", mount.store, "-printf", "%p %s %T@ %C@\n").succeeded() == before)
                let text = Files.text(page)
                #expect(text.contains("Documents/import") && text.contains("image-1") && !text.contains("mounted at"))
                #expect(!text.contains("class=\"warning\""), "something could not be read")
                #expect(text.hasSuffix("</html>\n"))
            }
        }

        /// The report is written however the command or the daemon ends, and leaves the exit status unchanged.
        @Test(arguments: [
            ("exit 3", 3, "ended with 3"), ("kill -9 $$", 137, "was killed by signal 9"), ("true", 0, "ended with 0"),
            ("head -c 1M /dev/zero > $HOME/Documents/kept; kill -TERM $$", 143, "was killed by signal 15"),
            ("kill -9 $(pgrep -P $PPID | grep -v \"^$$\\$\"); sleep 30", 125, "was killed by signal 9"),
        ]) func afterARun(script: String, status: Int32, ending: String) throws {
            try Scratch.with("report") { scratch in
                let page = "\(scratch.path)/report.html"
                let outcome = try PurgefsBinary.run(
                    "run", "--total", "64M", "--quiet", "--report", page, "--", "sh", "-c",
                    "head -c 2M /dev/zero > $HOME/Documents/early; sleep 0.1; \(script)")
                #expect(outcome.status == status, "\(outcome)")
                let text = Files.text(page)
                #expect(
                    text.contains("<code>sh</code> ") && text.contains(ending), "\(text.prefix(12000).suffix(3000))")
                #expect(text.contains("Documents/early") && text.hasSuffix("</html>\n"))
                #expect(!text.contains("class=\"warning\""), "something could not be read")
                #expect(try Files.names(in: scratch.path) == ["report.html"])
            }
        }

        private static let gallery = """
            head -c 5M /dev/zero > ~/tmp/a; mkdir ~/Library/Caches/photos; cp ~/tmp/a ~/Library/Caches/photos
            purgefs set storage.others=60M
            """
        private static let removal = """
            head -c 3M /dev/zero > ~/Documents/a; head -c 9M /dev/zero > ~/Library/Caches/b
            rm ~/Documents/a; head -c 1M /dev/zero > ~/tmp/c
            """

        /// The figures are right even for runs of milliseconds.
        @Test(arguments: [
            (
                gallery,
                [
                    "Free space was between 0 B and 64.0 MiB; in the end 4.0 MiB.",
                    "The container used at most 10.0 MiB; in the end 0 B.", ">2 purges<",
                    "<dd id=\"purgedBytes\"><span>10.0 MiB</span>", "<dd id=\"purgedFiles\">2</dd>",
                ]
            ),
            (
                removal,
                [
                    "Free space was between 52.0 MiB and 64.0 MiB; in the end 54.0 MiB.",
                    "The container used at most 12.0 MiB; in the end 10.0 MiB.", ">0 purges<",
                ]
            ),
            (":", ["Free space was 64.0 MiB all the time.", "It was empty all the time.", ">0 purges<"]),
        ]) func figuresOfShortRuns(script: String, figures: [String]) throws {
            try Scratch.with("report") { scratch in
                let page = "\(scratch.path)/report.html"
                let binary = PurgefsBinary.path
                try PurgefsBinary.run(
                    "run", "--total", "64M", "--report", page, "--", "sh", "-ec",
                    "purgefs() { '\(binary)' \"$@\"; }\n\(script)"
                ).succeeded()
                let text = Files.text(page)
                for figure in figures { #expect(text.contains(figure), "\(figure)") }
            }
        }

        @Test func afterACommandThatIsNotThere() throws {
            try Scratch.with("report") { scratch in
                let page = "\(scratch.path)/report.html"
                let outcome = try PurgefsBinary.run("run", "--report", page, "--", "nothing-of-that-name")
                #expect(outcome.status == 127 && Files.text(page).contains("did not run: "), "\(outcome)")
            }
        }

        /// A report that cannot be written fails the run, before the command starts if possible.
        @Test func runsWithoutAReport() throws {
            try Scratch.with("report") { scratch in
                func run(_ page: String, _ script: String) throws -> Outcome {
                    try PurgefsBinary.run(
                        "run", "--quiet", "--store", "\(scratch.path)/store", "--report", "\(scratch.path)/\(page)",
                        "--", "sh",
                        "-c", script)
                }
                for page in ["nowhere/page", ".", "store/page", "store/container/Documents/page"] {
                    let outcome = try run(page, "touch \(scratch.path)/began")
                    #expect(
                        outcome.status == 125 && outcome.errors.hasPrefix("purgefs: cannot write the report: "),
                        "\(outcome)")
                    #expect(!Files.exists("\(scratch.path)/began") && !Files.exists("\(scratch.path)/store"))
                }
                try Files.makeDirectory("\(scratch.path)/out")
                let outcome = try run("out/page", "rmdir \(scratch.path)/out; touch $HOME/Documents/done; exit 3")
                #expect(outcome.status == 125 && outcome.errors.contains("cannot write the report"), "\(outcome)")
                #expect(Files.exists("\(scratch.path)/store/container/Documents/done"))
            }
        }
    }
}
