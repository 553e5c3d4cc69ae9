import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Options of mount(8) and of lines in fstab.
    @Suite struct MountOptionTests {
        private func readAll(_ mount: TestMount) throws -> [Bool] {
            let long = Int64(1_000_000_000)
            let paths = ["Documents/small", "Documents/large", "Documents"]
            for path in paths {
                let old = timespec(tv_sec: Int(long), tv_nsec: 0)
                let status = try Files.status(mount.path(path))
                try System.setTimes(at: AT_FDCWD, mount.path(path), access: old, modification: status.st_mtim)
            }
            for path in paths.dropLast() {
                let file = try OpenFile(mount.path(path), O_RDONLY)
                _ = try file.read(4096)
                file.close()
            }
            _ = try Files.names(in: mount.path("Documents"))
            return try paths.map { Int64(try Files.status(mount.path($0)).st_atim.tv_sec) != long }
        }

        /// With noatime, reading changes no access time. With nodiratime, it changes the access times of files only.
        @Test(arguments: [("noatime", [false, false, false]), ("nodiratime", [true, true, false])])
        func accessTimesStay(option: String, moved: [Bool]) throws {
            try withMount(["--total", "64M", "-o", option]) { mount in
                try mount.make("Documents/small", size: 5000)
                try mount.make("Documents/large", size: 1 << 20)
                try mount.remount(["-o", option])
                #expect(try readAll(mount) == moved)
                try mount.remount(["-o", "relatime"])
                #expect(try readAll(mount) == [true, true, true])
            }
        }

        /// Reading through a read-only mount leaves the access times in the store unchanged.
        @Test func accessTimesStayInAReadOnlyMount() throws {
            try withMount(["--total", "64M"]) { mount in
                let files = ["Documents/small", "Documents/large"]
                try mount.make(files[0], size: 5000)
                try mount.make(files[1], size: 1 << 20)
                try mount.unmount()
                let stored = (files + ["Documents"]).map { "\(mount.store)/container/\($0)" }
                let old = timespec(tv_sec: 1_000_000_000, tv_nsec: 0)
                for path in stored {
                    let status = try Files.status(path)
                    try System.setTimes(at: AT_FDCWD, path, access: old, modification: status.st_mtim)
                }
                try mount.mount(["-o", "ro"])
                for path in files {
                    let file = try OpenFile(mount.path(path), O_RDONLY)
                    _ = try file.read(4096)
                    file.close()
                }
                #expect(try Files.names(in: mount.path("Documents")).sorted() == ["large", "small"])
                try mount.unmount()
                #expect(try stored.map { try Files.status($0).st_atim.tv_sec } == [old.tv_sec, old.tv_sec, old.tv_sec])
                try mount.mount()
            }
        }

        @Test(arguments: [
            "relatime", "strictatime", "nodiratime", "lazytime", "noatime,nodiratime", "defaults,rw,relatime",
        ])
        func linesOfFstabAreTaken(options: String) throws {
            try withMount(mounted: false) { mount in
                try withHelper(mount) { helper in
                    try helper(options)
                    #expect(MountTable.entry(at: mount.root) != nil)
                }
            }
        }

        /// A mount has `nodev` and `nosuid` only if its options name them. mount(8) run by root passes these two on, but not
        /// `dev` and `suid`.
        @Test func devicesAndSetuidAsMountSaysThem() throws {
            try withMount(mounted: false) { mount in
                try withHelper(mount) { helper in
                    for (options, shown) in [
                        ("rw", []), ("rw,nodev", ["nodev"]), ("rw,nosuid,nodev,user", ["nosuid", "nodev"]),
                    ] {
                        try helper(options)
                        let line = Files.text("/proc/self/mountinfo").split(separator: "\n").first {
                            $0.contains(" \(mount.root) ")
                        }
                        let words = try #require(line).split(separator: " ")[5].split(separator: ",").map(String.init)
                        #expect(words.filter { $0 == "nodev" || $0 == "nosuid" } == shown, "\(options): \(words)")
                        try PurgefsBinary.run("unmount", mount.root).succeeded()
                    }
                }
            }
        }

        /// Passes `body` a function that calls the helper of mount(8) with options, as mount(8) does.
        private func withHelper(_ mount: TestMount, _ body: ((String) throws -> Void) throws -> Void) throws {
            let place = "\(mount.scratch)/helper"
            try Program.shell(
                """
                mkdir -p '\(place)/bin' '\(place)/sbin' && ln -s '\(PurgefsBinary.path)' '\(place)/bin/purgefs' &&
                cp '\(Self.helper)' '\(place)/sbin/mount.purgefs'
                """
            ).succeeded()
            defer { if MountTable.entry(at: mount.root) != nil { _ = try? PurgefsBinary.run("unmount", mount.root) } }
            try body { options in
                try Program.run("sh", "\(place)/sbin/mount.purgefs", mount.store, mount.root, "-o", options).succeeded()
            }
        }

        /// Every option of `purgefs mount` except `--foreground` and those for traces can be written in a line of fstab.
        @Test func knowsTheOptionsOfTheVerb() throws {
            let help = try PurgefsBinary.run("help", "mount").succeeded().split(separator: "\n")
            let options = help.filter { line in
                line.hasPrefix("    --") && !["--foreground", "--trace"].contains { line.hasPrefix("    " + $0) }
            }.map { $0.split(separator: " ").prefix(2).map(String.init) }
            #expect(options.count >= 8)
            try withMount { mount in
                for option in options {
                    let takesValue = option[1].allSatisfy(\.isUppercase)
                    let name = option[0].dropFirst(2)
                    for written in [String(name), name.replacing("-", with: "_")] {
                        let words = ["-f", "-v", "-o", "nofail,\(written)\(takesValue ? "=1M" : ""),noatime"]
                        let shown = try Program.run(["sh", Self.helper, "s", "m"] + words).errors
                        #expect(shown.contains(" mount \(option[0])\(takesValue ? " 1M" : "") -o noatime,"), "\(shown)")
                    }
                }
                let remount = try Program.run("sh", Self.helper, mount.store, mount.root, "-o", "remount,ro")
                #expect(remount.status == 32 && remount.errors.contains("cannot be remounted"))
            }
        }

        private static let helper = "\(DocumentedExample.root)/mount-scripts/mount.purgefs"

        /// umount(8) returns before the daemon has released the store, so the next mount waits for the daemon's end.
        @Test func aMountWaitsForADaemonThatIsEnding() throws {
            try withMount(by: .device) { mount in
                try mount.make("Documents/f", size: 4096)
                let old = try #require(mount.daemon)
                old.signal(SIGSTOP)
                let unmount = "import ctypes, sys; sys.exit(ctypes.CDLL(None).umount2(sys.argv[1].encode(), 0))"
                try Program.run(Program.python, "-c", unmount, mount.root, timeout: 20).succeeded()
                let next = try Program.start([PurgefsBinary.path, "mount", "--foreground", mount.store, mount.root])
                // The mount retries every 5 ms, and gives up after 250 ms unless the daemon is ending.
                let begun = Self.sleeps(of: next.pid)
                try eventually("60 attempts") { next.status() != nil || Self.sleeps(of: next.pid) > begun + 60 }
                #expect(next.status() == nil, "\(next.errors)")
                old.signal(SIGCONT)
                try mount.awaitDaemonEnd(old)
                try eventually("the next mount") { Files.exists(mount.control("status.json")) || next.status() != nil }
                #expect(try mount.number("storage.used") == 4096)
                try PurgefsBinary.run("unmount", mount.root).succeeded()
                #expect(try next.wait(within: 20) == 0)
                try mount.mount()
            }
        }

        /// Returns how often the process has gone to sleep.
        private static func sleeps(of pid: pid_t) -> Int {
            let name = "voluntary_ctxt_switches:"
            let line = Files.text("/proc/\(pid)/status").split(separator: "\n").first { $0.hasPrefix(name) }
            return line.flatMap { Int($0.dropFirst(name.count).trimmingPrefix(while: \.isWhitespace)) } ?? 0
        }

        /// A mount of a store that is in use fails. It does not wait for the other mount to end.
        @Test func aSecondMountIsRefused() throws {
            try withMount { mount in
                let second = "\(mount.scratch)/second"
                try Files.makeDirectory(second)
                let result = try PurgefsBinary.run("mount", mount.store, second)
                #expect(result.status == 1 && result.errors.contains("in use by process"))
            }
        }
    }
}
