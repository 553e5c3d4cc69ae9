import Glibc
import Support
import Testing

extension Mounts {
    /// A store that cannot be written can be read by status, events, check and a mount with -o ro.
    @Suite struct UnwritableStoreTests {
        private static let user = "setpriv --reuid 65534 --regid 65534 --clear-groups"

        /// Ways of making `store` unwritable at `seen`. `caller` is a command prefix that runs the reader as another user, or
        /// empty. The mounts end with the mount namespace.
        static let ways: [(name: String, command: String, caller: String)] = [
            ("a read-only bind mount", "mount --bind store seen; mount -o remount,bind,ro seen", ""),
            (
                "a read-only file system",
                "mount -t tmpfs none seen; cp -a store/. seen/; mount -o remount,ro seen", ""
            ),
            ("a mode without w", "mount --bind store seen; chmod 555 store", user),
            ("another owner", "mount --bind store seen; chown 0:0 store store/container; chmod 755 store", user),
        ]
        private static let kept = """
            import sqlite3, os
            journal = sqlite3.connect("store/journal.sqlite", isolation_level=None)
            journal.execute("PRAGMA cache_size = 1")
            journal.execute("BEGIN")
            journal.execute("UPDATE events SET reason = zeroblob(100000)")
            os._exit(0)
            """

        /// Returns a script for a mount namespace. It makes the store unwritable, tries the commands that read it, and prints
        /// the changes in the store.
        private static func look(_ way: (name: String, command: String, caller: String)) -> String {
            // A user with write access to the journal rolls back its unfinished transaction.
            let compared = way.caller.isEmpty ? "" : "! -name 'journal.sqlite*'"
            return """
                mknod -m 666 fuse c 10 229 && mount --bind fuse /dev/fuse; \(way.command)
                find seen store \(compared) -printf '%p %m %U %s\\n' | sort > before
                run() { echo "$*"; \(way.caller) ./purgefs "$@" > out 2> errors; echo "status $?"; cat errors; }
                run status seen; run check seen; run events seen; grep -c mount out
                run mount seen point
                run mount -o ro seen point
                cat > look <<'EOF'
                cat point/Documents/f; ls point/tmp point/Library/Caches; stat -c %s point/tmp/x
                echo y 2>/dev/null > point/Documents/new || echo refused
                EOF
                \(way.caller) sh look; run events point; grep -c mount out; run unmount point
                find seen store \(compared) -printf '%p %m %U %s\\n' | sort | diff before - && echo unchanged
                """
        }

        /// `status`, `check`, `events` and `mount -o ro` read a store that cannot be written to, and change nothing, even if a
        /// killed process has left its journal in the middle of a transaction.
        @Test(arguments: ways.map(\.name), [true, false]) func canBeRead(way: String, interrupted: Bool) throws {
            let way = try #require(Self.ways.first { $0.name == way })
            try Scratch.with("unwritable") { scratch in
                let place = scratch.path
                let make = """
                    chmod 777 .; mkdir point seen; cp "$P" purgefs; $P mount --total 64M store point || exit 99
                    echo precious > point/Documents/f; echo x > point/tmp/x; mkdir point/Library/Caches/d; $P unmount point
                    \(interrupted ? "'\(Program.python)' -c '\(Self.kept)'; test -s store/journal.sqlite-journal" : "true") || exit 98
                    chown -R 65534:65534 store point
                    """
                try PurgefsBinary.shell(make, in: place).succeeded()
                let outcome = try Program.run(
                    ["unshare", "--mount", "--propagation", "private", "sh", "-c", Self.look(way)], in: place,
                    environment: ["P": "\(place)/purgefs", "TMPDIR": "/tmp"], timeout: 60)
                let lines = outcome.output.split(separator: "\n").map(String.init)
                // Only `mount` advises a remedy.
                let advice = lines.filter { $0.hasPrefix("purgefs: ") || $0.hasPrefix("  ") }
                #expect(advice.count == 2 && advice.last?.contains("purgefs mount -o ro") == true, "\(outcome)")
                #expect(
                    lines.filter { !advice.contains($0) } == [
                        "status seen", "status 0", "check seen", "status 0", "events seen", "status 0", "2",
                        "mount seen point", "status 1", "mount -o ro seen point", "status 0", "precious",
                        "point/Library/Caches:", "d", "point/tmp:", "x", "2", "refused", "events point", "status 0",
                        "2",
                        "unmount point", "status 0", "unchanged",
                    ], "\(outcome)")
            }
        }

        /// A mount refuses settings that it would have to save.
        @Test func settingsAreRefused() throws {
            try Scratch.with("unwritable") { scratch in
                let script = """
                    mkdir point seen; $P mount --total 64M store point && $P unmount point; mount --bind store seen
                    mount -o remount,bind,ro seen; $P mount -o ro --total 32M seen point; echo "status $?"; $P status seen
                    """
                let outcome = try PurgefsBinary.shell(script, in: scratch.path, inNamespace: true)
                #expect(outcome.output.hasPrefix("status 1\n") && outcome.output.contains("64.0 MiB"), "\(outcome)")
                #expect(outcome.errors.contains("settings cannot be kept"), "\(outcome)")
            }
        }
    }
}
