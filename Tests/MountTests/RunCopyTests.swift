import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// Properties that `purgefs run --copy-of STORE` and `--seed DIR` copy from the originals, and failed runs, which leave no
    /// trace.
    @Suite struct RunCopyTests {
        /// Runs `script`, in which `P` is purgefs and `r` runs a command in a container.
        private func shell(_ script: String, in directory: String, timeout: Double = Scale.patience) throws -> Outcome {
            try PurgefsBinary.shell(
                "r() { $P run --quiet \"$@\"; }\n\(script)", in: directory, environment: ["TMPDIR": directory],
                timeout: timeout)
        }

        // Concurrent copies.

        @Test func severalCopiesAtOnce() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    r --store S -- sh -c 'cd ~/Documents; for n in $(seq 500); do echo $n > f$n; done'
                    # As another copy has it for as long as it takes.
                    flock -s S $P run --quiet --copy-of S -- sh -c 'ls ~/Documents | wc -l'
                    for n in 1 2 3 4 5 6; do (r --copy-of S -- sh -c 'ls ~/Documents | wc -l' 2>&1) & done; wait
                    flock -s S $P run --quiet --store S -- true; echo $?
                    flock S $P run --quiet --copy-of S -- true; echo $?
                    """, in: scratch.path)
                #expect(outcome.output == String(repeating: "500\n", count: 7) + "125\n125\n", "\(outcome)")
                #expect(outcome.errors.contains("the store is being copied by"), "\(outcome)")
                #expect(outcome.errors.contains("the store is in use by"), "\(outcome)")
                #expect(try Files.names(in: scratch.path) == ["S"])
            }
        }

        // Age.

        /// A file that is six days old expires after two more days by a policy of a week: in a copy, in a copy of the
        /// copy, and in the original.
        @Test func policiesCountFromTheOriginalsCreation() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    r --store S --profile device -- sh -c '
                        cd ~; mkdir Documents/p; setfattr -n user.purgefs.purgeAfter -v 1w Documents/p
                        echo x > Documents/p/x; echo t > tmp/t; echo kept > Documents/kept'
                    $P clock advance 6d S
                    r --store C --copy-of S -- true
                    for s in '--copy-of S' '--copy-of C' '--store S'; do
                        r $s -- sh -c 'cd ~; ls Documents/p; ls -d Documents/kept
                            echo +2d > .purgefs/device.clock; echo check > .purgefs/storage.policies; ls Documents/p'
                    done
                    """, in: scratch.path)
                #expect(outcome.output == String(repeating: "x\nDocuments/kept\n", count: 3), "\(outcome)")
            }
        }

        @Test func theCreationIsThatOfTheOriginal() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    cat > look.sh <<'X'
                    cd ~; for f in Documents/f Documents/d tmp .; do
                        stat -c '%n %w' $f; getfattr --absolute-names --only-values -n user.purgefs.creationDate $f; echo
                    done; getfattr -d -m . Documents/f
                    X
                    r --store S -- sh -c 'cd ~/Documents; echo x > f; mkdir d'
                    sleep 1.1
                    r --store S -- sh look.sh > original; $P clock advance 3d S; r --store S -- sh look.sh > later
                    cmp -s original later && echo "the clock changes nothing"
                    r --store C --copy-of S -- sh look.sh > copy; r --copy-of C -- sh look.sh > again
                    diff later copy && diff copy again && echo same; wc -l < copy
                    """, in: scratch.path)
                #expect(outcome.output == "same\n8\n", "\(outcome)")
            }
        }

        /// A copy has the original's order of files that were added by hand, although the journal has uses of other files with
        /// the same inode numbers.
        @Test func filesThatTheJournalDoesNotKnow() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    r --store S -- sh -c 'cd ~/Library/Caches; for n in a b; do echo $n > $n; sleep 0.05; done'
                    rm S/container/Library/Caches/a
                    cd S/container/Library/Caches
                    for n in z3 z1 z2; do head -c 9000 /dev/zero > $n; sleep 0.05; done; cd ../../../..
                    touch -d '2001-01-01' S/container/Library/Caches/z2
                    sync -f S
                    plan="$P purge --tier caches --dry-run --json"
                    show() { jq -r 'select(.path).path' | tr '\\n' ' '; echo; }
                    $plan S | show; r --copy-of S -- sh -c "cd ~; $plan ." | show
                    rm S/journal.sqlite; $plan S | show; r --copy-of S -- sh -c "cd ~; $plan ." | show
                    """, in: scratch.path)
                let lines = outcome.output.split(separator: "\n")
                try #require(lines.count == 4, "\(outcome)")
                #expect(lines[0] == lines[1] && lines[2] == lines[3], "\(outcome)")
                let order = ["b", "z3", "z1", "z2"].map { "Library/Caches/\($0) " }.joined()
                #expect(lines[0] == order, "\(outcome)")
            }
        }

        /// A seed's file counts as created at its modification time, so touch(1) can make fixtures old.
        @Test func aSeedWasMadeWhenItWasModified() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    mkdir -p seed/Documents/p; setfattr -n user.purgefs.purgeAfter -v 1w seed/Documents/p
                    echo x > seed/Documents/p/old; echo y > seed/Documents/p/new; touch -d '8 days ago' seed/Documents/p/old
                    r --seed seed -- ls seed/Documents/p; r --seed seed -- sh -c 'ls ~/Documents/p'
                    """, in: scratch.path)
                #expect(outcome.output == "new\nold\nnew\n", "\(outcome)")
            }
        }

        // Files to which an ordinary user, their owner, has denied all access (mode 000).

        private static let closed = """
            r() { $P run --quiet "$@"; }
            r --store S --total 64M -- sh -c 'cd ~/Documents; mkdir -p closed/in ro; echo a > closed/in/x; echo b > secret
                setfattr -n user.note -v mine secret; setfattr -n user.note -v too closed; echo c > ro/y
                ln closed/in/x linked; chmod 555 ro; chmod 000 closed/in secret closed'
            before=$(find S/container -printf '%p %m %i\\n' 2>/dev/null)
            cat > look.sh <<'X'
            cd ~; stat -c '%n %a' Documents/*; chmod 700 Documents/closed Documents/secret; cat Documents/secret
            stat -c '%n %a' Documents/closed/in; chmod 700 Documents/closed/in; cat Documents/closed/in/x
            test Documents/closed/in/x -ef Documents/linked && echo one
            getfattr --only-values -n user.note Documents/secret Documents/closed
            X
            r --copy-of S -- sh look.sh || exit
            for n in 1 2 3 4; do (r --copy-of S -- sh look.sh > o$n 2>&1) & done; wait; cmp o1 o2 && cmp o2 o3 && cmp o3 o4
            r --copy-of S -- sh look.sh | cmp - o1
            test "$before" = "$(find S/container -printf '%p %m %i\\n' 2>/dev/null)" && echo unchanged
            mkdir seed; echo x > seed/f; chmod 000 seed/f; r --seed seed -- true
            """

        @Test func closedFilesOfAnOrdinaryUser() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try ordinary(Self.closed, in: scratch.path)
                #expect(
                    outcome.output == """
                        Documents/closed 0
                        Documents/linked 644
                        Documents/ro 555
                        Documents/secret 0
                        b
                        Documents/closed/in 0
                        a
                        one
                        minetoounchanged

                        """, "\(outcome)")
                #expect(outcome.status == 125, "\(outcome)")
                #expect(
                    outcome.errors == """
                        purgefs: cannot fill the container: seed/f: it cannot be read: Permission denied
                          Make it readable for its owner (chmod u+rX) and run this as that user, or as root.

                        """, "\(outcome)")
            }
        }

        /// Runs `script` as user 65534 with access to /dev/fuse.
        private func ordinary(_ script: String, in directory: String) throws -> Outcome {
            let preparation = """
                chmod 777 .; mkdir dev; cp "$P" purgefs; export P=$PWD/purgefs
                mount -t tmpfs none dev; mknod -m 666 dev/fuse c 10 229; mount --bind dev/fuse /dev/fuse
                exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c "$SCRIPT"
                """
            return try PurgefsBinary.shell(
                preparation, in: directory, environment: ["TMPDIR": directory, "SCRIPT": script], inNamespace: true)
        }

        // Failures.

        /// Arguments with which COMMAND is never started. Each failure leaves everything as it was.
        private static let ways = [
            "-o nosuchoption STORE -- true", "--at '0s total=-500G' STORE -- true", "STORE -- nosuchcommand",
        ]

        @Test(arguments: ways + ["no /dev/fuse"]) func aStoreThatWasMadeInVain(way: String) throws {
            try Scratch.with("copy") { scratch in
                try shell(
                    """
                    mkdir -p seed/Documents/d empty; echo x > seed/Documents/d/f; chmod 751 empty; chown 12:34 empty
                    r --store S -- sh -c 'echo y > ~/Documents/y'
                    """, in: scratch.path
                ).succeeded()
                func state() throws -> String {
                    try Program.run("find", scratch.path, "-printf", "%p %m %U %G %y\n").succeeded()
                }
                let before = try state()
                for origin in ["--seed seed", "--copy-of S"] {
                    for store in ["new", "empty"] {
                        let words = "--store \(store) \(origin)"
                        let command =
                            way == "no /dev/fuse"
                            ? "unshare -m sh -c 'mount -t tmpfs none /dev && $P run \(words) -- true'"
                            : "$P run " + way.replacing("STORE", with: words)
                        let outcome = try shell(command, in: scratch.path)
                        #expect(outcome.status != 0 && !outcome.errors.isEmpty, "\(outcome)")
                        #expect(try state() == before, "\(words): \(outcome)")
                    }
                }
            }
        }

        /// An empty directory that becomes a store keeps its owner, who alone can reach its content, as after a mount.
        @Test func anEmptyDirectoryKeepsItsOwner() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    mkdir seed empty; echo x > seed/f; chmod 777 empty; chown 12:34 empty
                    r --store empty --seed seed -- sh -c 'cat ~/f'
                    stat -c '%n %a %u %g' empty empty/device.json empty/journal.sqlite
                    """, in: scratch.path)
                #expect(
                    outcome.output == """
                        x
                        empty 700 12 34
                        empty/device.json 600 12 34
                        empty/journal.sqlite 600 12 34

                        """, "\(outcome)")
            }
        }

        /// `run` tries another directory for temporary files only where that may help.
        @Test func theNextDirectory() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    mkdir full seed odd tmp; head -c 9M /dev/zero > seed/large; echo x > odd/f
                    setfattr -n user.purgefs.isPurgeable -v perhaps odd/f
                    mount -t tmpfs -o size=8m none full; mkdir full/a
                    # /tmp is on another file system.
                    TMPDIR=$PWD/full/a r --seed seed -- sh -c 'stat -c %s ~/large'
                    # All are on this one.
                    mount --bind full/a /tmp; mount --bind full/a /var/tmp
                    run() { TMPDIR=$PWD/full/a strace -f -qq -o trace -e trace=mkdir,mkdirat $P run "$@"; }
                    run --seed seed -- true; echo $?; grep -c 'purgefs-run[.][A-Za-z0-9]*", 0700) = 0' trace
                    umount /tmp /var/tmp
                    run --seed odd -- true; echo $?; grep -c 'purgefs-run[.][A-Za-z0-9]*", 0700) = 0' trace
                    ls full/a
                    """, in: scratch.path, inNamespace: true)
                #expect(outcome.output == "9437184\n125\n1\n125\n1\n", "\(outcome)")
                #expect(outcome.errors.contains("container: seed/large: it cannot be copied to /"), "\(outcome)")
                #expect(outcome.errors.contains("The disk is full: make room there"))
            }
        }

        /// A copy from a read-only file system keeps the holes, although that file system refuses the sync that precedes the
        /// search for holes.
        @Test func aSeedOnAFileSystemThatIsOnlyRead() throws {
            try Scratch.with("copy") { scratch in
                let outcome = try shell(
                    """
                    \(Program.python) \(Self.programs)/squashfs.py image; mkdir seed
                    mount -t squashfs -o loop,ro image seed || exit
                    r --seed seed -- sh -c 'cmp ~/holes seed/holes; cmp ~/odd seed/odd; stat -c "%n %s %b" ~/holes ~/odd' |
                        sed 's|.*/||'
                    umount seed
                    """, in: scratch.path, inNamespace: true)
                // Two of ten blocks have data.
                #expect(outcome.output == "holes 40960 16\nodd 6000 16\n", "\(outcome)")
            }
        }
        private static let programs = "\(DocumentedExample.root)/Tests/MountTests/Programs"

        private func shell(_ script: String, in directory: String, inNamespace: Bool) throws -> Outcome {
            try PurgefsBinary.shell(
                "r() { $P run --quiet \"$@\"; }\n\(script)", in: directory, inNamespace: true)
        }
    }
}
