import Glibc
import Support
import Testing

extension Mounts {
    /// A mount that fails leaves no new store behind. It leaves an existing store unchanged, except that it finishes
    /// interrupted work (UnfinishedWorkTests).
    @Suite struct FailedMountTests {
        /// Lists everything below a directory with modes, owners, sizes, blocks, and the checksums of small files other than
        /// databases.
        private func snapshot(_ directory: String) throws -> String {
            try Program.shell(
                "find . -printf '%y %m %U %s %b %p\\n' | sort -k6; find . -type f -size -100k ! -name '*.sqlite' | sort | xargs -r md5sum",
                in: directory
            ).succeeded()
        }

        /// Commands that fail to mount STORE.
        private static let ways: [(name: String, command: String)] = [
            ("a bad option", "$P mount -o nosuchoption STORE point"),
            ("a setting that cannot be", "$P mount --others 1M --others-purgeable 2M --total 64M STORE point"),
            (
                "no CAP_SYS_ADMIN",
                "setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- $P mount --total 32M STORE point"
            ),
            ("no /dev/fuse", "unshare -m sh -c 'mount -t tmpfs none /dev && $P mount --total 32M STORE point'"),
            ("no mount point", "$P mount --total 32M STORE point/none"),
            ("run", "$P run --store STORE -o nosuchoption -- true"),
            ("few descriptors", "sh -c 'ulimit -n 13; $P mount --total 32M STORE point'"),
        ]

        /// A missing store stays missing. An empty directory and a store with files and settings stay unchanged.
        @Test(arguments: ways.map(\.name)) func nothingChanges(way: String) throws {
            let command = try #require(Self.ways.first { $0.name == way }).command
            try Scratch.with("failing") { scratch in
                let place = scratch.path
                let make = """
                    mkdir point empty; chmod 755 empty; $P mount --total 64M old point && echo x > point/Documents/f &&
                    $P unmount point && rmdir old/container/tmp
                    """
                try PurgefsBinary.shell(make, in: place).succeeded()
                for store in ["new", "empty", "old"] {
                    let before = try snapshot(place)
                    let outcome = try PurgefsBinary.shell(command.replacing("STORE", with: store), in: place)
                    #expect(outcome.status != 0 && !outcome.errors.isEmpty, "\(store): \(outcome)")
                    let after = try snapshot(place)
                    #expect(after == before, "\(store): \(outcome)")
                }
            }
        }

        /// A `run` is terminated while its daemon waits for a reader of its log. Meanwhile another process has used the new
        /// store, so the store stays.
        @Test func aStoreThatSomebodyElseHadMeanwhile() throws {
            try Scratch.with("meanwhile") { scratch in
                let script = """
                    mkdir point; mkfifo log; $P run --store new --log log -- true 2>errors & run=$!
                    until test -e new/device.json; do :; done
                    until $P mount --total 128M new point 2>last; do kill -0 $run || exit 1; done
                    $P set point storage.others=5M && $P mark --purgeable point/Library/Caches && $P unmount point
                    kill -TERM $run; wait $run; echo $?; cat errors
                    ls new; ls new/container; getfattr --only-values -n user.purgefs.isPurgeable new/container/Library/Caches
                    getfattr -d new
                    """
                let found = try PurgefsBinary.shell(script, in: scratch.path).succeeded()
                #expect(
                    found == """
                        143
                        purgefs: run: interrupted before COMMAND began
                        container
                        device.json
                        journal.sqlite
                        Documents
                        Library
                        tmp
                        low
                        """)
            }
        }

        /// With any descriptor limit, the mount works, or leaves nothing behind and names the limit.
        @Test func tooFewDescriptors() throws {
            try Scratch.with("descriptors") { scratch in
                let place = scratch.path
                try Files.makeDirectory("\(place)/point")
                var works = 0
                for limit in [4, 5, 8, 16, 63, 64, 80] {
                    let outcome = try PurgefsBinary.shell(
                        "ulimit -n \(limit); $P mount --total 64M store point", in: place)
                    if outcome.status == 0 {
                        works += 1
                        try PurgefsBinary.run("unmount", "point", in: place).succeeded()
                        try Program.run("rm", "-r", "\(place)/store").succeeded()
                    }
                    #expect(outcome.status == 0 || outcome.errors.contains("ulimit -n"), "\(limit): \(outcome)")
                    #expect(try Files.names(in: place) == ["point"], "\(limit): \(outcome)")
                }
                #expect(works > 0)
            }
        }

        /// On a full disk, a mount works or leaves nothing behind, at whichever step the disk runs out of inodes.
        @Test func aFullDisk() throws {
            try Scratch.with("full") { scratch in
                let place = scratch.path
                try Program.shell("mkdir point disk", in: place).succeeded()
                for inodes in 2..<14 {
                    try Program.run(
                        "mount", "-t", "tmpfs", "-o", "size=1M,nr_inodes=\(inodes)", "none", "\(place)/disk"
                    ).succeeded()
                    let outcome = try PurgefsBinary.run("mount", "--total", "64M", "disk/store", "point", in: place)
                    if outcome.status == 0 { try PurgefsBinary.run("unmount", "point", in: place).succeeded() }
                    let names = try Files.names(in: "\(place)/disk")
                    try Program.run("umount", "\(place)/disk").succeeded()
                    #expect(names == (outcome.status == 0 ? ["store"] : []), "\(inodes) inodes: \(outcome)")
                }
            }
        }
    }
}
