import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Faults of calls, on real mounts (docs/FAULTS.md).
    @Suite struct FaultTests {
        private func set(_ mount: TestMount, _ rules: String...) throws {
            try mount.write(rules.joined(separator: "\n"), to: "faults")
        }

        /// Returns errno of a call that returns -1 on failure; 0 if it succeeds.
        private func code(_ result: Int32) -> Int32 { result < 0 ? errno : 0 }
        private func code(_ call: () throws(Errno) -> Void) -> Int32 {
            do throws(Errno) { try call() } catch { return error.code }
            return 0
        }

        /// Each kind of call fails with the error of its rule, and only the second one of its kind. The call has no effect.
        @Test func eachKindOfCall() throws {
            try withMount { mount in
                let (file, folder) = (mount.path("Documents/f"), mount.path("Documents"))
                try mount.make("Documents/f", size: 8192)
                let calls: [(String, () -> Int32)] = [
                    ("open", { self.opened(file, O_RDONLY) }),
                    ("create", { self.opened(folder + "/new", O_WRONLY | O_CREAT | O_EXCL, removes: true) }),
                    ("create", { self.code(symlink("target", folder + "/link")) }),
                    ("create", { self.code(link(file, folder + "/hard")) }),
                    ("create", { self.code(mknod(folder + "/fifo", S_IFIFO | 0o600, 0)) }),
                    ("mkdir", { self.code(mkdir(folder + "/d", 0o700)) }),
                    ("rename", { self.code(rename(folder + "/d", folder + "/e")) }),
                    ("unlink", { self.code(rmdir(folder + "/e")) }),
                    ("unlink", { self.code(unlink(folder + "/hard")) }),
                    ("truncate", { self.code(truncate(file, 4096)) }),
                    ("setxattr", { self.code { () throws(Errno) in try Attributes.set(file, "user.a", "b") } }),
                    ("setxattr", { self.code { () throws(Errno) in try Attributes.remove(file, "user.a") } }),
                ]
                for (kind, call) in calls {
                    try set(mount, "\(kind)#1=EDQUOT")
                    let before = try Files.names(in: folder)
                    #expect(call() == EDQUOT, "\(kind)")
                    #expect(try Files.names(in: folder) == before, "\(kind)")
                    #expect(call() == 0, "\(kind)")
                    #expect(try mount.read("faults") == "2 1 \(kind)#1=EDQUOT")
                    try set(mount, "off")
                }
                #expect(try mount.read("faults") == "")
            }
        }

        private func opened(_ path: String, _ flags: Int32, removes: Bool = false) -> Int32 {
            let file = open(path, flags, 0o600)
            guard file >= 0 else { return errno }
            close(file)
            return removes ? code(unlink(path)) : 0
        }

        /// Reads, writes and syncs of one open file. A failed write leaves the file as it was, and a short one writes half.
        @Test func dataOfAFile() throws {
            try withMount { mount in
                try set(mount, "write#2=ENOSPC", "write#3=short", "read#2=EIO", "read#3=short", "sync#1=EIO")
                let file = try OpenFile(mount.path("Documents/f"), O_WRONLY | O_CREAT)
                #expect(try file.write(4096, at: 0) == 4096)
                #expect(throws: Errno.noSpace) { _ = try file.write(4096, at: 0) }
                #expect(try file.write(4096, at: 4096) == 2048)
                #expect(try file.status().st_size == 6144)
                #expect(fsync(file.descriptor) == -1 && errno == EIO)
                #expect(fsync(file.descriptor) == 0 && fdatasync(file.descriptor) == 0)
                file.close()
                let reader = try OpenFile(mount.path("Documents/f"), O_RDONLY)
                #expect(try reader.read(1000).count == 1000)
                #expect(throws: Errno.ioError) { _ = try reader.read(1000) }
                #expect(try reader.read(1000).count == 500)
                #expect(try reader.read(1000).count == 1000)
                reader.close()
                let faults = try mount.read("faults")
                #expect(
                    faults == "3 1 write#2=ENOSPC\n3 1 write#3=short\n4 1 read#2=EIO\n4 1 read#3=short\n3 1 sync#1=EIO")
                #expect(try mount.number("storage.used") == Files.chargedTree(mount.root))
            }
        }

        /// A short answer cuts off only reads of a program, and not pages of a mapping.
        @Test func shortReadsBesideAMapping() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 65536)
                try set(mount, "read=short")
                let file = try OpenFile(mount.path("Documents/f"), O_RDONLY)
                let address = try #require(mmap(nil, 65536, PROT_READ, MAP_SHARED, file.descriptor, 0))
                for offset in stride(from: 0, to: 65536, by: 4096) {
                    #expect(address.load(fromByteOffset: offset, as: UInt8.self) == 0xA7)
                }
                munmap(address, 65536)
                #expect(try file.read(1000).count == 500 && file.status().st_size == 65536)
                file.close()
                let outcome = try Program.run(
                    "sh", "-c",
                    "cat '\(mount.path("Documents/f"))' | wc -c; cp '\(mount.path("Documents/f"))' /dev/stdout | wc -c")
                #expect(outcome.output == "65536\n65536\n", "\(outcome)")
            }
        }

        /// More calls wait than the daemon has threads, and the mount goes on; `off` ends their waiting.
        @Test func manyDelays() throws {
            try withMount { mount in
                for number in 0..<60 { try mount.make("Documents/\(number)", size: 1) }
                try set(mount, "open=1h")
                let children = try (0..<60).map { try Program.start(["cat", mount.path("Documents/\($0)")]) }
                try eventually("all calls have come") { try mount.read("faults").hasPrefix("60 60 ") }
                try mount.make("tmp/f", size: 4096)
                #expect(try mount.number("storage.used") == 61 * 4096)
                kill(children[0].pid, SIGKILL)
                _ = try children[0].wait(within: Scale.patience)
                try set(mount, "off")
                for child in children.dropFirst() { #expect(try child.wait(within: Scale.patience) == 0) }
            }
        }

        /// A forced unmount ends delays.
        @Test func unmountedMeanwhile() throws {
            try Scratch.with("delay") { scratch in
                let (store, mount) = ("\(scratch.path)/s", "\(scratch.path)/m")
                try Files.makeDirectory(mount)
                try Program.run(PurgefsBinary.path, "mount", store, mount).succeeded()
                try Files.write("mkdir=1h", to: "\(mount)/.purgefs/faults")
                let child = try Program.start(["mkdir", "\(mount)/Documents/a"])
                try eventually("the call waits") { Files.text("\(mount)/.purgefs/faults").hasPrefix("1 1 ") }
                try Program.run(PurgefsBinary.path, "unmount", "--force", mount).succeeded()
                _ = try child.wait(within: Scale.patience)
                try Program.run(PurgefsBinary.path, "check", store).succeeded()
            }
        }

        /// The events name the rule, the call and the process.
        @Test func events() throws {
            try withMount { mount in
                let stream = try EventReader(mount)
                try set(mount, "mkdir@Documents/*=EPERM", "mkdir#3=EPERM")
                for name in ["tmp/a", "Documents/b", "tmp/c"] { _ = mkdir(mount.path(name), 0o700) }
                try stream.wait("two faults") { $0.count { $0.type == "fault" } == 2 }
                let events = stream.seen.filter { $0.type == "fault" }
                stream.close()
                #expect(events.map(\.path) == ["Documents/b", "tmp/c"])
                #expect(events.map(\.reason) == ["mkdir@Documents/*=EPERM", "mkdir#3=EPERM"])
                #expect(events.map(\.cause) == ["mkdir#2", "mkdir#3"])
                #expect(events.allSatisfy { $0.pid == getpid() })
            }
        }

        /// A delayed call begins later, and a signal that kills its process ends it.
        @Test func delays() throws {
            try withMount { mount in
                try set(mount, "mkdir@Documents/*=300ms", "mkdir@tmp/*=1h")
                let began = System.uptime()
                #expect(mkdir(mount.path("Documents/a"), 0o700) == 0)
                #expect(System.uptime() - began >= 300_000_000)
                let child = try Program.start(["mkdir", mount.path("tmp/a")])
                try eventually("the call waits") { try mount.read("faults").hasSuffix("1 1 mkdir@tmp/*=1h") }
                kill(child.pid, SIGKILL)
                _ = try child.wait(within: Scale.patience)
                #expect(!mount.exists("tmp/a"))
                // A signal with a handler ends nothing.
                try set(mount, "off")
                try set(mount, "mkdir@tmp/*=400ms")
                let alarmed = try Program.run([
                    Program.python, "-c",
                    "import os,signal,sys;signal.signal(14,lambda *_:0);signal.setitimer(0,.05,.05);os.mkdir(sys.argv[1])",
                    mount.path("tmp/b"),
                ])
                #expect(alarmed.status == 0, "\(alarmed)")
            }
        }

        /// A full device refuses what needs blocks, purges nothing for it, and shows no capacity until the faults are off.
        @Test func full() throws {
            try withMount { mount in
                try mount.make("Library/Caches/c", size: 8192)
                try mount.make("Documents/old", size: 8192)
                let important = try mount.number("storage.important")
                try set(mount, "write@Documents/new#2=full")
                let file = try OpenFile(mount.path("Documents/new"), O_WRONLY | O_CREAT)
                #expect(try file.write(4096, at: 0) == 4096)
                #expect(throws: Errno.noSpace) { _ = try file.write(4096, at: 4096) }
                #expect(try file.write(4096, at: 0) == 4096)
                for name in ["available", "important", "opportunistic"] {
                    #expect(try mount.number("storage.\(name)") == 0)
                }
                #expect(throws: Errno.noSpace) { try mount.make("Library/Caches/d", size: 4096) }
                #expect(try mount.read("storage.pressure") == "normal")
                #expect(mount.exists("Library/Caches/c"))
                #expect(unlink(mount.path("Documents/old")) == 0)
                #expect(try mount.number("storage.available") == 0)
                try set(mount, "off")
                #expect(try file.write(4096, at: 4096) == 4096)
                #expect(try mount.number("storage.important") == important)
            }
        }

        /// Purgeable files are gone when the call is carried out, those in the folder of the call too.
        @Test(arguments: ["documented", "device"]) func purge(profile: String) throws {
            try withMount(["--profile", profile]) { mount in
                let files = ["Library/Caches/a", "Documents/keep", "Documents/marked"]
                for name in files { try mount.make(name, size: 8192) }
                try mount.mark("Documents/marked", "low")
                try set(mount, "rename#1=purge")
                try mount.make("Documents/new", size: 4096)
                #expect(rename(mount.path("Documents/new"), mount.path("Documents/renamed")) == 0)
                #expect(try Files.names(in: mount.path("Documents")) == ["keep", "renamed"])
                #expect(try Files.names(in: mount.path("Library/Caches")) == [])
                #expect(try mount.number("storage.used") == Files.chargedTree(mount.root))
            }
        }

        /// The device is locked, or rebooted, when the call is carried out. The call may hold pages or a folder that the change
        /// needs.
        @Test func lockAndReboot() throws {
            try withMount { mount in
                try mount.make("tmp/old", size: 8192)
                let file = try OpenFile(mount.path("tmp/f"))
                try file.fill(8192)
                try set(mount, "write#1=lock", "mkdir#1=reboot")
                #expect(try file.write(4096, at: 0) == 4096)
                #expect(try mount.read("device.state") == "locked")
                #expect(mkdir(mount.path("tmp/d"), 0o700) == 0)
                #expect(try mount.read("device.state") == "beforeFirstUnlock")
                try eventually("tmp is empty") { try !Files.names(in: mount.path("tmp")).contains("old") }
                file.close()
                #expect(try mount.number("storage.used") == Files.chargedTree(mount.root))
            }
        }

        /// COMMAND is killed before its call, and the call is not carried out.
        @Test func killed() throws {
            try Scratch.with("kill") { scratch in
                let outcome = try Program.run([
                    PurgefsBinary.path, "run", "--store", scratch.path + "/s", "--fault", "mkdir@Documents/b=kill",
                    "--",
                    "sh", "-c", "mkdir ~/Documents/a; mkdir ~/Documents/b; mkdir ~/Documents/c",
                ])
                #expect(outcome.status == 137, "\(outcome)")
                #expect(try Files.names(in: scratch.path + "/s/container/Documents") == ["a"])
            }
        }

        /// The check does not run after a signal that ends the run, and its status does not hide that of COMMAND.
        @Test func aCheckAfterASignal() throws {
            try Scratch.with("check") { scratch in
                let child = try Program.start([
                    PurgefsBinary.path, "run", "--quiet", "--check", "touch \(scratch.path)/checked", "--", "sh", "-c",
                    "touch \(scratch.path)/begun; exec sleep 1000",
                ])
                try eventually("COMMAND runs") { Files.exists("\(scratch.path)/begun") }
                Glibc.kill(child.pid, SIGTERM)
                #expect(try child.wait(within: Scale.patience) == 128 + SIGTERM)
                #expect(!Files.exists("\(scratch.path)/checked"))
            }
        }

        @Test func badRules() throws {
            try withMount { mount in
                try set(mount, "write#7=EIO")
                let many = (1...100).map { "write#\($0)=EIO" }.joined(separator: "\n")
                for text in ["nothing", "write=ENOTHING", "write=EIO\nread=5", "off\noff", "open=ENOSYS", many] {
                    #expect(throws: Errno.invalid, "\(text)") { try mount.write(text, to: "faults") }
                }
                let bytes = try Program.run(
                    "sh", "-c", "printf 'write@\\377=EIO' > '\(mount.path(".purgefs/faults"))'")
                #expect(bytes.errors.contains("Invalid argument") || bytes.status != 0, "\(bytes)")
                #expect(try mount.read("faults") == "0 0 write#7=EIO")
            }
            let words = "\(PurgefsBinary.path) run --fault \"$(printf 'write@\\377=EIO')\" -- true"
            #expect(try Program.run("sh", "-c", words).status == 64)
            for (rule, part) in [
                ("wirte=EIO", "did you mean 'write'?"), ("write", "it is not KIND=FAULT"),
                ("write=ENOSPACE", "; did you mean 'ENOSPC'?"), ("write#0=EIO", "'#0' is not #N"),
                ("write@=EIO", "nothing follows @"), ("open=short", "only read and write can be short"),
                ("write=2h", "for an hour at most"),
            ] {
                for option in [["--fault", rule], ["--at", "1s fault=\(rule)"]] {
                    let outcome = try Program.run([PurgefsBinary.path, "run"] + option + ["--", "true"])
                    #expect(outcome.status == 64 && outcome.errors.contains(part), "\(outcome)")
                }
            }
        }

        /// SQLite reports each error and keeps its database whole.
        @Test(arguments: ["EIO", "ENOSPC", "short"]) func sqlite(fault: String) throws {
            try withMount { mount in
                let database = mount.path("Documents/db")
                try Program.run("sqlite3", database, "CREATE TABLE t(a); INSERT INTO t VALUES (1)").succeeded()
                var failures = 0
                for number in 1...8 {
                    try set(mount, "write@Documents/db*#\(number)=\(fault)")
                    let outcome = try Program.run("sqlite3", database, "UPDATE t SET a = a + 1")
                    failures += outcome.status == 0 ? 0 : 1
                    try set(mount, "off")
                    let check = try Program.run("sqlite3", database, "PRAGMA integrity_check; SELECT count(*) FROM t")
                    #expect(try check.succeeded() == "ok\n1\n", "\(number)")
                }
                #expect(fault == "short" || failures > 2, "\(failures)")
            }
        }
    }
}
