import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Apple's own names for the backup flag, and attributes that only the app uses.
    @Suite struct AppleXattrTests {
        static let flag = "user.purgefs.isExcludedFromBackup"
        static let item = "com.apple.metadata:com_apple_backup_excludeItem"
        static let mobile = "com.apple.MobileBackup"
        /// The 61 bytes of the property list (docs/XATTRS.md).
        static let propertyList: [UInt8] =
            Array("bplist00".utf8) + [0x5F, 0x10, 0x11] + Array("com.apple.backupd".utf8)
            + [0x08, 0, 0, 0, 0, 0, 0, 0x01, 0x01, 0, 0, 0, 0, 0, 0, 0, 0x01] + [UInt8](repeating: 0, count: 15) + [
                0x1C
            ]

        private func withFile(_ body: (TestMount, String) throws -> Void) throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 1)
                try body(mount, mount.path("Documents/f"))
            }
        }

        @Test(arguments: [flag, item, mobile]) func oneFlagUnderThreeNames(set: String) throws {
            #expect(Self.propertyList.count == 61)
            try withFile { mount, file in
                try Attributes.set(file, set, set == Self.flag ? "1" : "anything")
                for _ in 0..<2 {
                    #expect(try Attributes.text(file, Self.flag) == "1")
                    #expect(try Attributes.get(file, Self.item) == Self.propertyList)
                    #expect(try Attributes.get(file, Self.mobile) == [1])
                    #expect(try Attributes.names(file) == [Self.flag])
                    try mount.remount()
                }
                #expect(try mount.status().marked.excludedFromBackup.files == 1)
            }
        }

        @Test(arguments: [flag, item, mobile]) func removedUnderAnyName(name: String) throws {
            try withFile { mount, file in
                try Attributes.set(file, Self.flag, "1")
                try Attributes.remove(file, name)
                for name in [Self.flag, Self.item, Self.mobile] {
                    #expect(throws: Errno.noData) { try Attributes.get(file, name) }
                }
                #expect(try Attributes.names(file) == [])
                #expect(try mount.status().marked.excludedFromBackup.files == 0)
            }
        }

        /// Apple's names exist only while the flag is `1`.
        @Test func setToZero() throws {
            try withFile { _, file in
                try Attributes.set(file, Self.flag, "0")
                #expect(try Attributes.text(file, Self.flag) == "0")
                #expect(throws: Errno.noData) { try Attributes.get(file, Self.item) }
                #expect(throws: Errno.noData) { try Attributes.get(file, Self.mobile) }
            }
        }

        @Test func otherAttributesAreKeptAsTheyAre() throws {
            try withFile { mount, file in
                let values: [(String, [UInt8])] = [
                    ("com.apple.x", [1, 2, 3]), ("user.com.apple.x", [4]), ("user.empty", []),
                    ("user.bin", [0, 255, 0]),
                    ("com.apple.ResourceFork", [UInt8](repeating: 9, count: 1000)), ("plain", [7]),
                    ("user.purgefs", [8]),
                    ("user.purgefsx", [1]), ("user.Großes Ä", [1]),
                ]
                for (name, value) in values { try Attributes.set(file, name, value) }
                for _ in 0..<2 {
                    for (name, value) in values { #expect(try Attributes.get(file, name) == value, "\(name)") }
                    #expect(try Attributes.names(file) == values.map(\.0).sorted())
                    try mount.remount()
                }
                for (name, _) in values {
                    try Attributes.remove(file, name)
                    #expect(throws: Errno.noData) { try Attributes.get(file, name) }
                    #expect(throws: Errno.noData) { try Attributes.remove(file, name) }
                }
                #expect(try Attributes.names(file) == [])
            }
        }

        /// The store's own attributes are neither listed nor reachable by their names in the store.
        @Test func ourOwnAttributesAreHidden() throws {
            try withFile { mount, file in
                let sparse = try OpenFile(file)
                try sparse.truncate(1 << 20)
                sparse.close()
                try mount.remount()
                #expect(try Attributes.names(file) == [])
                for name in try Attributes.names("\(mount.store)/container/Documents/f") {
                    #expect(throws: (any Error).self, "\(name)") { try Attributes.get(file, name) }
                }
            }
        }

        @Test func longNamesAndValues() throws {
            try withFile { _, file in
                #expect(throws: (any Error).self) {
                    try Attributes.set(file, "com." + String(repeating: "x", count: 250), "1")
                }
                #expect(throws: (any Error).self) {
                    try Attributes.set(file, "user.big", [UInt8](repeating: 1, count: 65537))
                }
                try Attributes.set(file, "user.fits", [UInt8](repeating: 1, count: 2000))
                #expect(try Attributes.get(file, "user.fits").count == 2000)
                #expect(try Attributes.names(file) == ["user.fits"])
            }
        }

        /// Attributes move with a file and are not charged.
        @Test func attributesMoveWithTheFile() throws {
            try withFile { mount, file in
                try Attributes.set(file, Self.item, "x")
                try Attributes.set(file, "user.x", "y")
                try Files.rename(file, mount.path("Library/moved"))
                try Files.link(mount.path("Library/moved"), mount.path("Library/linked"))
                for name in ["moved", "linked"] {
                    #expect(try Attributes.names(mount.path("Library/\(name)")) == [Self.flag, "user.x"].sorted())
                }
                #expect(try Files.charged(mount.path("Library/moved")) == 4096)
            }
        }
    }
}
