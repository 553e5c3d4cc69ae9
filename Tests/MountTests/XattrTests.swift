import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The attributes of docs/XATTRS.md, through system calls.
    @Suite struct XattrTests {
        /// A Python program sees the attribute and the ioctls of APFS as one mark.
        @Test func theIoctl() throws {
            try withMount(["--total", "64M"] + (geteuid() == 0 ? ["--allow-other"] : [])) { mount in
                let program = "\(DocumentedExample.root)/Tests/MountTests/Programs/purgeable_ioctl.py"
                let outcome = try Program.run([Program.python, program, mount.root])
                #expect(outcome.status == 0, "\(outcome)")
                #expect(try mount.number("storage.used") == 0)
                try mount.unmount()
                let text = try PurgefsBinary.run("events", mount.store, "--json", "--type", "mark").succeeded()
                let marks = try StoreEvent.lines(text)
                #expect(marks.prefix(3).map(\.reason) == ["isPurgeable=low", "isPurgeable=medium", "isPurgeable=high"])
                let paths = ["Documents/file", "Documents/folder", "Documents/folder/inner", ""]
                #expect(marks.allSatisfy { paths.contains($0.path ?? "") })
            }
        }

        /// An atomic save, as Foundation does it, replaces the file by a new one without the flag. A copy over the file keeps
        /// its flags.
        @Test func anAtomicSaveLosesTheFlag() throws {
            try withMount { mount in
                let script = """
                    import os, shutil, sys
                    os.chdir(sys.argv[1])
                    for name in ("atomic", "copied"):
                        open(name, "w").write("old")
                        os.setxattr(name, "user.purgefs.isExcludedFromBackup", b"1")
                        open("new", "w").write("new")
                        if name == "atomic": os.replace("new", name)
                        else: shutil.copyfile("new", name)
                    print(os.getpid(), os.listxattr("atomic"), len(os.listxattr("copied")))
                    """
                let outcome = try Program.run([Program.python, "-c", script, mount.path("Documents")])
                let words = try outcome.succeeded().split(separator: " ")
                #expect(words.dropFirst() == ["[]", "1\n"])
                let text = try PurgefsBinary.run("events", mount.root, "--json", "--type", "flagLost").succeeded()
                let events = try StoreEvent.lines(text)
                #expect(events.map(\.path) == ["Documents/atomic"])
                #expect(events.map(\.reason) == ["isExcludedFromBackup=1"])
                #expect(events.map { $0.pid.map(String.init) } == [words.first.map(String.init)])
            }
        }

        @Test func theIoctlOnAReadOnlyMount() throws {
            try withMount { mount in
                try mount.make("Documents/file", size: 1)
                try mount.remount(["-o", "ro"])
                let script = """
                    import fcntl, os, sys
                    file = os.open(sys.argv[1], os.O_RDONLY)
                    try: fcntl.ioctl(file, 0xC0084A44, bytearray(b'\\0\\0\\1' + bytes(5)))
                    except OSError as error: print(error.errno)
                    assert fcntl.ioctl(file, 0x40084A47, bytearray(8)) == 0
                    """
                let outcome = try Program.run([Program.python, "-c", script, mount.path("Documents/file")])
                #expect(try outcome.succeeded() == "30\n")
            }
        }

        /// After concurrent calls of the ioctl and of setxattr, the mark in effect equals the attribute.
        @Test func theIoctlBesideTheAttribute() throws {
            try withMount { mount in
                try mount.make("Documents/file", size: 4096)
                let script = """
                    import fcntl, os, struct, sys, time
                    path, worker = sys.argv[1], int(sys.argv[2])
                    file = os.open(path, os.O_RDWR)
                    for turn in range(500):
                        if worker % 2:
                            os.setxattr(path, 'user.purgefs.isPurgeable', (b'0', b'low', b'high')[turn % 3])
                        else:
                            fcntl.ioctl(file, 0xC0084A44, bytearray(struct.pack('<Q', (0, 0x10200, 0x10800)[turn % 3])))
                    """
                let path = mount.path("Documents/file")
                try Workers.run(4) { worker in
                    try Program.run([Program.python, "-c", script, path, "\(worker)"]).succeeded()
                }
                let value = try Attributes.text(path, "user.purgefs.isPurgeable")
                #expect(try mount.number("storage.reclaimable") == (value == "0" ? 0 : 4096))
                #expect(try mount.table("storage.stat")["purgeable.files"] == (value == "0" ? 0 : 1))
            }
        }

        private func withFile(_ body: (TestMount, String) throws -> Void) throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 5000)
                try mount.makeDirectory("Documents/d")
                try body(mount, mount.path("Documents/f"))
            }
        }
        private func key(_ name: String) -> String { "user.purgefs.\(name)" }

        /// The name, the value to set, and the value that reads back.
        static let values = [
            ("isPurgeable", "0", "0"), ("isPurgeable", "1", "low"), ("isPurgeable", "low", "low"),
            ("isPurgeable", "medium", "medium"), ("isPurgeable", "high", "high"), ("isExcludedFromBackup", "0", "0"),
            ("isExcludedFromBackup", "1", "1"), ("fileProtection", "complete", "NSFileProtectionComplete"),
            ("fileProtection", "completeUnlessOpen", "NSFileProtectionCompleteUnlessOpen"),
            (
                "fileProtection", "completeUntilFirstUserAuthentication",
                "NSFileProtectionCompleteUntilFirstUserAuthentication"
            ),
            ("fileProtection", "completeWhenUserInactive", "NSFileProtectionCompleteWhenUserInactive"),
            ("fileProtection", "none", "NSFileProtectionNone"),
            ("fileProtection", "NSFileProtectionComplete", "NSFileProtectionComplete"),
            ("fileProtection", "NSFileProtectionNone", "NSFileProtectionNone"),
        ]

        @Test(arguments: values) func valuesOnFilesAndDirectories(name: String, value: String, back: String) throws {
            try withFile { mount, file in
                for path in [file, mount.path("Documents/d")] {
                    try Attributes.mark(path, name, value)
                    #expect(try Attributes.text(path, key(name)) == back)
                    #expect(try Attributes.names(path).contains(key(name)))
                }
                try mount.remount()
                #expect(try Attributes.text(file, key(name)) == back)
                try Attributes.remove(file, key(name))
                #expect(throws: Errno.noData) { try Attributes.remove(file, key(name)) }
                if name != "fileProtection" {
                    #expect(throws: Errno.noData) { try Attributes.get(file, key(name)) }
                }
                #expect(try Attributes.names(file) == [])
            }
        }

        @Test(arguments: [
            ("isPurgeable", "2"), ("isPurgeable", ""), ("isPurgeable", "LOW"), ("isPurgeable", "low\n"),
            ("isPurgeable", "urgent"), ("isPurgeable", " 1"), ("isExcludedFromBackup", "2"),
            ("isExcludedFromBackup", "true"), ("isExcludedFromBackup", ""), ("fileProtection", "Complete"),
            ("fileProtection", ""), ("fileProtection", "NSFileProtection"), ("purgeAfter", "3"), ("purgeAfter", "-3d"),
            ("purgeAfter", "3x"), ("purgeAfter", ""), ("sizeLimit", "-1"), ("sizeLimit", "1.0001K"), ("sizeLimit", ""),
            ("sizeLimit", "much"), ("unknown", "1"), ("", "1"), ("ispurgeable", "1"),
        ])
        func badValues(name: String, value: String) throws {
            try withFile { mount, file throws in
                for path in [file, mount.path("Documents/d")] {
                    #expect(throws: Errno.invalid) { try Attributes.set(path, key(name), value) }
                    #expect(try Attributes.names(path) == [])
                }
            }
        }

        @Test func bytesThatAreNoText() throws {
            try withFile { _, file in
                for name in ["isPurgeable", "fileProtection", "isExcludedFromBackup"] {
                    #expect(throws: Errno.invalid) { try Attributes.set(file, key(name), [0xFF, 0x00]) }
                    #expect(throws: Errno.invalid) { try Attributes.set(file, key(name), [0x31, 0x00]) }
                }
            }
        }

        @Test(arguments: [
            ("purgeAfter", ["3d", "0", "30s", "1w", "2h", "5m"]), ("sizeLimit", ["4096", "512M", "0", "64GB"]),
        ])
        func directoryPolicies(name: String, values: [String]) throws {
            try withFile { mount, file in
                let directory = mount.path("Documents/d")
                for value in values {
                    try Attributes.mark(directory, name, value)
                    #expect(try Attributes.names(directory) == [key(name)])
                    #expect(try !Attributes.get(directory, key(name)).isEmpty)
                }
                let before = try Attributes.get(directory, key(name))
                #expect(throws: Errno.invalid) { try Attributes.mark(directory, name, "nonsense") }
                #expect(try Attributes.get(directory, key(name)) == before)
                #expect(throws: (any Error).self) { try Attributes.mark(file, name, values[0]) }
                try Attributes.remove(directory, key(name))
                #expect(throws: Errno.noData) { try Attributes.get(directory, key(name)) }
            }
        }

        @Test func computedValues() throws {
            try withFile { mount, file in
                try mount.write("1M", to: "storage.others")
                let storage = try mount.status().storage
                for (name, value) in [
                    ("volumeTotalCapacity", storage.total), ("volumeAvailableCapacity", storage.available),
                    ("volumeAvailableCapacityForImportantUsage", storage.important),
                    ("volumeAvailableCapacityForOpportunisticUsage", storage.opportunistic),
                    ("fileAllocatedSize", 8192), ("totalFileAllocatedSize", 8192),
                ] {
                    #expect(try Attributes.text(file, key(name)) == "\(value)", "\(name)")
                }
                #expect(storage.total == 64 << 20 && storage.available == (63 << 20) - 8192)
                let date = try Attributes.text(file, key("creationDate"))
                #expect(date.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) != nil, "\(date)")
                #expect(try Attributes.text(file, key("tier")) == "persistent")
                for (place, tier) in [
                    ("tmp", "temporary"), ("Library/Caches", "caches"), ("Library", "persistent"), ("", "persistent"),
                ] {
                    let path = place.isEmpty ? "\(mount.root)/." : mount.path(place)
                    #expect(try Attributes.text(path, key("tier")) == tier, "\(place)")
                }
                try Files.rename(file, mount.path("tmp/f"))
                #expect(try Attributes.text(mount.path("tmp/f"), key("tier")) == "temporary")
            }
        }

        static let computed = [
            "volumeTotalCapacity", "volumeAvailableCapacity", "volumeAvailableCapacityForImportantUsage",
            "volumeAvailableCapacityForOpportunisticUsage", "fileAllocatedSize", "totalFileAllocatedSize",
            "creationDate", "tier",
        ]
        @Test(arguments: computed) func computedValuesAreReadOnly(name: String) throws {
            try withFile { _, file throws in
                #expect(throws: Errno.notPermitted) { try Attributes.set(file, key(name), "1") }
                #expect(throws: (any Error).self) { try Attributes.remove(file, key(name)) }
                #expect(try !Attributes.get(file, key(name)).isEmpty)
                #expect(try Attributes.names(file) == [])
            }
        }

        @Test func createAndReplace() throws {
            let (create, replace): (Int32, Int32) = (1, 2)
            try withFile { _, file in
                for name in [
                    key("isPurgeable"), key("isExcludedFromBackup"), "com.apple.MobileBackup", "user.own",
                    "com.apple.own",
                ] {
                    for other in try Attributes.names(file) { try Attributes.remove(file, other) }
                    #expect(throws: Errno.noData, "\(name)") { try Attributes.set(file, name, "1", flags: replace) }
                    try Attributes.set(file, name, "1", flags: create)
                    #expect(throws: Errno.exists, "\(name)") { try Attributes.set(file, name, "1", flags: create) }
                    try Attributes.set(file, name, "0", flags: replace)
                }
            }
        }

        /// Attributes show a file's own value, never an inherited one.
        @Test func inheritedValuesAreNotShown() throws {
            try withFile { mount, _ in
                for (name, value) in [("isPurgeable", "high"), ("isExcludedFromBackup", "1")] {
                    try Attributes.mark(mount.path("Documents/d"), name, value)
                }
                try mount.make("Documents/d/f", size: 4096)
                #expect(try Attributes.names(mount.path("Documents/d/f")) == [])
                #expect(throws: Errno.noData) { try Attributes.get(mount.path("Documents/d/f"), key("isPurgeable")) }
                #expect(throws: Errno.noData) {
                    try Attributes.get(mount.path("Documents/d/f"), key("isExcludedFromBackup"))
                }
                #expect(try mount.number("storage.reclaimable") == 4096)
            }
        }

        /// Only new entries inherit the class.
        @Test func protectionIsInherited() throws {
            try withFile { mount, _ in
                try mount.make("Documents/d/before", size: 1)
                try Attributes.mark(mount.path("Documents/d"), "fileProtection", "complete")
                try mount.make("Documents/d/after", size: 1)
                try mount.makeDirectory("Documents/d/e")
                try mount.make("Documents/d/e/deep", size: 1)
                for path in ["Documents/d/after", "Documents/d/e", "Documents/d/e/deep"] {
                    #expect(try Attributes.text(mount.path(path), key("fileProtection")) == "NSFileProtectionComplete")
                }
                // An older file has the default class, and no attribute that says so.
                let before = mount.path("Documents/d/before")
                #expect(
                    try Attributes.text(before, key("fileProtection"))
                        == "NSFileProtectionCompleteUntilFirstUserAuthentication")
                #expect(try Attributes.names(before) == [])
            }
        }
    }
}
