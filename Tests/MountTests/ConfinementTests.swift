import Glibc
import Support
import Testing

extension Mounts {
    /// Environments that forbid mounting, such as a Docker container with defaults. The message names a remedy, and nothing is
    /// created.
    @Suite struct ConfinementTests {
        private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"
        private static let openDevice =
            "test -e fuse || mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse"
        private static let withoutRight = "setpriv --bounding-set -sys_admin --inh-caps -sys_admin"

        /// Commands that run $P (the program) where it cannot mount, with words that the message must contain.
        static let confinements: [(name: String, command: String, words: [String])] = [
            (
                "root without CAP_SYS_ADMIN", "exec \(withoutRight) $P",
                ["CAP_SYS_ADMIN", "--device /dev/fuse --cap-add SYS_ADMIN --security-opt apparmor=unconfined"]
            ),
            ("user without CAP_SYS_ADMIN", "\(openDevice); exec \(withoutRight) \(user) $P", ["--cap-add SYS_ADMIN"]),
            (
                "no_new_privs", "\(openDevice); exec setpriv --no-new-privs \(user) $P",
                ["fusermount3", "no_new_privs", "--security-opt no-new-privileges"]
            ),
            (
                "no /dev/fuse", "mount -t tmpfs none /dev; exec $P",
                ["/dev/fuse", "modprobe fuse", "--device /dev/fuse"]
            ),
            (
                "/dev/fuse on nodev", "mount -t tmpfs -o nodev none /dev; mknod -m 666 /dev/fuse c 10 229; exec $P",
                ["nodev"]
            ),
            ("/dev/fuse closed", "\(openDevice); chmod 600 fuse; exec \(user) $P", ["chmod 666 /dev/fuse"]),
            (
                "/dev/fuse closed, in a user namespace",
                "\(openDevice); chmod 600 fuse; exec \(user) unshare --user --map-root-user --mount $P",
                ["chmod 666 /dev/fuse", "outside of this user namespace"]
            ),
            ("no fusermount3", "\(openDevice); PATH=$PWD/bin; exec /usr/bin/\(user) $P", ["package fuse3"]),
            (
                "fusermount3 without its bit",
                "\(openDevice); cp /usr/bin/fusermount3 bin/; PATH=$PWD/bin; exec /usr/bin/\(user) $P",
                ["chmod u+s", "bin/fusermount3"]
            ),
            (
                "a user without a name",
                "\(openDevice); chown 54321 point; exec setpriv --reuid 54321 --regid 54321 --clear-groups $P",
                ["fusermount3", "useradd --uid 54321"]
            ),
            (
                "a user namespace without mounts of its own", "\(openDevice); exec unshare --user --map-root-user $P",
                ["unshare --user --map-root-user --mount"]
            ),
            ("no /proc", "mount -t tmpfs none /proc; exec $P", ["/proc", "mount -t proc proc /proc"]),
            ("few descriptors", "ulimit -n 20; exec $P", ["RLIMIT_NOFILE", "ulimit -n"]),
        ]

        @Test(arguments: confinements.map(\.name)) func theHintNamesWhatHelps(name: String) throws {
            let confinement = try #require(Self.confinements.first { $0.name == name })
            try withPlaces { place in
                for arguments in ["mount new point", "run --store new -- true"] {
                    let outcome = try confined("\(confinement.command) \(arguments)", in: place)
                    #expect(outcome.status == (arguments.hasPrefix("run") ? 125 : 1), "\(outcome)")
                    for word in confinement.words { #expect(outcome.errors.contains(word), "\(word): \(outcome)") }
                    #expect(!Files.exists("\(place)/new"), "\(outcome)")
                }
            }
        }

        /// If an ordinary user may not mount on a directory, the message names the cause, and no store is created.
        @Test(arguments: [("closed", "may not write there"), ("sticky", "sticky bit")])
        func mountPointsOfOthers(name: String, words: String) throws {
            try withPlaces { place in
                try Program.shell("mkdir closed sticky; chmod 755 closed; chmod 1777 sticky", in: place).succeeded()
                let outcome = try confined("\(Self.openDevice); exec \(Self.user) $P mount new \(name)", in: place)
                #expect(outcome.status == 1 && outcome.errors.contains(words), "\(outcome)")
                #expect(!Files.exists("\(place)/new"))
            }
        }

        /// Unmounting needs the same rights as mounting, and the message names the cause. `--force` works without these rights.
        @Test func unmountNamesTheCause() throws {
            try withPlaces { place in
                let script = """
                    \(Self.openDevice); \(Self.user) $P mount --total 64M new point || exit 99
                    setpriv --no-new-privs \(Self.user) $P unmount point; echo "status $?"
                    setpriv --no-new-privs \(Self.user) $P unmount --force point; echo "status $?"
                    grep -c " $PWD/point " /proc/self/mountinfo
                    """
                let outcome = try confined(script, in: place)
                #expect(outcome.output == "status 1\nstatus 0\n0\n", "\(outcome)")
                for word in ["no_new_privs", "purgefs unmount --force"] {
                    #expect(outcome.errors.contains(word), "\(outcome)")
                }
            }
        }

        /// Commands on an unmounted store work without /proc.
        @Test func withoutProc() throws {
            try withPlaces { place in
                try PurgefsBinary.run("mount", "--total", "64M", "store", "point", in: place).succeeded()
                try PurgefsBinary.run("unmount", "point", in: place).succeeded()
                let outcome = try confined(
                    "mount -t tmpfs none /proc; $P --version && $P status store && $P check store && $P events store",
                    in: place)
                #expect(outcome.status == 0 && outcome.output.contains("64.0 MiB"), "\(outcome)")
            }
        }

        /// Passes `body` a directory that every user may write to, with a mount point that belongs to an ordinary user.
        private func withPlaces(_ body: (_ place: String) throws -> Void) throws {
            try Scratch.with("confined") { scratch in
                try Program.shell(
                    "chmod 777 .; mkdir bin point; chown 65534 point; cp \"\(PurgefsBinary.path)\" purgefs",
                    in: scratch.path
                ).succeeded()
                try body(scratch.path)
            }
        }

        private func confined(_ script: String, in place: String) throws -> Outcome {
            try Program.run(
                ["unshare", "--mount", "--propagation", "private", "sh", "-c", script], in: place,
                environment: ["P": "\(place)/purgefs", "TMPDIR": "/tmp"], timeout: 60)
        }
    }
}
