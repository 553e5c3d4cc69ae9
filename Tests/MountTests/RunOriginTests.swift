import Foundation
import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs run --copy-of STORE` and `--seed DIR`.
    @Suite struct RunOriginTests {
        private static let tree = "\(DocumentedExample.root)/Tests/MountTests/Programs/tree.py"

        /// Fills a container with everything that a copy must keep: hard links, several kinds of entries, marks and other
        /// attributes, owners, modes, holes, blocks past the end, times, and the order of last use.
        private static let preparation = """
            cd ~ && umask 022
            for n in 3 1 2; do head -c 50000 /dev/urandom > Library/Caches/c$n; sleep 0.02; done
            head -c 5000 Library/Caches/c3 > /dev/null; sleep 0.02
            mkdir -p Documents/deep/er 'Documents/with space' && printf kept > Documents/deep/er/kept
            ln Documents/deep/er/kept 'Documents/with space/again' && ln -s deep/er Documents/link
            mkfifo -m 640 Documents/pipe && : > Documents/empty
            python3 -c '
            import os
            with open("Documents/holes", "wb") as file:
                for block in range(0, 3000, 2): os.pwrite(file.fileno(), b"x" * 100, block * 4096)
                os.truncate("Documents/holes", 40 << 20)
            with open("Documents/allocated", "wb") as file:
                os.write(file.fileno(), b"y" * 10000)
                os.system("fallocate --keep-size -o 65536 -l 131072 Documents/allocated")'
            setfattr -n user.purgefs.isPurgeable -v low Documents/empty
            setfattr -n user.purgefs.isPurgeable -v high Documents/holes
            setfattr -n user.purgefs.isExcludedFromBackup -v 1 Documents/deep
            setfattr -n user.purgefs.fileProtection -v complete Documents/allocated
            setfattr -n user.purgefs.purgeAfter -v 1w Library/Caches
            setfattr -n user.note -v 'of the app' Documents/deep/er/kept
            setfattr -n security.note -v 'of root' Documents/deep/er/kept
            setfacl -m u:nobody:r Documents/deep/er/kept; setfacl -d -m u:nobody:rx Documents/deep
            chmod 2750 Documents/deep; chmod 4711 Documents/empty; chown 1:1 Documents/holes Documents/deep/er
            touch -d '2001-02-03 04:05:06.789' Documents/deep/er/kept Documents/deep Library
            touch -h -d '2002-02-03 04:05:06.789' Documents/link; touch -d '2031-01-01' Documents/with*
            chmod 000 Documents/deep/er
            """

        private func dump(_ options: [String]) throws -> String {
            let seen = try Program.run(
                [PurgefsBinary.path, "run", "--quiet"] + options
                    + ["--", "sh", "-c", "exec \(Program.python) \(Self.tree) ~"])
            return try seen.succeeded()
        }

        /// Lists everything in a directory with its times, none of which may change.
        private func original(_ path: String) throws -> String {
            try Program.run(
                "find", path, "-printf", "%P %m %s %T+ %C+ %n\n", "-type", "f", "-printf", "%A+\n"
            ).succeeded()
        }

        /// A copy into a user's store loses set-user-ID and set-group-ID bits, because the owner of the store could run root's
        /// programs as root.
        @Test(.enabled(if: geteuid() == 0, "only root can bring rights of others"), arguments: ["--seed", "--copy-of"])
        func aStoreOfAUserGetsNoRightsOfOthers(option: String) throws {
            try Scratch.with("run") { scratch in
                let (seed, store) = ("\(scratch.path)/seed", "\(scratch.path)/store")
                for folder in [seed, "\(seed)/Documents", store] { try Files.makeDirectory(folder) }
                try Files.write("content", to: "\(seed)/Documents/rights")
                try Files.changeMode("\(seed)/Documents/rights", 0o6755)
                var origin = seed
                if option == "--copy-of" {
                    origin = "\(scratch.path)/origin"
                    try PurgefsBinary.run("run", "--quiet", "--seed", seed, "--store", origin, "--", "true").succeeded()
                    #expect(try Files.status("\(origin)/container/Documents/rights").st_mode & 0o7777 == 0o6755)
                }
                try #require(chown(store, 65534, 65534) == 0)
                try PurgefsBinary.run("run", "--quiet", option, origin, "--store", store, "--", "true").succeeded()
                #expect(try Files.status("\(store)/container/Documents/rights").st_mode & 0o7777 == 0o755)
            }
        }

        @Test(arguments: Backing.allCases) func aCopyHasEverything(backing: Backing) throws {
            try Scratch.with("origin") { scratch in
                let place = try BackingDirectory(backing, in: scratch.path)
                defer { do { try place.release() } catch { Issue.record("\(error)") } }
                let (prepared, kept) = ("\(place.path)/prepared", "\(place.path)/kept")
                try Program.run(
                    [
                        PurgefsBinary.path, "run", "--quiet", "--store", prepared, "--total", "200M", "--", "sh", "-ec",
                        Self.preparation,
                    ]
                ).succeeded()
                try PurgefsBinary.run("clock", "advance", "3d", prepared).succeeded()
                let expected = try dump(["--store", prepared])
                #expect(expected.split(separator: "\n").count > 20)
                let before = try original("\(prepared)/container")
                for store in ["", kept] {
                    let options = store.isEmpty ? [] : ["--store", store]
                    #expect(try dump(["--copy-of", prepared] + options) == expected)
                    #expect(try original("\(prepared)/container") == before)
                }
                // The copy is now a separate store.
                #expect(try dump(["--store", kept]) == expected)
                try PurgefsBinary.run("check", kept).succeeded()
                let settings = ["prepared", "kept"].map { Files.text("\(place.path)/\($0)/device.json") }
                let ids = settings.map { $0.split(separator: "\n").filter { $0.contains("containerID") } }
                #expect(ids[0].count == 1 && ids[0] != ids[1])
            }
        }

        /// A copy takes no blocks where the file system can share them.
        @Test(arguments: [Backing.btrfs, .xfs]) func aCopySharesBlocks(backing: Backing) throws {
            try Scratch.with("origin") { scratch in
                let place = try BackingDirectory(backing, in: scratch.path)
                defer { do { try place.release() } catch { Issue.record("\(error)") } }
                let prepared = "\(place.path)/prepared"
                try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--store", prepared, "--", "sh", "-c",
                    "head -c 200M /dev/urandom > ~/Documents/large"
                ).succeeded()
                sync()
                let free = try Files.fileSystemStatus(place.path).f_bavail
                try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--store", "\(place.path)/copy", "--copy-of", prepared, "--",
                    "true"
                ).succeeded()
                sync()
                let taken = (free - min(free, try Files.fileSystemStatus(place.path).f_bavail)) * 4096
                #expect(taken < 20 << 20)
                try Program.run(
                    "cmp", "\(prepared)/container/Documents/large", "\(place.path)/copy/container/Documents/large"
                ).succeeded()
            }
        }

        private static let seeding = """
            mkdir -p "$SEED/Library/Caches" "$SEED/Documents/album" && cd "$SEED"
            for n in 2 3 1; do head -c 8192 /dev/urandom > Library/Caches/c$n; done
            touch -d '3 days ago' Library/Caches/c2; touch -d '9 days ago' Library/Caches/c3
            touch -d '2031-01-01' Library/Caches/c1
            printf photo > Documents/album/one; ln Documents/album/one Documents/two
            setfattr -n user.purgefs.isPurgeable -v high Documents/two
            setfattr -n user.purgefs.isExcludedFromBackup -v 1 Documents/album
            truncate -s 1M Documents/sparse; mkfifo tmp
            """
        private static let looking = """
            cd ~; cat Documents/two; test Documents/two -ef Documents/album/one; test -p tmp
            stat -c '%b' Documents/sparse; getfattr --only-values -n user.purgefs.isPurgeable Documents/two
            getfattr --only-values -n user.purgefs.isExcludedFromBackup Documents/album
            stat -c ' %y' Library/Caches/c1; ls Library Documents
            \(PurgefsBinary.path) purge --tier caches --dry-run --json . | jq -r 'select(.path).path'
            """

        @Test func aSeedIsWhatTheAppHasWritten() throws {
            try Scratch.with("origin") { scratch in
                let seed = "\(scratch.path)/fix tures"
                try Program.run(
                    ["sh", "-ec", Self.seeding], environment: ["SEED": seed]
                ).succeeded()
                let before = try original(seed)
                let seen = try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--total", "64M", "--seed", seed, "--", "sh", "-ec",
                    Self.looking)
                #expect(
                    try seen.succeeded() == """
                        photo0
                        high1 2031-01-01 00:00:00.000000000 +0000
                        Documents:
                        album
                        sparse
                        two

                        Library:
                        Application Support
                        Caches
                        Preferences
                        Library/Caches/c3
                        Library/Caches/c2
                        Library/Caches/c1

                        """)
                #expect(try original(seed) == before)
            }
        }

        @Test func aMountedContainerAsSeed() throws {
            try withMount { mount in
                try Program.run(
                    "sh", "-ec", "mkdir \(mount.path("Documents/d")); echo x > \(mount.path("Documents/d/f"))"
                )
                .succeeded()
                for (seed, file) in [(mount.path("Documents"), "d/f"), (mount.root, "Documents/d/f")] {
                    let outcome = try Program.run(
                        PurgefsBinary.path, "run", "--quiet", "--seed", seed, "--", "sh", "-c", "cat ~/\(file)")
                    #expect(try outcome.succeeded() == "x\n")
                }
            }
        }

        /// A run that fails removes its new store, but nothing that somebody else has put into it.
        @Test func whatSomebodyPutsIntoANewStore() throws {
            try Scratch.with("origin") { scratch in
                let outcome = try Program.run(
                    [
                        "sh", "-c",
                        """
                        mkdir seed; echo x > seed/x
                        for each in 1 2 3 4 5; do
                            timeout 5 sh -c 'until [ -d new/container ]; do :; done; echo my > new/notes.txt' &
                            \(PurgefsBinary.path) run --quiet --seed seed --store new --at 0s total=-1G -- true
                            wait
                            [ ! -e new/notes.txt ] || exec cat new/notes.txt
                        done
                        """,
                    ], in: scratch.path)
                #expect(outcome.output == "my\n", "\(outcome)")
            }
        }

        @Test func whatCannotBeCopied() throws {
            try Scratch.with("origin") { scratch in
                let place = scratch.path
                try Program.shell(
                    """
                    mkdir plain kept odd reserved reserved/.purgefs damaged; echo x > kept/mine; echo x > odd/file
                    setfattr -n user.purgefs.isPurgeable -v perhaps odd/file
                    """, in: place
                ).succeeded()
                for (words, status, message) in [
                    (["--copy-of", "nowhere"], Int32(125), "there is no store here"),
                    (["--seed", "nowhere"], 125, "nowhere: the directory cannot be read"),
                    (["--copy-of", "plain"], 125, "there is no store here"),
                    (["--seed", "plain", "--store", "kept"], 125, "the directory is not empty"),
                    (["--seed", "plain", "--copy-of", "plain"], 64, "exclude each other"),
                    (
                        ["--seed", ".", "--store", "plain/new"], 125,
                        "the new store would be inside the copied directory"
                    ),
                    (["--seed", "reserved"], 125, "it is reserved for the control files"),
                    (["--seed", "odd"], 125, "It has an invalid attribute of purgefs"),
                    (["--seed", "odd", "--store", "new"], 125, "It has an invalid attribute of purgefs"),
                ] {
                    let outcome = try Program.run([PurgefsBinary.path, "run"] + words + ["--", "true"], in: place)
                    #expect(outcome.status == status && outcome.errors.contains(message), "\(words): \(outcome)")
                }
                #expect(try Files.names(in: place) == ["damaged", "kept", "odd", "plain", "reserved"])
                #expect(try Files.names(in: "\(place)/plain").isEmpty)
                #expect(try Files.names(in: "\(place)/kept") == ["mine"])
            }
        }

        /// The current directory is refused: the store would replace it, and leave the shell in a directory that is
        /// gone.
        @Test func theCurrentDirectoryAsStore() throws {
            try Scratch.with("origin") { scratch in
                let script = """
                    mkdir seed here; echo x > seed/x; cd here
                    for words in '--store .' '--store ../here' "--store $PWD"; do
                        $P run --quiet $words --seed ../seed -- true; echo $? $(ls -A) $(ls -A ..)
                    done
                    cd ..; $P run --quiet --store here --seed seed -- true; echo $? $(ls here/container)
                    $P backup create here --output saved > /dev/null; mkdir empty; cd empty
                    $P backup restore ../saved . > /dev/null; echo $? $(ls -A)
                    """
                let outcome = try PurgefsBinary.shell(script, in: scratch.path)
                #expect(
                    outcome.output == String(repeating: "125 here seed\n", count: 3)
                        + "0 Documents Library tmp x\n1\n", "\(outcome)")
                let refusals = outcome.errors.components(
                    separatedBy: "is the current directory, which the store would replace")
                #expect(refusals.count == 5, "\(outcome)")
            }
        }

        /// A user namespace cannot give files to a user outside it, so a file with such an owner is refused.
        @Test func anOwnerWhoIsNotMapped() throws {
            try Scratch.with("origin") { scratch in
                let script = """
                    mkdir seed; echo x > seed/x; chown 5:5 seed/x
                    unshare -Urm $P run --seed seed -- true; echo $?
                    rm seed/x; ln -s nowhere seed/x; chown -h 5:5 seed/x
                    unshare -Urm $P run --seed seed -- true; echo $?
                    $P run --quiet --store store --seed seed -- sh -c 'echo x > ~/Documents/x; chown 5:5 ~/Documents/x'
                    $P backup create store --output saved > /dev/null
                    unshare -Ur $P backup restore saved restored; echo $?
                    unshare -Ur chown 0:0 seed; setfattr -n user.purgefs.isPurgeable -v perhaps seed
                    rm seed/x; unshare -Urm $P run --seed seed -- true; echo $?
                    """
                let outcome = try PurgefsBinary.shell(script, in: scratch.path)
                #expect(outcome.output == "125\n125\n1\n125\n", "\(outcome)")
                let parts = outcome.errors.components(
                    separatedBy: "its owner or group is not mapped into this user namespace")
                #expect(parts.count == 4, "\(outcome)")
                #expect(parts.dropLast().allSatisfy { !$0.contains("extended attribute") }, "\(outcome)")
                #expect(parts.last?.contains("It has an invalid attribute of purgefs") == true, "\(outcome)")
            }
        }

        /// A tree with a bind mount of the new store's place is refused, because it would be copied into itself.
        @Test func aTreeThatHasTheNewStoreInIt() throws {
            try Scratch.with("origin") { scratch in
                let script = """
                    mkdir -p seed/in place && mount --bind place seed/in
                    for words in '--store place/new' ''; do
                        TMPDIR=$PWD/place \(PurgefsBinary.path) run $words --seed seed -- true; echo $?
                    done; ls place
                    """
                let outcome = try Program.run(["unshare", "-m", "sh", "-c", script], in: scratch.path)
                // Without --store, the run takes another directory for temporary files.
                #expect(outcome.output == "125\n0\n", "\(outcome)")
                #expect(outcome.errors.contains("the new store would be inside the copied directory"))
            }
        }

        /// A mounted store is refused, because only a part of it might be copied.
        @Test func aStoreThatIsInUse() throws {
            try Scratch.with("origin") { scratch in
                let outcome = try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--store", "\(scratch.path)/store", "--",
                    PurgefsBinary.path, "run", "--copy-of", "\(scratch.path)/store", "--", "true")
                #expect(
                    outcome.status == 125 && outcome.errors.contains("the store is in use by process"), "\(outcome)")
            }
        }

        @Test(arguments: [SIGTERM, SIGKILL]) func aCopyThatIsInterrupted(signal: Int32) throws {
            try Scratch.with("origin") { scratch in
                let (seed, store) = ("\(scratch.path)/seed", "\(scratch.path)/store")
                try Files.makeDirectory(seed)
                for index in 0..<20000 { try Files.write("x", to: "\(seed)/\(index)") }
                let temporary = "\(scratch.path)/tmp"
                try Files.makeDirectory(temporary)
                for named in [["--store", store], []] {
                    let run = try Program.start(
                        [PurgefsBinary.path, "run"] + named + ["--seed", seed, "--", "true"],
                        environment: ["TMPDIR": temporary])
                    try eventually("the copy has begun") {
                        // find fails if the copy gets its name meanwhile.
                        try !Program.run("find", scratch.path, "-path", "*container/1??", "-print", "-quit")
                            .output.isEmpty
                    }
                    run.signal(signal)
                    let status = try run.wait(within: 20)
                    #expect(status == 128 + signal)
                    #expect(!Files.exists(store))
                    if signal == SIGTERM { #expect(try Files.names(in: scratch.path) == ["seed", "tmp"]) }
                }
                // The next run that creates the same store removes the leftovers of a killed copy.
                try Program.run(
                    PurgefsBinary.path, "run", "--quiet", "--store", store, "--seed", seed, "--", "sh", "-c",
                    "test $(ls ~ | wc -l) = 20003"
                ).succeeded()
                #expect(try Files.names(in: scratch.path).filter { $0.contains("unfinished") }.isEmpty)
                if signal == SIGTERM { #expect(try Files.names(in: temporary).isEmpty) }
            }
        }
    }
}
