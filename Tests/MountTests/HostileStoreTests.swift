import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Stores that another user made or changes while they are mounted. Nothing in them leads outside the store, and nothing
    /// makes the daemon hang or end.
    @Suite struct HostileStoreTests {
        static let programs = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Programs").path
        private static let record = "user.purgefs.extents"

        /// Randomly changed stores, read and repaired by root and by an ordinary user. Every third is also mounted
        /// (docs/TESTING.md).
        @Test(arguments: [(false, 100, 11), (true, 60, 12)])
        func randomStores(asOrdinaryUser: Bool, count: Int, seed: Int) throws {
            try Scratch.with("hostile") { scratch in
                // tmpfs is fast and has extended attributes of any size.
                let place = try BackingDirectory(.tmpfs, in: scratch.path)
                defer { _ = try? place.release() }
                // The user may be unable to read the originals.
                let (program, purgefs) = ("\(place.path)/hostile_stores.py", "\(place.path)/purgefs")
                try Program.run("cp", "\(Self.programs)/hostile_stores.py", program).succeeded()
                try Program.run("cp", PurgefsBinary.path, purgefs).succeeded()
                try Program.run("chown", asOrdinaryUser ? "65534:65534" : "0:0", place.path).succeeded()
                let node = "\(scratch.path)/fuse"
                let prepare = "mknod \(node) c 10 229; chmod 666 \(node); mount --bind \(node) /dev/fuse; exec \"$@\""
                // No other namespace may keep a copy of these mounts.
                let namespace = ["unshare", "-m", "--propagation", "private"]
                let user = ["sh", "-ec", prepare, "sh"] + DeviceFileTests.ordinaryUser
                let words = [Program.python, program, purgefs, place.path, "\(seed)", "\(Scale.of(count))", "3"]
                let outcome = try Program.run(
                    namespace + (asOrdinaryUser ? user : []) + words, timeout: 120 + 2 * Double(Scale.of(count)))
                #expect(outcome.status == 0, "\(outcome)")
            }
        }

        /// A record may name only a sidecar. A file outside the store that a record names stays untouched.
        @Test(arguments: [true, false]) func aRecordThatLeadsOutOfTheStore(absolute: Bool) throws {
            try withMount { mount in
                let outside = "\(mount.scratch)/outside"
                try mount.make("Documents/a", size: 8192)
                try mount.make("Documents/b", size: 8192)
                try mount.unmount()
                // The bytes form a valid list.
                try FileDescriptor.open(outside, O_WRONLY | O_CREAT, mode: 0o600).writeAll([0, 2])
                try Files.makeDirectory("\(mount.store)/extents")
                let name = absolute ? outside : "../../../outside"
                try #require(Files.exists("\(mount.store)/extents/../../../outside"))
                for file in ["a", "b"] {
                    try Attributes.set("\(mount.store)/container/Documents/\(file)", Self.record, "s" + name)
                }
                mount.expectWarnings()
                try mount.mount()
                #expect(try mount.number("storage.used") == 16384)
                try Files.unlink(mount.path("Documents/a"))
                try Files.truncate(mount.path("Documents/b"), 0)
                try mount.unmount()
                #expect(try Files.content(outside) == [0, 2])
            }
        }

        @Test func theStoreIsItsOwnersAlone() throws {
            try withMount { mount in
                try mount.make("Documents/a", size: 4096)
                try Program.shell("dd if=/dev/zero of=Documents/holes bs=4k count=1 seek=9 2>&1", in: mount.root)
                    .succeeded()
                let mode = { (name: String) in try Files.status("\(mount.store)\(name)").st_mode & 0o7777 }
                #expect(try mode("") == 0o700)
                #expect(try mode("/container") == 0o755)
                #expect(try mode("/device.json") == 0o600)
                #expect(try mode("/journal.sqlite") == 0o600)
                try mount.unmount()
                for name in ["", "/device.json", "/journal.sqlite"] {
                    try Files.changeMode(mount.store + name, name.isEmpty ? 0o755 : 0o644)
                }
                try Files.changeMode("\(mount.store)/container", 0o750)
                try mount.mount()
                #expect(try mode("") == 0o700)
                #expect(try mode("/container") == 0o750)
                #expect(try Files.status(mount.root).st_mode & 0o7777 == 0o750)
                for name in try Files.names(in: mount.store) where name.contains(".") {
                    #expect(try mode("/\(name)") == 0o600, "\(name)")
                }
            }
        }

        /// A FIFO that replaces a file of a mounted store does not make the daemon hang. Opening it would wait for the other
        /// end.
        @Test func aFIFOInPlaceOfAFile() throws {
            try withMount(deadline: 60) { mount in
                try mount.make("Documents/a", size: 4096)
                let stored = "\(mount.store)/container/Documents/a"
                try Files.unlink(stored)
                try #require(mkfifo(stored, 0o600) == 0)
                let script = """
                    import os, sys
                    try: os.truncate(sys.argv[1], 0)
                    except OSError as error: print(error.errno)
                    """
                let outcome = try Program.run(
                    [Program.python, "-c", script, mount.path("Documents/a")], timeout: 15)
                #expect(outcome.status == 0 && !outcome.output.isEmpty, "\(outcome)")
            }
        }

        /// A file with 73,500 bytes of attribute names, which is more than the kernel lists, keeps its charge and its mark.
        @Test func moreAttributeNamesThanAreListed() throws {
            try withMount(on: .tmpfs) { mount in
                try mount.make("Documents/a", size: 4096)
                try mount.mark("Documents/a", "high")
                try mount.unmount()
                let stored = "\(mount.store)/container/Documents/a"
                for index in 0..<300 {
                    let name = "user.\(index)"
                    try Attributes.set(stored, name + String(repeating: "n", count: 245 - name.count), "")
                }
                try mount.mount()
                #expect(try mount.number("storage.used") == 4096)
                #expect(try mount.number("storage.reclaimable") == 4096)
            }
        }

        private static let oddRecords: [(value: String, what: String, used: Int64)] = [
            ("nonsense", "is not a list", 8192), ("s..", "does not name a sidecar of purgefs", 8192),
            ("s0", "is in a sidecar that is missing, extents/0", 40960),
        ]
        /// A file of ten blocks with data in two has a damaged record. It is charged, reported, and repaired on request.
        @Test(arguments: 0..<3) func aRecordThatIsDamaged(index: Int) throws {
            let odd = Self.oddRecords[index]
            try withMount { mount in
                try Program.shell("dd if=/dev/zero of=Documents/odd bs=4k count=2 seek=8 2>&1", in: mount.root)
                    .succeeded()
                try mount.make("Documents/b", size: 4096)
                try mount.unmount()
                let stored = "\(mount.store)/container/Documents/odd"
                try Attributes.set(stored, Self.record, odd.value)
                let said = "\(stored): its record of charged blocks \(odd.what); "
                let check = try PurgefsBinary.run("check", mount.store)
                #expect(check.status == 1 && check.output.hasPrefix(said), "\(check)")
                #expect(try Attributes.get(stored, Self.record) == Array(odd.value.utf8))

                mount.expectWarnings()
                try mount.mount()
                #expect(mount.log.contains("purgefs: warning: \(said)"))
                #expect(try mount.number("storage.used") == odd.used + 4096)
                #expect(try Files.charged(mount.path("Documents/odd")) == odd.used)
                try mount.unmount()

                let repair = try PurgefsBinary.run("check", "--repair", mount.store)
                #expect(repair.status == 0 && repair.output.contains("A new record has been written."), "\(repair)")
                #expect(try PurgefsBinary.run("check", mount.store).status == 0)
                try mount.mount()
                #expect(mount.log == "")
                #expect(try mount.number("storage.used") == odd.used + 4096)
            }
        }

        @Test func straySidecars() throws {
            try withMount { mount in
                try mount.unmount()
                try Files.makeDirectory("\(mount.store)/extents")
                try Files.write("list", to: "\(mount.store)/extents/1stray")
                let check = try PurgefsBinary.run("check", mount.store)
                #expect(check.status == 1 && check.output.contains("extents/1stray: belongs to no file"), "\(check)")
                #expect(try PurgefsBinary.run("check", "--repair", mount.store).status == 0)
                #expect(!Files.exists("\(mount.store)/extents/1stray"))
                #expect(try PurgefsBinary.run("check", mount.store).status == 0)
            }
        }

        /// Commands that only read leave the content, modes and times of the whole store unchanged, after an unmount and after
        /// a crash. They also work on a read-only file system.
        @Test(arguments: [false, true]) func readingChangesNothing(afterCrash: Bool) throws {
            try withMount { mount in
                try mount.make("Library/Caches/a", size: 9000)
                try Program.shell("truncate -s 1M Documents/holes", in: mount.root).succeeded()
                if afterCrash { try mount.crash() } else { try mount.unmount() }
                // A sparse file that no mount has seen yet.
                try Program.shell("truncate -s 1M container/Documents/foreign", in: mount.store).succeeded()
                let list = {
                    try Program.shell(
                        "find . -printf '%p %m %s %T@ %C@ %i\\n' | sort; find . -type f | sort | xargs -d '\\n' sha256sum",
                        in: mount.store
                    ).succeeded()
                }
                let before = try list()
                let verbs = [["status"], ["status", "--json"], ["check"], ["purge", "--all", "--dry-run"]]
                for verb in verbs {
                    try Program.run([PurgefsBinary.path, verb[0], mount.store] + verb.dropFirst()).succeeded()
                    #expect(try list() == before, "\(verb)")
                }
                let readOnly = "mount --bind . . && mount -o remount,bind,ro . && cd \"$PWD\" && "
                for verb in verbs {
                    let words = ([PurgefsBinary.path, verb[0], "."] + verb.dropFirst()).joined(separator: " ")
                    try Program.run(["unshare", "-m", "sh", "-c", readOnly + words], in: mount.store).succeeded()
                }
            }
        }
    }
}
