import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Blocks without data: preallocated, refused by the disk, or in a hole that a mapping could fill.
    @Suite struct AllocatedBlockTests {
        private func expectLedger(
            _ mount: TestMount, _ bytes: Int64, sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            #expect(try mount.number("storage.used") == bytes, sourceLocation: sourceLocation)
            #expect(try Files.chargedTree(mount.root) == bytes, sourceLocation: sourceLocation)
        }

        @Test(arguments: ["truncate", "last byte", "fallocate"], Backing.allCases)
        func preallocatedBlocksAreStillThereAtTheNextMount(way: String, backing: Backing) throws {
            try withMount(on: backing) { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.allocate(Allocate.keepSize, 0, 1 << 20)
                switch way {
                case "truncate": try file.truncate(1 << 20)
                case "last byte": _ = try file.write([1], at: 1 << 20 - 1)
                default: try file.allocate(Allocate.plain, 1 << 19, 1 << 19)
                }
                file.close()
                try expectLedger(mount, 1 << 20)
                try mount.remount()
                try expectLedger(mount, 1 << 20)
            }
        }

        /// Blocks that the disk refused are not charged, neither now nor after the next mount.
        @Test func aFailedFallocateOnAFullDisk() throws {
            try withMount(["--total", "64M"], on: .tmpfs, tmpfsSize: "8M") { mount in
                mount.expectWarnings()
                let dense = try OpenFile(mount.path("Documents/dense"))
                let sparse = try OpenFile(mount.path("Documents/sparse"))
                _ = try dense.write(4096)
                _ = try sparse.write(4096, at: 30 << 20)
                let calls = [(dense, Allocate.plain), (sparse, Allocate.plain), (sparse, Allocate.zeroRange)]
                for _ in 0..<10 {
                    for (file, mode) in calls {
                        #expect(throws: Errno.ioError) { try file.allocate(mode, 0, 20 << 20) }
                        try expectLedger(mount, 8192)
                    }
                }
                #expect(try dense.status().st_size == 4096)
                dense.close()
                sparse.close()
                try mount.remount(["--total", "64M"])
                try expectLedger(mount, 8192)
                // The blocks on the disk are free again.
                try mount.make("Documents/all", size: 6 << 20)
            }
        }

        /// XFS frees the blocks of the range first and then has no room for them. They stay charged, even after the next mount.
        @Test func aFailedZeroRangeOnAFullXFS() throws {
            try withMount(["--total", "8G"], on: .xfs) { mount in
                mount.expectWarnings()
                let file = try OpenFile(mount.path("Documents/f"))
                try file.fill(387 * 4096)
                try file.sync()
                let pad = try OpenFile("\(mount.store.parentPath)/pad")
                var (end, piece) = (Int64(0), Int64(256 << 20))
                while piece >= 4096 {
                    do throws(Errno) {
                        try pad.allocate(Allocate.plain, end, piece)
                        end += piece
                    } catch { piece /= 2 }
                }
                #expect(throws: Errno.ioError) { try file.allocate(Allocate.zeroRange, 256 * 4096, 1 << 20) }
                file.close()
                pad.close()
                try expectLedger(mount, 387 * 4096)
                try mount.remount(["--total", "8G"])
                try expectLedger(mount, 387 * 4096)
            }
        }

        /// If the disk has room for the zeroes, the file stays dense and needs no sidecar or attribute.
        @Test(arguments: Backing.allCases) func aZeroedRangeNeedsNoRecord(backing: Backing) throws {
            try withMount(on: backing) { mount in
                let file = try OpenFile(mount.path("Documents/f"))
                try file.fill(10 * 4096)
                try file.allocate(Allocate.zeroRange, 5000, 1 << 20)
                file.close()
                #expect(try Attributes.names("\(mount.store)/container/Documents/f").isEmpty)
                try expectLedger(mount, 258 * 4096)
                try mount.remount()
                try expectLedger(mount, 258 * 4096)
            }
        }

        /// A call that would leave a hole in a file that is passed through to the kernel changes nothing if it fails with
        /// ENOSPC.
        @Test(arguments: ["write", "truncate", "fallocate"])
        func aHoleThatCannotBeHad(call: String) throws {
            try withMount { mount in
                try mount.turnThresholdsOff()
                try mount.make("Documents/f", size: 1 << 20)
                try mount.make("tmp/victim", size: 4 << 20)
                let reader = try OpenFile(mount.path("Documents/f"), O_RDONLY)
                let writer = try OpenFile(mount.path("Documents/f"), O_RDWR)
                // The device has 64 MiB, too little for the hole.
                var refused = false
                do throws(Errno) {
                    switch call {
                    case "write": _ = try writer.write(1 << 20, at: 64 << 20)
                    case "truncate": try writer.truncate(65 << 20)
                    default: try writer.allocate(Allocate.plain, 64 << 20, 1 << 20)
                    }
                } catch { refused = error == .noSpace }
                // Without passthrough the call succeeds: the gap is a hole like any other and costs nothing.
                if refused {
                    #expect(try writer.status().st_size == 1 << 20)
                    #expect(mount.exists("tmp/victim"))
                    try expectLedger(mount, 5 << 20)
                } else {
                    #expect(try mount.number("storage.used") < 8 << 20)
                }
                reader.close()
                writer.close()
                let used = try mount.number("storage.used")
                try mount.remount()
                try expectLedger(mount, used)
            }
        }

        /// The daemon of an ordinary user can record the holes of a file that was created read-only.
        @Test func theFirstHoleOfAReadOnlyFile() throws {
            try Scratch.with("user") { scratch in
                let home = "\(scratch.path)/home"
                for name in ["home", "home/mountpoint"] {
                    try Files.makeDirectory("\(scratch.path)/\(name)")
                    #expect(chown("\(scratch.path)/\(name)", 65534, 65534) == 0)
                }
                try Program.run("cp", PurgefsBinary.path, "\(home)/purgefs").succeeded()
                let program = """
                    import os
                    f = os.open('Documents/f', os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o444)
                    os.write(f, b'x' * 4096)
                    os.pwrite(f, b'x' * 4096, 1 << 20)
                    os.ftruncate(f, 0)
                    os.pwrite(f, b'x' * 4096, 4096)
                    os.pwrite(f, b'x' * 4096, 0)
                    os.posix_fallocate(f, 1 << 20, 4096)
                    print(oct(os.fstat(f).st_mode), os.fstat(f).st_blocks)
                    """
                let script = """
                    set -e
                    ./purgefs mount --total 64M store mountpoint
                    trap 'fusermount3 -u mountpoint 2>/dev/null || fusermount3 -uz mountpoint' EXIT
                    cd mountpoint
                    \(Program.python) -c "\(program)"
                    cat .purgefs/storage.used
                    cd ..
                    ./purgefs unmount mountpoint; trap - EXIT
                    ./purgefs check store
                    """
                try Files.write(script, to: "\(home)/script")
                let outer = "mknod -m 666 fuse c 10 229; mount --bind fuse /dev/fuse; cd home; exec \"$@\""
                let outcome = try Program.run(
                    ["unshare", "-m", "--propagation", "private", "sh", "-ec", outer, "sh"]
                        + DeviceFileTests.ordinaryUser + ["sh", "script"], in: scratch.path)
                #expect(outcome.status == 0, "\(outcome)")
                #expect(outcome.output.hasPrefix("0o100444 24\n12288\n"), "\(outcome)")
            }
        }
    }
}
