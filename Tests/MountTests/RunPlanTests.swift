import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs run --at DURATION NAME=VALUE`.
    @Suite struct RunPlanTests {
        @Test func changesComeInTheOrderOfTheirTimes() throws {
            try Scratch.with("plan") { scratch in
                let events = "\(scratch.path)/events"
                let script = """
                    test $(cat $PURGEFS_MOUNT/.purgefs/storage.others) -ge 8388608 || exit 1
                    cat $PURGEFS_MOUNT/.purgefs/device.state
                    until grep -q beforeFirst $PURGEFS_MOUNT/.purgefs/device.state; do sleep 0.02; done
                    cat $PURGEFS_MOUNT/.purgefs/storage.others; cat $PURGEFS_MOUNT/.purgefs/app.state
                    """
                let run = try Program.run(
                    PurgefsBinary.path, "run", "--total", "64M", "--events", events, "--at", "2s",
                    "device.state=reboot",
                    "--at=1s", "others=+8M", "--at", "0s storage.others=8M", "--at", "0", "device.state=lock", "--at",
                    "1s", "storage.reclaim=1G", "--at", "9w", "device.clock=+3w", "--at", "1h", "total=1G", "--", "sh",
                    "-c", script)
                let seen = try run.succeeded().split(separator: "\n")
                // On a busy machine, later changes may take effect before COMMAND looks.
                #expect(seen.count == 3 && seen.first != "unlocked" && seen.dropFirst() == ["16777216", "terminated"])
                #expect(
                    run.errors.contains(
                        "COMMAND ended before this was reached: --at 1h total=1G, --at 9w device.clock=+3w"))
                let changes = try StoreEvent.lines(Files.text(events)).filter {
                    ["capacity", "device"].contains($0.type)
                }
                .map(\.reason)
                #expect(changes == ["storage.others=8M", "locking", "storage.others=+8M", "beforeFirstUnlock"])
            }
        }

        /// With a plus, the device's clock counts. One advance makes several changes due.
        @Test func byTheDevicesClock() throws {
            try Scratch.with("plan") { scratch in
                let events = "\(scratch.path)/events"
                let script = """
                    cd $PURGEFS_MOUNT/.purgefs; cat storage.others; echo +3d > device.clock
                    until grep -qx 16777216 storage.others; do sleep 0.02; done; cat device.state
                    """
                let run = try Program.run(
                    PurgefsBinary.path, "run", "--total", "64M", "--events", events, "--at", "+3d", "others=16M",
                    "--at",
                    "+9w others=32M", "--at=+2d", "device.state=reboot", "--at", "0s", "others=4M", "--", "sh", "-c",
                    script)
                #expect(try run.succeeded() == "4194304\nbeforeFirstUnlock\n")
                #expect(run.errors.contains("COMMAND ended before this was reached: --at +9w others=32M"))
                let changes = try StoreEvent.lines(Files.text(events)).filter {
                    ["capacity", "device", "clock"].contains($0.type)
                }
                .map(\.reason)
                #expect(
                    changes == ["storage.others=4M", "device.clock=+3d", "beforeFirstUnlock", "storage.others=16M"])
            }
        }

        /// The message about changes that were not due yet is true only if COMMAND has begun.
        @Test func aCommandThatDoesNotBegin() throws {
            let outcome = try Program.run(
                PurgefsBinary.path, "run", "--at", "1h", "total=1G", "--", "/nonexistent")
            #expect(outcome.status == 127 && !outcome.errors.contains("was due"), "\(outcome)")
        }

        @Test func wordsThatAreNoPlan() throws {
            for (words, message) in [
                (["--at"], "--at DURATION NAME=VALUE: a word is missing"),
                (["--at", "2s"], "a word is missing"),
                (["--at", "2s", "--"], "a word is missing"),
                (["--at", "soon", "total=1G"], "'soon' is not a duration"),
                (["--at", "+soon", "total=1G"], "'soon' is not a duration"),
                (["--at", "++3d", "total=1G"], "'+3d' is not a duration"),
                (["--at", "2s", "ls"], "'ls' is not NAME=VALUE"),
                (["--at", "2s", "totl=1G"], "'totl' cannot be set; did you mean 'storage.total'?"),
                (["--at", "2s", "total=many"], "'many'"),
                (
                    ["--at", "2s", "xyzzyxyzzy=1"],
                    "journal.age, storage.reclaim, storage.policies, device.state, device.clock, app.state"
                ),
                (["--at", "2s", "reclam=tmp"], "did you mean 'storage.reclaim'?"),
                (["--at", "2s", "clock=+1d"], "did you mean 'device.clock'?"),
                (
                    ["--at", "2s", "device.state=locked"],
                    "'locked' is not one of lock, unlock, reboot; did you mean 'lock'?"
                ),
                (["--at", "2s", "device.clock=3d"], "is not + and a duration"),
                (["--at", "2s", "storage.reclaim=some"], "'some' is not a size, tmp, caches, purgeable or all"),
                (["--at", "2s", "storage.used=4K"], "'storage.used' cannot be set"),
            ] {
                let outcome = try Program.run([PurgefsBinary.path, "run"] + words + ["--", "true"])
                #expect(outcome.status == 64 && outcome.errors.contains(message), "\(words): \(outcome)")
            }
        }

        /// A refused change decides the status, because COMMAND's own would hide that the test had other conditions
        /// than planned.
        @Test func aChangeThatIsRefused() throws {
            for time in ["0s", "1s"] {
                let outcome = try Program.run(
                    PurgefsBinary.path, "run", "--total", "64M", "--at", time, "total=-1G", "--at", time, "others=4K",
                    "--", "sh", "-c", "until grep -qx 4096 $PURGEFS_MOUNT/.purgefs/storage.others; do sleep 0.02; done")
                #expect(outcome.status == 125, "\(outcome)")
                #expect(outcome.errors.contains("cannot set storage.total=-1G"), "\(outcome)")
            }
        }

        /// The end of the app waits for a long purge, but the run does not give up on the daemon, which is working.
        /// strace delays each removal by five milliseconds.
        @Test func aPurgeThatOutlastsTheCommand() throws {
            try Scratch.with("plan") { scratch in
                let seed = "\(scratch.path)/seed"
                try Program.run("mkdir", "-p", "\(seed)/tmp").succeeded()
                for index in 0..<300 { try Files.write("x", to: "\(seed)/tmp/\(index)") }
                let outcome = try Program.run(
                    [
                        "strace", "-f", "-o", "/dev/null", "-e", "trace=unlinkat", "-e",
                        "inject=unlinkat:delay_enter=5000", PurgefsBinary.path, "run", "--seed", seed, "--at", "1s",
                        "storage.reclaim=all", "--at", "2s", "others=1G", "--at", "1h", "others=2G", "--", "sh", "-c",
                        "until [ $(ls ~/tmp | wc -l) -lt 300 ]; do sleep 0.02; done",
                    ], timeout: 240)
                #expect(!outcome.errors.contains("did not answer"), "\(outcome)")
                #expect(outcome.errors.contains("purged 300 files"), "\(outcome)")
            }
        }

        /// A plan never keeps a run from ending.
        @Test func theDaemonStopsOrDiesMeanwhile() throws {
            for signal in ["KILL", "STOP"] {
                let outcome = try Program.run(
                    PurgefsBinary.path, "run", "--at", "1s", "others=1G", "--at", "1h", "others=2G", "--at", "+1d",
                    "others=3G", "--", "sh", "-c",
                    """
                    daemon=$(ps -o pid=,args= --ppid $PPID | grep '[m]ount --foreground' | awk '{print $1}')
                    test -n "$daemon" && kill -\(signal) $daemon && sleep 2
                    """, timeout: 120)
                #expect(outcome.status == 125, "\(signal): \(outcome)")
                if signal == "STOP" {
                    #expect(outcome.errors.contains("--at 1s others=1G was due, but not done"), "\(outcome)")
                }
            }
        }
    }
}
