import Glibc
import Support
import Testing

@testable import PurgeCommands

/// Wrong usage gives exit status 64, a message and the usage line, and nothing on standard output.
struct UsageTests {
    @Test(arguments: [
        [], ["nosuch"], ["device"], ["--nosuch"], ["help", "nosuch"], ["help", "run", "mount"],
        ["run"], ["run", "--"], ["report", ".", "--output", ""], ["run", "--total", "x", "true"],
        ["mount"], ["mount", "s"], ["mount", "s", "m", "x"], ["mount", "--state", "asleep", "s", "m"],
        ["mount", "--profile", "devices", "s", "m"], ["mount", "--purge-latency", "soon", "s", "m"],
        ["run", "--purge-latency=-1s", "true"], ["set", "storage.profile=real"], ["set", "purge.latency=3"],
        ["set", "journal.size=4096"], ["set", "journal.size=+1M"], ["set", "journal.age=30"],
        ["mount", "--protection", "secret", "s", "m"],
        ["unmount"], ["unmount", "a", "b"], ["unmount", "--by-force", "a"],
        ["status", "a", "b"], ["status", "--json=1"],
        ["set"], ["set", "target"], ["set", "storage.total"], ["set", "storage.used=1"], ["set", "storage.nothing=1"],
        ["set", "storage.total="], ["set", "storage.total=x"], ["set", "storage.total=1M", "storage.others=--1"],
        ["set", "storage.thresholds=low"], ["set", "storage.thresholds=low=1M,low=2M"],
        ["set", "storage.thresholds=low=101%"], ["set", "storage.thresholds=middle=1M"],
        ["mark"], ["mark", "a"], ["mark", "a", "--purgeable", "--not-purgeable"], ["mark", "a", "--purgeable=soon"],
        ["mark", "--purgeable", "high", "a"], ["mark", "a", "--purgeable", "low"],
        ["mark", "a", "--exclude-from-backup", "--include-in-backup"], ["mark", "a", "--protection", "some"],
        ["purge"], ["purge", "--path", "x", "--all"], ["purge", "--path", ""], ["purge", "--all", "--tier", "tmp"],
        ["purge", "--tier", "documents"],
        ["purge", "--bytes", "much"], ["purge", "a", "b", "--all"],
        ["policy"], ["policy", "x"], ["policy", "add"], ["policy", "add", "d", "--after", "4"],
        ["policy", "add", "d", "--limit", "x"], ["policy", "add", "d", "--limit", "10"],
        ["policy", "add", "d", "--json"], ["policy", "remove"],
        ["policy", "list", "--after", "3d"], ["policy", "reset", "a", "b"],
        ["events", "a", "b"], ["events", "--type", "nothing"], ["events", "--all", "--type", "purge"],
        ["events", "--summary", "--follow"], ["events", "--since", "yesterday"], ["events", "--since", "-10m"],
        ["events", "--tail", "few"], ["events", "--tail=-1"], ["events", "--since"], ["check"], ["check", "a", "b"],
    ])
    func isRefused(words: [String]) {
        let session = Session(words)
        #expect(session.status == 64)
        #expect(session.output == "")
        #expect(session.messages.hasPrefix("purgefs: "))
        let lines = session.messages.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].hasPrefix("usage: purgefs ") && lines[2].contains(": purgefs "))
    }

    @Test func oneFileForTwoThings() throws {
        try Scratch.with("usage") { scratch in
            let file = scratch.path + "/file"
            let given = ["run", "--report", file, "--events", scratch.path + "/./file", "true"]
            func check() {
                let session = Session(given)
                #expect(session.status == 64)
                #expect(
                    session.messages.hasPrefix(
                        "purgefs: run: --report and --events name the same file, \(file): the report would overwrite it"
                    ))
            }
            check()
            #expect(!Files.exists(file))
            try Files.write("kept", to: file)
            check()
            link(file, scratch.path + "/other")
            let log = Session(["run", "--report", file, "--log", scratch.path + "/other", "true"])
            #expect(log.status == 64 && log.messages.contains("--report and --log name the same file"))
            for option in ["--events", "--log"] {
                let trace = Session(["run", "--trace", file, option, scratch.path + "/other", "true"])
                #expect(trace.status == 64 && trace.messages.contains("--trace and \(option) name the same file"))
            }
            try Files.symlink("new", scratch.path + "/dangling")
            for (events, log) in [("file", "other"), ("dangling", "new")] {
                let words = ["--events", "\(scratch.path)/\(events)", "--log", "\(scratch.path)/\(log)"]
                let both = Session(["run"] + words + ["true"])
                #expect(both.status == 64 && both.messages.contains("--events and --log name the same file"))
            }
            #expect(Files.text(file) == "kept")
        }
    }

    @Test func namesTheVerbAndItsUsage() {
        #expect(
            Session("mount", "s").messages
                == "purgefs: mount: MOUNTPOINT is missing\nusage: purgefs mount [options] STORE MOUNTPOINT\n"
                + "  More: purgefs help mount\n")
        #expect(
            Session("mount", "--profile", "devices", "s", "m").messages.hasPrefix(
                "purgefs: mount: --profile: 'devices' is not one of documented, device; did you mean 'device'?"))
    }

    @Test(arguments: [
        ("low=9223372036854775807", "'9223372036854775807' is more than 1 EiB, the largest size"),
        ("verylow=1M,low=0.3K", "'0.3K' is not a whole number of bytes; use a smaller unit"),
        ("low=101%", "'low=101%' is not LEVEL=LIMIT,..."),
    ])
    func aLimitThatCannotBe(thresholds: String, message: String) {
        let setting = "storage.thresholds=\(thresholds)"
        for words in [["set", setting], ["run", "--at", "0s", setting, "true"]] {
            let session = Session(words)
            #expect(session.status == 64)
            #expect(session.messages.contains("storage.thresholds: \(message)"), "\(session.messages)")
        }
    }

    /// The message about a device that is too small suggests a unit if the size has none and may have been meant with one.
    @Test(arguments: [
        ("64", "--total 64: the smallest device is 1 MiB; did you mean 64M?"),
        ("4096", "--total 4096: the smallest device is 1 MiB; did you mean 4096M?"),
        ("512K", "--total 512K: the smallest device is 1 MiB"), ("0", "--total 0: the smallest device is 1 MiB"),
        ("1MB", "--total 1MB: the smallest device is 1 MiB"),
    ])
    func aDeviceThatIsTooSmall(size: String, message: String) {
        for words in [
            ["mount", "--total", size, "/nonexistent/s", "/nonexistent/m"], ["run", "--total=\(size)", "true"],
        ] {
            let session = Session(words)
            #expect(session.status == 64)
            #expect(session.messages.split(separator: "\n").first == "purgefs: \(words[0]): \(message)")
        }
    }

    /// Valid usage with a target that does not exist is a failure, not a usage error.
    @Test(arguments: [
        ["status", "/nonexistent/x"], ["set", "/nonexistent/x", "storage.total=1G"],
        ["purge", "/nonexistent/x", "--all"],
        ["purge", "/nonexistent/x"], ["purge", "/nonexistent/x", "--path", "*"],
        ["events", "/nonexistent/x"], ["check", "/nonexistent/x"], ["mark", "/nonexistent/x", "--purgeable"],
        ["unmount", "/nonexistent/x"], ["mount", "/tmp/s", "/nonexistent/x"], ["status", "/dev"],
    ])
    func invalidTargets(words: [String]) {
        let session = Session(words)
        #expect(session.status == 1)
        #expect(session.output == "")
        #expect(session.messages.contains(words.first { $0.hasPrefix("/nonexistent") || $0 == "/dev" } ?? ""))
        #expect(session.messages.contains("\n  "), "what to do next is missing")
    }

    @Test func anAnswerThatCannotBeWritten() {
        let session = Session("--version", failingWith: .noSpace)
        #expect(session.status == 1)
        #expect(session.messages.contains("standard output"))
    }
}
