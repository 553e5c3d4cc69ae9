import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The directory in which `purgefs run` creates its mount point.
    @Suite struct MountPlaceTests {
        private static let home = ["--quiet", "--", "sh", "-c", "echo \"$HOME\""]

        private func run(_ environment: [String], _ before: [String] = [], _ options: [String] = []) throws -> String {
            let words = before + ["env"] + environment + [PurgefsBinary.path, "run"] + options + Self.home
            return try Scratch.with("place") { scratch in
                try Program.run(words, in: scratch.path).succeeded().trimmingCharacters(in: .newlines)
            }
        }

        /// The start of a command line that runs as an ordinary user with access to /dev/fuse and allow_other.
        private static let user = [
            "unshare", "-m", "sh", "-ec",
            """
            mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse
            echo user_allow_other > conf; mount --bind conf /etc/fuse.conf
            exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
            """, "sh",
        ]

        /// Returns the directory that the run created for its mount point, and expects it to be gone.
        private func made(_ home: String) throws -> String {
            #expect(!home.contains("\n"), "\(home)")
            let parts = home.split(separator: "/")
            let above = "/" + parts.dropLast(4).joined(separator: "/")
            #expect(parts.suffix(4).prefix(3) == ["Containers", "Data", "Application"], "\(home)")
            #expect(!Files.exists(above))
            return above
        }

        @Test func ofRoot() throws {
            let place = try made(run(["-u", "TMPDIR"]))
            #expect(place.wholeMatch(of: /\/run\/purgefs\.[A-Za-z0-9]{6}/) != nil, "\(place)")
            let open = try made(run(["-u", "TMPDIR"], [], ["--allow-other"]))
            #expect(open.hasPrefix("/run/purgefs."), "\(open)")
        }

        @Test func namedByTheUser() throws {
            try Scratch.with("place") { scratch in
                let place = try made(run(["TMPDIR=\(scratch.path)"]))
                #expect(place.hasPrefix("\(scratch.path)/purgefs-run."), "\(place)")
            }
        }

        /// XDG_RUNTIME_DIR is used if it belongs to the user and nobody else can write to it, and if its path has at most 16
        /// bytes and no part `tmp`.
        @Test(arguments: [
            ("pt.", "700", "65534", true), ("pt.", "777", "65534", false), ("pt.", "755", "0", false),
            ("pt12.", "700", "65534", true), ("pt123.", "700", "65534", false), ("tmp/", "700", "65534", false),
        ])
        func ofAnOrdinaryUser(name: String, mode: String, owner: String, isTaken: Bool) throws {
            let runtime = "/run/\(name)\(UUID().uuidString.prefix(6))"
            try Program.shell(
                "mkdir -p $(dirname \(runtime)) && mkdir -m \(mode) \(runtime) && chown \(owner) \(runtime)"
            ).succeeded()
            defer {
                rmdir(runtime)
                rmdir("/run/tmp")
            }
            let place = try made(run(["-u", "TMPDIR", "XDG_RUNTIME_DIR=\(runtime)"], Self.user))
            #expect(place.hasPrefix("\(runtime)/purgefs.") == isTaken, "\(place)")
            #expect(isTaken || place.hasPrefix("/tmp/purgefs-run."), "\(place)")
            #expect(try Files.names(in: runtime) == [])
        }

        /// Other users could not pass through XDG_RUNTIME_DIR, so --allow-other ignores it. The mount point is then in
        /// /tmp, as without the variable.
        @Test(arguments: [["--allow-other"], []]) func ofAnOrdinaryUserWithout(options: [String]) throws {
            let runtime = "/run/pt.\(UUID().uuidString.prefix(6))"
            try Program.shell("mkdir -m 700 \(runtime) && chown 65534 \(runtime)").succeeded()
            defer { rmdir(runtime) }
            let variable = options.isEmpty ? ["-u", "XDG_RUNTIME_DIR"] : ["XDG_RUNTIME_DIR=\(runtime)"]
            let place = try made(run(["-u", "TMPDIR"] + variable, Self.user, options))
            #expect(place.hasPrefix("/tmp/purgefs-run."), "\(place)")
        }

        /// `run` does not use a /run in which nothing can be created, as in a system container, or in which everybody can
        /// write.
        @Test(arguments: [
            ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o ro x /run && \"$@\"", "sh"],
            ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o nr_inodes=3 x /run && \"$@\" && ls -A /run", "sh"],
            ["unshare", "-m", "sh", "-c", "mount -t tmpfs -o mode=1777 x /run && \"$@\"", "sh"],
        ])
        func aRunThatIsOfNoUse(before: [String]) throws {
            let place = try made(run(["-u", "TMPDIR"], before))
            #expect(place.hasPrefix("/tmp/purgefs-run."), "\(place)")
        }

        /// Later runs do not wait for the stopped daemon of an abandoned run. The daemon removes its mount point when it
        /// continues.
        @Test func anAbandonedOneWhoseDaemonWasStopped() throws {
            try Scratch.with("place") { scratch in
                let child = try Program.start(
                    [
                        "env", "-u", "TMPDIR", PurgefsBinary.path, "run", "--", "sh", "-c",
                        "echo $HOME > $OUT/new; mv $OUT/new $OUT/home; exec sleep 100",
                    ],
                    environment: ["OUT": scratch.path])
                try eventually("the command runs") { Files.exists("\(scratch.path)/home") }
                let home = Files.text("\(scratch.path)/home").trimmingCharacters(in: .newlines)
                let place = "/" + home.split(separator: "/").prefix(2).joined(separator: "/")
                let daemon = try #require(
                    try Files.names(in: "/proc").first {
                        Int($0) != nil && Files.commandLine(of: $0).hasSuffix(" \(home)")
                    }.flatMap { pid_t($0) })
                kill(daemon, SIGSTOP)
                child.signalGroup(SIGKILL)
                _ = try child.wait(within: 30)
                // Directories that are younger than ten seconds are not considered abandoned.
                try Files.setModificationTime(place, secondsAgo: 11)
                for words in [["-u", "TMPDIR"], ["TMPDIR=\(scratch.path)"]] {
                    try Program.run(
                        ["env"] + words + [PurgefsBinary.path, "run", "--quiet", "--", "true"], timeout: 20
                    )
                    .succeeded()
                }
                kill(daemon, SIGCONT)
                try eventually("it removes what it has made") { !Files.exists(place) }
            }
        }

        /// A run with a TMPDIR mounts in it, but also removes abandoned mount points in /run.
        @Test func anAbandonedOneIsRemoved() throws {
            try Scratch.with("place") { scratch in
                let token = "PURGEFS_TEST_\(UUID().uuidString)"
                let child = try Program.start(
                    [
                        "env", "-u", "TMPDIR", PurgefsBinary.path, "run", "--", "sh", "-c",
                        "cat $HOME/.purgefs/status.json > $OUT/new; mv $OUT/new $OUT/home; exec sleep 100",
                    ],
                    environment: ["OUT": scratch.path, "TOKEN": token])
                try eventually("the command runs") { Files.exists("\(scratch.path)/home") }
                let status = try JSONDecoder().decode(
                    MountStatus.self, from: Data(try Files.content("\(scratch.path)/home")))
                let home = try #require(status.mountpoint)
                let all = try Files.names(in: "/proc").compactMap { pid_t($0) }.filter { pid in
                    Files.text("/proc/\(pid)/environ").contains(token)
                        || Files.commandLine(of: "\(pid)").contains(home)
                }
                for pid in all { kill(pid, SIGSTOP) }
                for pid in all { kill(pid, SIGKILL) }
                _ = try child.wait(within: 30)
                let place = "/" + home.split(separator: "/").prefix(2).joined(separator: "/")
                #expect(place.hasPrefix("/run/purgefs."))
                // Directories that are younger than ten seconds are not considered abandoned.
                for left in [place, URL(fileURLWithPath: status.store).deletingLastPathComponent().path] {
                    try Files.setModificationTime(left, secondsAgo: 11)
                }
                try eventually(within: 60, "the next runs remove it") {
                    try Program.run(
                        [PurgefsBinary.path, "run", "--quiet", "--", "true"], environment: ["TMPDIR": scratch.path]
                    ).succeeded()
                    return !Files.exists(place)
                }
                // Runs with a TMPDIR look for abandoned stores only there.
                try eventually(within: 60, "the next run in the same place removes the store") {
                    try Program.run("env", "-u", "TMPDIR", PurgefsBinary.path, "run", "--quiet", "--", "true")
                        .succeeded()
                    return !Files.exists(status.store)
                }
            }
        }
    }
}
