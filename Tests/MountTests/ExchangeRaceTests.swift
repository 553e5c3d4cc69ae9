import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// An ordinary user exchanges names while root works in their folder (Programs/exchange_race.py). PURGEFS_TEST_SCALE=1 runs
    /// 1,000 rounds of each.
    @Suite(.enabled(if: geteuid() == 0, "only root works in folders of others")) struct ExchangeRaceTests {
        @Test(arguments: ["restore", "create", "store", "copy", "mark", "folder"], [true, false])
        func nothingOfRootsIsTouched(work: String, delayed: Bool) throws {
            try Scratch.with("race") { scratch in
                let program = "\(HostileStoreTests.programs)/exchange_race.py"
                let rounds = Scale.factor < 1 ? 3 : 1000
                let more = 200  // MORE in the program
                let outcome = try Program.run(
                    [Program.python, program, PurgefsBinary.path, scratch.path, work, "\(rounds)"]
                        + (delayed ? ["delay"] : []), timeout: 120 + 2 * Double(rounds + more))
                #expect(outcome.status == 0, "\(outcome)")
            }
        }

        /// The daemon gets the identity of the directory that was there when `mount` or `run` began.
        @Test(arguments: ["mount", "run"]) func theDaemonKnowsTheStore(verb: String) throws {
            try Scratch.with("race") { scratch in
                let (store, point) = ("\(scratch.path)/store", "\(scratch.path)/point")
                for folder in [store, point] { try Files.makeDirectory(folder) }
                let status = try Files.status(store)
                let option = "--known-store \(status.st_dev):\(status.st_ino)"
                let lines = "for line in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $line; echo; done 2>/dev/null; true"
                try Files.write(lines, to: "\(scratch.path)/show")
                let script =
                    verb == "run"
                    ? "$P run --quiet --store \(store) -- sh show"
                    : "$P mount \(store) \(point) && sh show && $P unmount \(point)"
                let purgefs = "P='\(PurgefsBinary.path)'; "
                let shown = try Program.shell(purgefs + script, in: scratch.path).succeeded().split(separator: "\n")
                #expect(shown.contains { $0.contains(" \(option) ") && $0.contains(" \(store) ") }, "\(shown)")
                let other = try PurgefsBinary.run(
                    "mount", "--foreground", "--known-store", "1:2", "other", point, in: scratch.path)
                #expect(other.status == 1 && !Files.exists("\(scratch.path)/other"), "\(other)")
            }
        }

        /// If there was no store when `mount` began, the daemon creates it. A directory, file or link that was put there in the
        /// meantime does not become a store.
        @Test(arguments: ["mkdir new", "mkdir target; ln -s target new", "ln -s target new", "echo >new"])
        func theDaemonMakesTheStore(meanwhile: String) throws {
            try Scratch.with("race") { scratch in
                try Files.makeDirectory("\(scratch.path)/point")
                try Program.shell(meanwhile, in: scratch.path).succeeded()
                let before = try Files.tree(scratch.path)
                let outcome = try PurgefsBinary.shell(
                    "timeout -s KILL 10 $P mount --foreground --known-store new new point", in: scratch.path)
                #expect(outcome.status == 1, "\(outcome)")
                #expect(try Files.tree(scratch.path) == before)
            }
        }

        @Test func theDaemonOfANewStore() throws {
            try Scratch.with("race") { scratch in
                let lines = "for line in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $line; echo; done 2>/dev/null"
                let script = "mkdir point; $P mount --total 64M new point; \(lines); $P unmount point"
                let shown = try PurgefsBinary.shell(script, in: scratch.path).succeeded()
                #expect(shown.contains("--known-store new "), "\(shown)")
            }
        }

        /// `run` refuses a store that was created or replaced after its checks, also with `--seed`. After the checks, it waits
        /// here for a reader of the FIFO `events`.
        @Test(arguments: [
            ("", ":", "mkdir new"), ("", "mkdir target", "ln -s target new"),
            ("", "mkdir new", "mv new old; mkdir new"),
            ("--seed seed", ":", "mkdir new"), ("--seed seed", "mkdir target", "ln -s target new"),
            ("--seed seed", "mkdir new", "mv new old; mkdir new"),
        ])
        func aRunKnowsTheStore(origin: String, before: String, meanwhile: String) throws {
            try Scratch.with("race") { scratch in
                let script = """
                    \(before); mkdir seed; mkfifo events
                    $P run --quiet --store new \(origin) --events events -- true & run=$!
                    until grep -qsE 'wait_for_partner|fifo_open' /proc/$run/wchan; do kill -0 $run || exit 1; done
                    \(meanwhile); cat events; wait $run
                    """
                let outcome = try PurgefsBinary.shell(script, in: scratch.path)
                #expect(outcome.status == 125, "\(outcome)")
                #expect(outcome.errors.contains("after the command had begun"), "\(outcome)")
                #expect(try Files.names(in: "\(scratch.path)/new").isEmpty)
            }
        }

        /// Root prefers another place to a TMPDIR whose owner could exchange the temporary store.
        @Test(arguments: [true, false]) func temporaryDirectory(isOthers: Bool) throws {
            try Scratch.with("race") { scratch in
                let place = "\(scratch.path)/place"
                try Files.makeDirectory(place)
                if isOthers { try #require(chown(place, 65534, 65534) == 0) }
                let words = ["run", "--quiet", "--", "sh", "-c", "cat $PURGEFS_MOUNT/.purgefs/status.json"]
                let outcome = try Program.run([PurgefsBinary.path] + words, environment: ["TMPDIR": place])
                let isThere = outcome.output.contains("\"\(place)/purgefs-run.")
                #expect(outcome.status == 0 && isThere != isOthers, "\(outcome)")
            }
        }
    }
}
