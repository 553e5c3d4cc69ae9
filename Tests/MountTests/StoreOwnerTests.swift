import Glibc
import Support
import Testing

extension Mounts {
    /// Files that root makes in an ordinary user's store belong to that user.
    @Suite struct StoreOwnerTests {
        private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"

        /// Returns the entries of the store that do not belong to its owner. Files that the app has made belong to the
        /// app, and are left out.
        private func strangers(in place: String) throws -> String {
            try Program.shell(
                "find store ! -user 65534 ! -path 'store/container/Documents/*'; find store ! -group 65534 -name '*.*'",
                in: place
            ).succeeded()
        }

        @Test func whatRootMakesIsTheOwners() throws {
            try Scratch.with("owner") { scratch in
                let place = scratch.path
                // Many allocated runs, which need a sidecar.
                let allocate = """
                    import os
                    file = os.open("point/Documents/f", os.O_RDWR | os.O_CREAT)
                    for number in range(1000): os.posix_fallocate(file, number * 12288, 4096)
                    """
                let script = """
                    chmod 777 .; mkdir point store; chown 65534:65534 store
                    $P mount --total 64M store point; '\(Program.python)' -c '\(allocate)'; $P set point storage.others=1M
                    $P unmount point; test -d store/extents
                    """
                try PurgefsBinary.shell("set -e; \(script)", in: place).succeeded()
                #expect(try strangers(in: place) == "")
                let repairs = """
                    echo '{' > store/device.json; rmdir store/container/tmp; $P check --repair store
                    head -c 5000 /dev/zero > store/journal.sqlite; $P check --repair store
                    $P set store storage.others=2M; $P mark --purgeable store/container/Library
                    """
                _ = try PurgefsBinary.shell(repairs, in: place)
                #expect(try strangers(in: place) == "")
                let after = try PurgefsBinary.shell(
                    "\(Self.user) $P set store storage.others=3M && \(Self.user) $P check store", in: place)
                #expect(after.status == 0 && after.output.contains("good"), "\(after)")
            }
        }

        /// Without CAP_SETPCAP, as in a container, root cannot keep its rights while it creates an entry as another user. The
        /// run succeeds all the same, and container/ stays root's.
        @Test(.enabled(if: geteuid() == 0, "only root makes things for others")) func withoutSettingRights() throws {
            try Scratch.with("owner") { scratch in
                let script = """
                    mkdir store; chown 65534:65534 store; chmod 500 store
                    setpriv --bounding-set -setpcap --inh-caps -setpcap -- $P run --quiet --store store -- true
                    stat -c %u store store/device.json store/container
                    """
                let owners = try PurgefsBinary.shell("set -e; \(script)", in: scratch.path).succeeded()
                #expect(owners == "65534\n65534\n0\n")
            }
        }

        /// Another user cannot find out that the directory is a store.
        @Test func aStoreOfSomebodyElse() throws {
            try Scratch.with("owner") { scratch in
                let script = "chmod 755 .; mkdir point; $P mount --total 64M store point; $P unmount point"
                try PurgefsBinary.shell("set -e; \(script)", in: scratch.path).succeeded()
                for verb in ["device lock", "app delete", "status"] {
                    let outcome = try PurgefsBinary.shell("\(Self.user) $P \(verb) store", in: scratch.path)
                    #expect(outcome.status == 1)
                    #expect(
                        outcome.errors == "purgefs: no container: store: Permission denied\n"
                            + "  Only its owner may use a store: run this as root.\n")
                }
            }
        }

        /// Nothing that a killed daemon of root leaves in a user's store belongs to root. The daemon is killed before it can
        /// write to the journal, which another program has locked.
        @Test func whatRootLeavesHalfDoneIsTheOwners() throws {
            try Scratch.with("owner") { scratch in
                let place = scratch.path
                let killed = """
                    import os, sqlite3, subprocess
                    other = sqlite3.connect("store/journal.sqlite", isolation_level=None)
                    other.execute("BEGIN IMMEDIATE")
                    daemon = subprocess.Popen([os.environ["P"], "mount", "--foreground", "store", "point"])
                    while not os.path.exists("point/.purgefs"): assert daemon.poll() is None
                    daemon.kill()
                    daemon.wait()
                    subprocess.run(["fusermount3", "-u", "-z", "point"], check=True)
                    """
                let script = """
                    chmod 777 .; mkdir point store; chown 65534:65534 store
                    $P mount --total 64M store point; $P unmount point; '\(Program.python)' -c '\(killed)'
                    """
                try PurgefsBinary.shell("set -e; \(script)", in: place).succeeded()
                #expect(Files.exists("\(place)/store/journal.sqlite-journal"))
                #expect(try strangers(in: place) == "")
                let after = try PurgefsBinary.shell("\(Self.user) $P set store storage.others=3M", in: place)
                #expect(after.status == 0, "\(after)")
            }
        }

        /// The last words of a crashed daemon of root belong to the owner of the store.
        @Test func lastWordsAreTheOwners() throws {
            try Scratch.with("owner") { scratch in
                let script = """
                    mkdir point store; chown 65534:65534 store; $P mount --foreground --total 64M store point 2>log &
                    daemon=$!; until grep -q " $PWD/point " /proc/self/mountinfo && test -e point/.purgefs; do :; done
                    kill -SEGV $daemon; wait $daemon; fusermount3 -u -z point; stat -c %u store/last-words.txt
                    """
                let outcome = try PurgefsBinary.shell(script, in: scratch.path)
                #expect(outcome.output == "65534\n", "\(outcome)")
            }
        }
    }
}
