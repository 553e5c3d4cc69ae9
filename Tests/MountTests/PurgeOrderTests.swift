import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The exact order and the reasons of docs/RULES.md, Order of purging.
    @Suite struct PurgeOrderTests {
        /// Files in the order of their writes, each with its own mark.
        static let files: [(path: String, mark: String?)] = [
            ("Documents/keep.db", nil), ("Library/Caches/a", nil), ("Documents/high", "high"),
            ("Documents/low", "1"), ("tmp/z", nil), ("Library/Caches/sub/b", nil), ("tmp/sub/medium", "medium"),
            ("Library/Caches/urgent", "high"), ("Documents/cheap/one", nil), ("Documents/cheap/inner/two", nil),
            ("Documents/cheap/kept", "0"), ("tmp/a", nil), ("Library/Caches/zero", "0"),
            ("Library/Application Support/medium", "medium"), ("Documents/cheap/inner/deep/low", "low"),
            ("Library/Preferences/plist", nil), ("at-the-root", nil), ("Library/Caches/sub/medium", "medium"),
            ("tmp/high", "high"), ("Library/other", nil), ("Documents/cheap/inner/deep/three", nil),
        ]
        static let golden = [
            Purge("tmp/z", "temporary"), Purge("tmp/a", "temporary"), Purge("tmp/sub/medium", "temporary"),
            Purge("tmp/high", "temporary"), Purge("Library/Caches/a", "caches"),
            Purge("Library/Caches/sub/b", "caches"), Purge("Library/Caches/zero", "caches"),
            Purge("Library/Caches/sub/medium", "caches"), Purge("Library/Caches/urgent", "caches"),
            Purge("Documents/low", "purgeable"), Purge("Documents/cheap/one", "purgeable"),
            Purge("Documents/cheap/inner/deep/low", "purgeable"),
            Purge("Documents/cheap/inner/two", "purgeable"), Purge("Library/Application Support/medium", "purgeable"),
            Purge("Documents/cheap/inner/deep/three", "purgeable"), Purge("Documents/high", "purgeable"),
        ]
        static let untouched = [
            "Documents/keep.db", "Documents/cheap/kept", "Library/Preferences/plist", "at-the-root", "Library/other",
        ]

        private func makeFiles(_ mount: TestMount) throws {
            for folder in [
                "Library/Caches/sub", "tmp/sub", "Documents/cheap", "Documents/cheap/inner",
                "Documents/cheap/inner/deep",
            ] {
                try mount.makeDirectory(folder)
            }
            try mount.mark("Documents/cheap", "low")
            try mount.mark("Documents/cheap/inner", "medium")
            for file in Self.files {
                try mount.make(file.path, size: 4096)
                if let mark = file.mark { try mount.mark(file.path, mark) }
            }
        }

        private func checkUntouched(_ mount: TestMount) throws {
            for path in Self.untouched {
                let content = try Files.content("\(mount.store)/container/\(path)")
                #expect(content == [UInt8](repeating: 0xA7, count: 4096), "\(path)")
            }
        }

        @Test func oneImportantWriteThatNeedsEverything() throws {
            try withMount { mount in
                try makeFiles(mount)
                try mount.takeAllFreeSpace()
                try mount.writeImportant(Self.golden.count * 4096)
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == Self.golden)
                #expect(events.allSatisfy { $0.trigger == "importantWrite" && $0.bytes == 4096 })
                try checkUntouched(mount)
            }
        }

        @Test func eachBlockPurgesJustOneFile() throws {
            try withMount { mount in
                try makeFiles(mount)
                try mount.takeAllFreeSpace()
                let file = try OpenFile(mount.path("Documents/new"))
                for (index, next) in Self.golden.enumerated() {
                    #expect(try file.write(4096) == 4096)
                    let gone = Self.golden.map(\.path).filter { !mount.exists($0 ?? "") }
                    #expect(gone == Self.golden[...index].map(\.path), "after \(next)")
                }
                #expect(throws: Errno.noSpace) { try file.write(1) }
                file.close()
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == Self.golden)
                try checkUntouched(mount)
            }
        }

        @Test func reclaimOfEverythingByCommand() throws {
            try withMount(["--total", "64M", "--others", "1M", "--others-purgeable", "8K"]) { mount in
                try makeFiles(mount)
                try mount.write("all", to: "storage.reclaim")
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == [Purge(nil, "others")] + Self.golden)
                #expect(events.allSatisfy { $0.trigger == "command" })
                try checkUntouched(mount)
            }
        }

        /// A reclaim by size takes others.purgeable first, in whole blocks, then files one by one.
        @Test func othersGoFirst() throws {
            try withMount(["--total", "64M", "--others", "1M", "--others-purgeable", "8K"]) { mount in
                try makeFiles(mount)
                try mount.write("5000", to: "storage.reclaim")
                #expect(try mount.number("storage.others.purgeable") == 0)
                #expect(try mount.number("storage.others") == (1 << 20) - 8192)
                try mount.write("12287", to: "storage.reclaim")
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == [Purge(nil, "others")] + Self.golden[..<3])
            }
        }

        @Test(arguments: [("tmp", "temporary"), ("caches", "caches"), ("purgeable", "purgeable")])
        func reclaimOfOnePlace(command: String, reason: String) throws {
            try withMount(["--total", "64M", "--others", "1M", "--others-purgeable", "8K"]) { mount in
                try makeFiles(mount)
                try mount.write(command, to: "storage.reclaim")
                #expect(try mount.number("storage.others.purgeable") == 8192)
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == Self.golden.filter { $0.reason == reason })
                try checkUntouched(mount)
            }
        }

        @Test func onlyAsMuchAsIsShort() throws {
            try withMount { mount in
                try makeFiles(mount)
                try mount.takeAllFreeSpace()
                try mount.write("-6K", to: "storage.others")  // others is rounded up, so 4 KiB become free
                try mount.writeImportant(3 * 4096)
                #expect(try mount.purgesAfterUnmount().golden == Array(Self.golden[..<2]))
            }
        }

        @Test func nothingIsPurgedWhenItCannotHelp() throws {
            try withMount { mount in
                try makeFiles(mount)
                try mount.takeAllFreeSpace()
                let file = try OpenFile(mount.path("Documents/new"))
                let tooMuch = Int64(Self.golden.count + 1) * 4096
                #expect(throws: Errno.noSpace) { try file.allocate(Allocate.plain, 0, tooMuch) }
                file.close()
                #expect(try mount.purgesAfterUnmount() == [])
            }
        }

        /// Purging depends on the place and the mark that a file has at the moment of the purge.
        @Test func placeAndMarkOfTheMoment() throws {
            try withMount { mount in
                for name in ["a", "b", "c", "d"] { try mount.make("Documents/\(name)", size: 4096) }
                for name in ["e", "f"] { try mount.make("Library/Caches/\(name)", size: 4096) }
                try mount.makeDirectory("Documents/tree")
                try mount.make("Documents/tree/g", size: 4096)
                try Files.rename(mount.path("Documents/a"), mount.path("Library/Caches/a"))
                try Files.rename(mount.path("Library/Caches/e"), mount.path("Documents/e"))
                try Files.rename(mount.path("Documents/tree"), mount.path("tmp/tree"))
                try mount.mark("Documents/b", "low")
                try mount.mark("Documents/c", "low")
                try Attributes.remove(mount.path("Documents/c"), "user.purgefs.isPurgeable")
                try mount.write("all", to: "storage.reclaim")
                let expected = [
                    Purge("tmp/tree/g", "temporary"), Purge("Library/Caches/a", "caches"),
                    Purge("Library/Caches/f", "caches"), Purge("Documents/b", "purgeable"),
                ]
                #expect(try mount.purgesAfterUnmount().golden == expected)
            }
        }
    }
}
