import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The places that a backup is written to and read from, and the place of its manifest in the meantime.
    @Suite struct BackupPlacesTests {
        /// Passes `body` an unmounted store and its backup, the archive `stream` in the scratch directory.
        private func withStream(_ body: (TestMount) throws -> Void) throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 5000)
                try mount.unmount()
                try Program.shell(
                    "'\(PurgefsBinary.path)' backup create '\(mount.store)' --output - >'\(mount.scratch)/stream'"
                )
                .succeeded()
                try body(mount)
            }
        }

        /// Runs a script in the scratch directory, with `purgefs` as a command.
        private func shell(_ script: String, _ mount: TestMount, environment: [String: String] = [:]) throws -> Outcome
        {
            try Program.run(
                ["/bin/bash", "-c", "purgefs() { '\(PurgefsBinary.path)' \"$@\"; }; \(script)"], in: mount.scratch,
                environment: environment)
        }

        /// If TMPDIR is in a mount, as in `purgefs run`, the manifest must not be charged to the device, which is full here.
        @Test func temporaryDirectoryInAMount() throws {
            try withStream { mount in
                try mount.mount()
                _ = try shell("cat /dev/zero >'\(mount.root)/Documents/zeros'", mount)
                let environment = ["TMPDIR": mount.path("tmp")]
                let script = "purgefs backup create '\(mount.root)' --output - | purgefs backup restore - new"
                try shell("set -o pipefail; \(script)", mount, environment: environment).succeeded()
                let size = try Files.size("\(mount.scratch)/new/container/Documents/a")
                #expect(size == 5000)
            }
        }

        @Test func noTemporaryDirectory() throws {
            try withStream { mount in
                let environment = ["TMPDIR": "/no/such/folder"]
                for script in [
                    "purgefs backup create '\(mount.store)' --output - | cat", "purgefs backup restore stream new",
                ] {
                    let outcome = try shell("set -o pipefail; \(script)", mount, environment: environment)
                    #expect(outcome.status == 1 && outcome.output == "")
                    #expect(outcome.errors.contains("/no/such/folder: no temporary file can be made"))
                    #expect(outcome.errors.hasSuffix("  Set TMPDIR to a directory on another file system.\n"))
                }
            }
        }

        @Test func fullTemporaryDirectory() throws {
            try withStream { mount in
                let disk = "\(mount.scratch)/disk"
                try Files.makeDirectory(disk)
                try Program.run("mount", "-t", "tmpfs", "-o", "size=64K", "none", disk).succeeded()
                defer { _ = try? Program.run("umount", disk) }
                _ = try shell("cat /dev/zero >disk/zeros", mount)
                for script in [
                    "purgefs backup create '\(mount.store)' --output - | cat", "purgefs backup restore stream new",
                ] {
                    let outcome = try shell("set -o pipefail; \(script)", mount, environment: ["TMPDIR": disk])
                    #expect(outcome.status == 1 && outcome.output == "")
                    #expect(outcome.errors.contains("\(disk): the manifest cannot be kept here"), "\(outcome)")
                    #expect(
                        outcome.errors.hasSuffix(
                            "  The disk is full: make room there, or set TMPDIR to a directory on another file system.\n"
                        ))
                }
                #expect(!Files.exists("\(mount.scratch)/new"))
            }
        }

        /// When a program changes a file through a mapping, the daemon sometimes learns of it, and the modification time
        /// sometimes changes, only when the kernel writes the page back. A backup still notices the change.
        @Test func largeFileChangedThroughAMapping() throws {
            try withMount(["--total", "1G"]) { mount in
                try mount.make("Documents/a", size: 64 << 20)
                let writer = try Program.start([Program.python, "-c", Self.changingPage, mount.path("Documents/a")])
                defer { writer.signalGroup(SIGKILL) }
                try eventually("the writer") { writer.output.hasPrefix("begun") }
                let outcome = try PurgefsBinary.run(
                    "backup", "create", mount.root, "--output", "\(mount.scratch)/backup")
                #expect(outcome.errors.contains("Documents/a: it changed while it was being read"), "\(outcome)")
                writer.signalGroup(SIGKILL)
                try writer.wait(within: 10)
            }
        }

        private static let changingPage = """
            import mmap, os, sys
            file = os.open(sys.argv[1], os.O_RDWR)
            page = mmap.mmap(file, 4096)
            print("begun", flush=True)
            while True:
                page[0] ^= 1
            """

        /// If the disk under the store is full, a backup succeeds with a warning, whether or not the store has a journal.
        @Test func fullDiskUnderTheStore() throws {
            // The mount warns if the device is larger than the disk.
            try withMount(["--total", "2M"], on: .tmpfs, tmpfsSize: "8M") { mount in
                try mount.make("Documents/a", size: 5)
                try mount.unmount()
                for attempt in 0..<2 {
                    if attempt > 0 {
                        try Program.shell("rm -f '\(mount.store)'/journal.sqlite*").succeeded()
                    }
                    _ = try Program.shell("cat /dev/zero >>'\(mount.store)/../zeros'")
                    let backup = "\(mount.scratch)/backup\(attempt)"
                    let outcome = try PurgefsBinary.run("backup", "create", mount.store, "--output", backup)
                    #expect(outcome.status == 0 && outcome.errors.contains("warning: "), "\(outcome)")
                    #expect(try Files.names(in: backup).sorted() == ["data.tar", "manifest.json"])
                    try PurgefsBinary.run("backup", "audit", mount.store).succeeded()
                }
            }
        }

        /// A backup can be restored from a named and from an anonymous pipe.
        @Test func pipes() throws {
            try withStream { mount in
                try shell("mkfifo pipe; cat stream >pipe & purgefs backup restore pipe new; wait", mount).succeeded()
                try shell("purgefs backup restore <(cat stream) other", mount).succeeded()
                for store in ["new", "other"] {
                    let size = try Files.size("\(mount.scratch)/\(store)/container/Documents/a")
                    #expect(size == 5000)
                }
            }
        }

        @Test func compressedArchive() throws {
            try withStream { mount in
                let outcome = try shell("gzip stream; purgefs backup restore stream.gz new", mount)
                #expect(outcome.status == 1 && outcome.errors.contains("this is not a backup: it is no tar archive"))
                try shell("zcat stream.gz | purgefs backup restore - new", mount).succeeded()
            }
        }

        /// A backup to a pipe that nobody reads fails with a message. The shell makes purgefs ignore SIGPIPE.
        @Test func nobodyReads() throws {
            try withStream { mount in
                let outcome = try shell(
                    """
                    mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; trap '' PIPE
                    purgefs backup create '\(mount.store)' --output - >&4
                    """, mount)
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("standard output: the backup cannot be written: Broken pipe"))
                #expect(
                    outcome.errors.hasSuffix("  The program that reads it has ended. No part of the backup was kept.\n")
                )
            }
        }

        /// Blocks that ext4 allocates for attributes are not charged to the file.
        @Test func holesWithAttributes() throws {
            try withMount { mount in
                let sizes = [1, 4096, 8192, 20480]
                for size in sizes {
                    let path = mount.path("Documents/\(size)")
                    try Files.write("", to: path)
                    try Files.truncate(path, Int64(size))
                    try Attributes.set(path, "user.note", [UInt8](repeating: 1, count: 3000))
                    let charged = try Files.charged(path)
                    #expect(charged == 0)
                }
                try PurgefsBinary.run("backup", "create", mount.root, "--output", "\(mount.scratch)/backup").succeeded()
                try mount.unmount()
                let (store, point) = ("\(mount.scratch)/new", "\(mount.scratch)/point")
                try PurgefsBinary.run("backup", "restore", "\(mount.scratch)/backup", store).succeeded()
                try Files.makeDirectory(point)
                try PurgefsBinary.run("mount", store, point).succeeded()
                defer { _ = try? PurgefsBinary.run("unmount", point) }
                for size in sizes {
                    let charged = try Files.charged("\(point)/Documents/\(size)")
                    #expect(charged == 0, "\(size)")
                }
            }
        }
    }
}
