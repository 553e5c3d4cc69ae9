import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Records of calls, their repetition, and losses of power (docs/POWER.md).
    @Suite struct PowerTests {
        private static let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/many_calls.py"

        private func run(_ words: [String], in place: String) throws -> Outcome {
            try Program.run([PurgefsBinary.path, "run", "--quiet"] + words, environment: ["TMPDIR": place])
        }

        private func listing(of store: String) throws -> String {
            try Program.run("sh", "-c", "cd '\(store)/container'; find . -printf '%P %y %m %n %s %l\\n' | sort")
                .succeeded()
        }

        /// A record that is replayed leaves the same names, content, attributes and links, with any of the calls that a record
        /// has.
        @Test func replayed() throws {
            try Scratch.with("power") { scratch in
                let (first, second) = ("\(scratch.path)/first", "\(scratch.path)/second")
                let record = "\(scratch.path)/record"
                try run(
                    ["--store", first, "--record", record, "--data", "--", Program.python, "-S", Self.program],
                    in: scratch.path
                ).succeeded()
                let replay = try run(
                    ["--store", second, "--", "sh", "-c", "exec \(PurgefsBinary.path) replay \(record) ~"],
                    in: scratch.path)
                #expect(replay.status == 0 && replay.output == "", "\(replay)")
                #expect(try listing(of: second) == listing(of: first))
                let content = "cd '%/container'; find . -type f | sort | xargs md5sum; getfattr -R -d . | sort"
                let contents = try [first, second].map {
                    try Program.run("sh", "-c", content.replacing("%", with: $0)).succeeded()
                }
                #expect(contents[0] == contents[1] && contents[0].contains("user.colour"))
                // On a smaller device, some calls have a different outcome.
                let small = try run(
                    ["--total", "1M", "--", "sh", "-c", "exec \(PurgefsBinary.path) replay \(record) ~"],
                    in: scratch.path)
                #expect(small.status == 1 && small.output.contains("write Documents/large: "), "\(small)")
                #expect(small.output.contains(" bytes in the record, ENOSPC now"), "\(small)")
            }
        }

        /// The state after a loss of power, in the container of the run, and the status that the check sees.
        @Test(arguments: [
            ("rename#1=power", "old", "137"), ("rename#2=power=none", "old", "0"), ("rename#2=power=torn", "", "0"),
            ("rename#2=power=ordered", "new", "0"), ("write@*new#1=power=ordered", "old", "137"),
        ]) func inARun(rule: String, expected: String, status: String) throws {
            try Scratch.with("power") { scratch in
                let store = "\(scratch.path)/store"
                try run(["--store", store, "--", "sh", "-c", "printf old > ~/Documents/a"], in: scratch.path)
                    .succeeded()
                let outcome = try run(
                    [
                        "--store", store, "--fault", rule, "--check", "echo $PURGEFS_COMMAND_STATUS; cat ~/Documents/a",
                        "--", "sh", "-c", "printf new > ~/Documents/new; mv ~/Documents/new ~/Documents/a",
                    ], in: scratch.path)
                #expect(outcome.status == 0 && outcome.output == "\(status)\n\(expected)", "\(outcome)")
                #expect(Files.text("\(store)/container/Documents/a") == expected)
                #expect(try Files.names(in: scratch.path) == ["store"])
            }
        }

        /// The second run has the options of the user, except for those that concern COMMAND.
        @Test func options() throws {
            try Scratch.with("power") { scratch in
                let inside = try run(
                    [
                        "--chdir", "--fault", "write=power", "--check", "test -e Documents", "--", "sh", "-c",
                        "echo > Documents/a",
                    ],
                    in: scratch.path)
                #expect(inside.status == 0, "\(inside)")
                let suspended = try run(
                    [
                        "--state", "suspended", "--at", "0s app.state=launch", "--fault", "write=power", "--check",
                        "true",
                        "--", "sh", "-c", "echo > ~/Documents/a",
                    ], in: scratch.path)
                #expect(suspended.status == 0, "\(suspended)")
                let large = try run(
                    [
                        "--total", "24M", "--fault", "write@*c#1=power", "--check", "true", "--", "sh", "-c",
                        """
                        cd ~/Documents; dd if=/dev/zero of=a bs=1M count=16 conv=fsync 2>&1; rm a
                        dd if=/dev/zero of=b bs=1M count=16 conv=fsync 2>&1; echo > c
                        """,
                    ], in: scratch.path)
                #expect(large.status == 125 && large.output.contains("ENOSPC now"), "\(large)")
            }
        }

        /// Wrong rules and wrong records get a message, and nothing is changed.
        @Test func whatIsRefused() throws {
            try Scratch.with("power") { scratch in
                for rule in ["write=power=", "write=power=x", "write=power=torn:", "write=power=torn:-1", "=power"] {
                    #expect(try run(["--fault", rule, "--", "true"], in: scratch.path).status == 64, "\(rule)")
                }
                let twice = try run(
                    ["--fault", "write=power", "--fault", "open=power", "--", "true"], in: scratch.path)
                #expect(twice.status == 64 && twice.errors.contains("only once"), "\(twice)")
                // The first run tells what is wrong, and nothing is made of it.
                for (words, status) in [
                    (["--fault", "bogus", "--fault", "write=power", "--check", "true", "--", "true"], 64),
                    (["--fault", "write=power", "--check", "true", "--", "/no/such"], 127),
                    (["--data", "--", "true"], 64),
                    (["--record", "/dev/full", "--", "sh", "-c", "echo a > ~/tmp/a"], 125),
                    (["--record", "/dev/null", "--", "sh", "-c", "> ~/tmp/$(printf '\\377')"], 125),
                    (["--record", "/dev/null", "--", "sh", "-c", "> ~/tmp/$(printf '\\377\\314\\201x')"], 125),
                    (["--record", "/dev/null", "--", "sh", "-c", "> ~/tmp/a"], 0),
                ] as [([String], Int32)] {
                    #expect(try run(words, in: scratch.path).status == status, "\(words)")
                }
                let late = try run(["--at", "1s fault=write=power", "--", "true"], in: scratch.path)
                #expect(late.status == 64 && late.errors.contains("purgefs run --fault"), "\(late)")
                let unusable = try run(
                    [
                        "--store", "/dev/null", "--fault", "write=power", "--check", "true", "--", "sh", "-c",
                        "touch '\(scratch.path)/ran'; echo > ~/tmp/a",
                    ], in: scratch.path)
                #expect(unusable.status == 125 && !Files.exists("\(scratch.path)/ran"), "\(unusable)")
                try withMount { mount in
                    _ = #expect(throws: Errno.invalid) { try mount.write("write=power", to: "faults") }
                }
            }
        }

        /// Runs a program that leaves `record`, lets the power fail after it, and returns what the check prints.
        private func afterALoss(_ program: String, _ options: [String], _ check: String) throws -> String {
            try Scratch.with("power") { scratch in
                try Files.write("import os, ctypes\nhome = os.environ['HOME']\n" + program, to: "\(scratch.path)/p.py")
                let outcome = try run(
                    options + ["--chdir", "--check", check, "--", Program.python, "-S", "\(scratch.path)/p.py"],
                    in: scratch.path)
                return try outcome.succeeded()
            }
        }

        /// Two names that are equal as strings (Unicode equivalence) are two files.
        @Test func equivalentNames() throws {
            let program = """
                def save(name, text):
                    file = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600)
                    os.write(file, text)
                    os.fsync(file)
                    os.close(file)
                save("\\u00e9", b"one")
                save("e\\u0301", b"two")
                save("\\u00e9", b"ONE")
                os.fsync(os.open(".", os.O_RDONLY))
                """
            let check = "cat $(printf '\\303\\251') $(printf 'e\\314\\201')"
            #expect(try afterALoss(program, ["--fault", "rename#1=power"], check) == "ONEtwo")
        }

        /// Changes of a file that has lost its name concern no other file.
        @Test func aFileThatHasLostItsName() throws {
            let program = """
                file = os.open(".", os.O_RDWR | os.O_TMPFILE, 0o600)
                ctypes.CDLL(None).linkat(-100, b"/proc/self/fd/%d" % file, -100, b"a", 0x400)
                os.unlink("a")
                os.fchmod(file, 0o500)
                os.write(file, b"x")
                os.fsync(file)
                """
            let mode = "stat -c %a . && test ! -e a"
            let before = try afterALoss("", ["--fault", "rename#1=power"], mode)
            #expect(before.hasPrefix("7"))
            #expect(try afterALoss(program, ["--fault", "rename#1=power"], mode) == before)
        }

        /// The same, and the file loses its name, while another descriptor keeps it.
        @Test func anOpenBesideAReplacement() throws {
            let program = """
                import threading, time
                def save(name, text):
                    file = os.open(name, os.O_RDWR | os.O_CREAT, 0o600)
                    os.write(file, text)
                    os.fsync(file)
                    return file
                held = save("a", b"first")
                thread = threading.Thread(target=lambda: os.close(os.open("a", os.O_WRONLY | os.O_TRUNC)))
                thread.start()
                while open(".purgefs/faults").read().split()[1] == "0": time.sleep(0.01)
                save("new", b"other")
                os.rename("new", "a")
                os.fsync(os.open(".", os.O_RDONLY))
                thread.join()
                os.write(held, b"lost")
                os.fsync(held)
                """
            let options = ["--fault", "open@a=500ms", "--fault", "mkdir#1=power=ordered"]
            #expect(try afterALoss(program, options, "cat a; ls Documents") == "other")
        }

        /// An open(2) with O_TRUNC is under way while its file gets another name, and another file gets the old one.
        @Test(arguments: ["power=ordered", "power=none"]) func anOpenBesideARename(loss: String) throws {
            let program = """
                import threading, time
                def save(text):
                    file = os.open("a", os.O_WRONLY | os.O_CREAT, 0o600)
                    os.write(file, text)
                    os.fsync(file)
                    os.close(file)
                save(b"first")
                thread = threading.Thread(target=lambda: os.close(os.open("a", os.O_WRONLY | os.O_TRUNC)))
                thread.start()
                while open(".purgefs/faults").read().split()[1] == "0": time.sleep(0.01)
                os.rename("a", "b")
                save(b"other")
                os.fsync(os.open(".", os.O_RDONLY))
                thread.join()
                """
            let options = ["--fault", "open@a=500ms", "--fault", "mkdir#1=\(loss)"]
            #expect(
                try afterALoss(program, options, "cat a; echo; cat b")
                    == (loss == "power=none" ? "other\nfirst" : "other\n"))
        }

        /// A kind of call, and a program that makes one.
        private static let callsInAFolder = [
            "create=touch d/f", "setxattr=setfattr -n user.a -v b d/k", "sync=sync d/k", "mkdir=mkdir d/f",
            "unlink=rm d/k", "truncate=truncate -s1 d/k", "create=ln d/k d/l", "rename=mv d/k d/m", "open=cat d/k",
        ]

        /// Calls on names in a folder that gets another name while they are served: a replay makes the same files.
        @Test(arguments: Scale.factor >= 1 ? callsInAFolder : Array(callsInAFolder.prefix(3)))
        func aFolderIsRenamedMeanwhile(example: String) throws {
            let parts = example.split(separator: "=", maxSplits: 1)
            try Scratch.with("power") { scratch in
                let (seed, record) = ("\(scratch.path)/seed", "\(scratch.path)/r")
                let list = "find . -type f -exec md5sum {} +; find ."
                try FileManager.default.createDirectory(
                    atPath: "\(seed)/Documents/d", withIntermediateDirectories: true)
                try Files.write("old", to: "\(seed)/Documents/d/k")
                let script = """
                    cd ~/Documents; echo new > d/n; sync d/n; \(parts[1]) > /dev/null &
                    while grep -q ' 0 ' ../.purgefs/faults; do :; done
                    mv d g; wait; echo more >> g/n; sync g/n .; \(list)
                    """
                let options = [
                    "--seed", seed, "--fault", "\(parts[0])@Documents/d/*=300ms", "--record", record, "--data", "--",
                    "sh", "-c", script,
                ]
                let result = try run(options, in: scratch.path).succeeded()
                for loss in [[], ["--power", "ordered"], ["--power", "none"]] {
                    let target = "\(scratch.path)/target\(loss.count)\(loss.last ?? "")"
                    _ = try Program.run("cp", "-a", seed, target).succeeded()
                    _ = try Program.run([PurgefsBinary.path, "replay"] + loss + [record, target]).succeeded()
                    let files = try Program.run(["sh", "-c", "cd \(target)/Documents; \(list)"]).succeeded()
                    if loss.last == "none" {
                        #expect(files.contains("./g/n") && files.contains("./g/k"), "\(files)")
                    } else {
                        #expect(files == result)
                    }
                }
            }
        }

        /// Each folder on a path is renamed by a thread of its own, while others make folders at its end.
        @Test func allFoldersOnThePathAreRenamed() throws {
            let script = """
                import os, threading
                folders = [os.open(".", os.O_RDONLY)]
                for _ in range(10):
                    os.mkdir("x", dir_fd=folders[-1])
                    folders.append(os.open("x", os.O_RDONLY, dir_fd=folders[-1]))
                def rename(folder):
                    for i in range(100):
                        names = ("x", "y") if i % 2 == 0 else ("y", "x")
                        os.rename(names[0], names[1], src_dir_fd=folder, dst_dir_fd=folder)
                def make(name):
                    for i in range(100): os.mkdir(f"{name}{i}", dir_fd=folders[-1])
                threads = [threading.Thread(target=rename, args=[folder]) for folder in folders[:-1]]
                threads += [threading.Thread(target=make, args=[name]) for name in "ab"]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
                """
            try Scratch.with("power") { scratch in
                let (record, target) = ("\(scratch.path)/r", "\(scratch.path)/target")
                let delays = ["--fault", "rename=1ms", "--fault", "mkdir=1ms"]
                let command = ["--record", record, "--data", "--", Program.python, "-S", "-c", script]
                try run(["--chdir"] + delays + command, in: scratch.path).succeeded()
                try Files.makeDirectory(target)
                _ = try Program.run(PurgefsBinary.path, "replay", record, target).succeeded()
            }
        }

        /// Files of O_TMPFILE that get no name, whose numbers are used again, and one that cannot be made: a replay leaves them
        /// out, with fewer descriptors than there are such files.
        @Test func filesThatNeverGetAName() throws {
            let script = """
                import os
                home = os.environ["HOME"] + "/Documents"
                os.mkdir(home + "/gone")
                gone = os.open(home + "/gone", os.O_RDONLY)
                os.rmdir(home + "/gone")
                try: os.open("/proc/self/fd/%d" % gone, os.O_TMPFILE | os.O_RDWR)
                except OSError: pass
                for number in range(200):
                    file = os.open(home, os.O_TMPFILE | os.O_RDWR)
                    os.write(file, b"x" * 5000)
                    if number % 50 == 0: os.link("/proc/self/fd/%d" % file, home + "/t%d" % number, src_dir_fd=gone)
                    os.close(file)
                    file = os.open(home + "/f", os.O_CREAT | os.O_RDWR)
                    os.write(file, b"y" * 100)
                    os.unlink(home + "/f")
                    os.pread(file, 4096, 0)
                    os.close(file)
                """
            try Scratch.with("power") { scratch in
                let (record, target) = ("\(scratch.path)/r", "\(scratch.path)/target")
                let command = ["--record", record, "--data", "--", Program.python, "-S", "-c", script]
                try run(command, in: scratch.path).succeeded()
                try Files.makeDirectory(target)
                try Files.makeDirectory("\(target)/Documents")
                let replay = "ulimit -n 64; \(PurgefsBinary.path) replay \(record) \(target)"
                #expect(try Program.run("sh", "-c", replay).succeeded() == "")
                let sizes = try Files.names(in: "\(target)/Documents").sorted().map {
                    "\($0) \(try Files.status("\(target)/Documents/\($0)").st_size)"
                }
                #expect(sizes == ["t0 5000", "t100 5000", "t150 5000", "t50 5000"])
            }
        }

        /// Repeats the calls of a record in the scratch directory.
        private func replay(_ record: String, _ options: String..., in scratch: Scratch) throws -> Outcome {
            try Files.write(record, to: "\(scratch.path)/r")
            return try Program.run([PurgefsBinary.path, "replay"] + options + ["\(scratch.path)/r", scratch.path])
        }

        @Test func damagedRecords() throws {
            try Scratch.with("power") { scratch in
                let file = "{\"call\":\"create\",\"path\":\"a\",\"mode\":420}\n"
                for damaged in ["\"data\":\"!\"", "\"text\":\"a\\u0000\""] {
                    let line = "{\"call\":\"write\",\"path\":\"a\",\"size\":1,\"result\":1,\(damaged)}"
                    #expect(try replay(line, in: scratch).errors.contains("line 1 is not a recorded call"), "\(line)")
                }
                let negative = "{\"call\":\"read\",\"path\":\"a\",\"size\":-7,\"error\":\"EIO\"}"
                #expect(try replay(negative, in: scratch).errors.contains("line 1 is not a recorded call"))
                #expect(try replay(file, "--before", "create#+1", in: scratch).status == 64)
                // A call that has failed may have any numbers.
                let failed = "{\"call\":\"truncate\",\"path\":\"a\",\"size\":\(Int64.max),"
                #expect(try replay(file + failed + "\"error\":\"EFBIG\"}", in: scratch).errors.isEmpty)
                let huge = "{\"call\":\"setxattr\",\"path\":\"a\",\"text\":\"user.a\",\"size\":1099511627776}"
                #expect(try replay(huge, in: scratch).status == 0)
                // RENAME_WHITEOUT would make a device, and the container refuses it, too.
                let rename = "{\"call\":\"rename\",\"path\":\"a\",\"other\":\"b\",\"flags\":4,"
                #expect(try replay(rename + "\"error\":\"EINVAL\"}", in: scratch).status == 0)
                try run(["--store", "\(scratch.path)/store", "--", "true"], in: scratch.path).succeeded()
                let inStore = try Program.run(
                    [PurgefsBinary.path, "replay", "\(scratch.path)/r", "\(scratch.path)/store"])
                #expect(inStore.status == 1 && inStore.errors.contains("it is a store, not a container"), "\(inStore)")
            }
        }

        /// Wrong records, and ones that lead out of the target, make nothing.
        @Test func hostileRecords() throws {
            try Scratch.with("power") { scratch in
                #expect(try replay("no record", in: scratch).errors.contains("line 1 is not a recorded call"))
                #expect(try replay("{\"call\":\"fly\",\"path\":\"a\"}", in: scratch).status == 1)
                #expect(try replay("", "--before", "write#1", in: scratch).status == 64)
                #expect(try replay("", "--power-seed", "1", in: scratch).status == 64)
                #expect(try replay("", in: scratch).status == 0)
                // A path that leads out of the target is made nowhere.
                let outside = try replay(
                    "{\"call\":\"mkdir\",\"path\":\"../../../../\(scratch.path)x\",\"mode\":493}", in: scratch)
                #expect(outside.status == 1 && outside.output.contains("EXDEV now"), "\(outside)")
                #expect(!Files.exists("\(scratch.path)x"))
                let link = "{\"call\":\"symlink\",\"path\":\"l\",\"text\":\"/var/tmp\"}\n"
                let through = try replay(
                    link + "{\"call\":\"mkdir\",\"path\":\"l/purgefs-outside\",\"mode\":493}", in: scratch)
                #expect(through.status == 1 && through.output.contains("ELOOP now"), "\(through)")
                #expect(!Files.exists("/var/tmp/purgefs-outside"))
                let parent = try replay("{\"call\":\"setattr\",\"path\":\"..\",\"modificationTime\":0}", in: scratch)
                #expect(parent.output == "setattr ..: done in the record, EXDEV now\n", "\(parent)")
                let device = try replay(
                    "{\"call\":\"mknod\",\"path\":\"null\",\"mode\":8630,\"device\":259}", in: scratch)
                #expect(device.output == "mknod null: done in the record, EPERM now\n", "\(device)")
                let file = "{\"call\":\"create\",\"path\":\"a\",\"mode\":420}\n"
                let short = file + "{\"call\":\"write\",\"path\":\"a\",\"size\":9,\"result\":9000,\"data\":\"QUE=\"}"
                let large = "{\"call\":\"truncate\",\"path\":\"a\",\"size\":9223372036854775807}"
                let cut = try replay(short, "--power", "torn", "--power-seed", "1", in: scratch)
                #expect(cut.status == 1 && cut.output.contains(" bytes in the record, 2 bytes now"), "\(cut)")
                let words = ["sh", "-c", "ulimit -f 1; \(PurgefsBinary.path) replay \(scratch.path)/r \(scratch.path)"]
                try Files.write(
                    "{\"call\":\"truncate\",\"path\":\"a\",\"size\":1000000}", to: "\(scratch.path)/r")
                let limited = try Program.run(words)
                #expect(limited.output == "truncate a: done in the record, EFBIG now\n", "\(limited)")
                let impossible = try replay(large, "--power", "torn", in: scratch)
                #expect(impossible.errors.contains("line 1 is not a recorded call"), "\(impossible)")
                let empty = "{\"call\":\"write\",\"path\":\"a\",\"offset\":0,\"size\":9,\"result\":9}"
                #expect(try replay(empty, "--power", "none", in: scratch).status == 64)
                #expect(try replay(empty, in: scratch).errors.contains("has no data"))
            }
        }
    }
}
