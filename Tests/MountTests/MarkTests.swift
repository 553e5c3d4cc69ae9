import Glibc
import Support
import Testing

extension Mounts {
    /// `purgefs mark` checks all attributes of a file before it sets the first.
    @Suite struct MarkTests {
        private func mark(_ words: [String]) throws -> Outcome {
            try Program.run([PurgefsBinary.path, "mark"] + words)
        }
        private func marks(_ mount: TestMount) throws -> [StoreEvent] {
            try mount.unmount()
            return try StoreEvent.journal(of: mount.store).filter { $0.type == "mark" }
        }

        /// With an option that is only for folders, `mark` refuses a file and sets nothing on it, mounted or not.
        @Test(arguments: [true, false], ["--group", "--no-group", "--tombstone", "--no-tombstone"])
        func aMarkForFoldersOnAFile(mounted: Bool, option: String) throws {
            try withMount { mount in
                try mount.make("Library/Caches/f", size: 4096)
                if !mounted { try mount.unmount() }
                let file = mounted ? mount.path("Library/Caches/f") : "\(mount.store)/container/Library/Caches/f"
                let outcome = try mark(["--purgeable", "--exclude-from-backup", option, file])
                #expect(outcome.status == 1, "\(outcome)")
                let name = option.hasSuffix("group") ? "purgeGroup" : "purgeTombstone"
                #expect(
                    outcome.errors == "purgefs: cannot mark: \(file): it is a file, and \(name) is only for folders\n "
                        + " Name its folder, or leave out \(option). Nothing was set on the file.\n")
                #expect(try Attributes.names(file).filter { $0.hasPrefix("user.purgefs.is") } == [])
                #expect(try marks(mount).map(\.reason) == [])
            }
        }

        /// A file that cannot be marked does not keep the other paths from being marked.
        @Test func aFileAmongFolders() throws {
            try withMount { mount in
                for name in ["one", "two"] { try mount.makeDirectory("Library/Caches/\(name)") }
                try mount.make("Library/Caches/f", size: 4096)
                let paths = ["one", "f", "two"].map { mount.path("Library/Caches/\($0)") }
                let outcome = try mark(["--tombstone", "--purgeable=high"] + paths)
                #expect(outcome.status == 1 && outcome.errors.contains("\(paths[1]): it is a file"), "\(outcome)")
                #expect(
                    try marks(mount).map { "\($0.path ?? "") \($0.reason ?? "")" } == [
                        "Library/Caches/one isPurgeable=high", "Library/Caches/one purgeTombstone=1",
                        "Library/Caches/two isPurgeable=high", "Library/Caches/two purgeTombstone=1",
                    ])
            }
        }

        @Test func whatIsNeither() throws {
            try withMount { mount in
                try Program.run("mkfifo", mount.path("tmp/pipe")).succeeded()
                let outcome = try mark(["--purgeable", mount.path("tmp/pipe")])
                #expect(outcome.status == 1 && outcome.errors.contains("it is a device, a pipe or a socket"))
                #expect(outcome.errors.contains("\n  Only files and folders can be marked."), "\(outcome)")
            }
        }

        /// A locked device denies changing the class of a protected file. Nothing else is set on it either.
        @Test func aLockedDevice() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 4096)
                try mark(["--protection", "complete", mount.path("Documents/f")]).succeeded()
                try PurgefsBinary.run("device", "lock", mount.root).succeeded()
                try PurgefsBinary.run("clock", "advance", "10s", mount.root).succeeded()
                let outcome = try mark(["--purgeable", "--protection", "none", mount.path("Documents/f")])
                #expect(outcome.status == 1 && outcome.errors.contains("purgefs device unlock"), "\(outcome)")
                #expect(try marks(mount).map(\.reason) == ["fileProtection=NSFileProtectionComplete"])
            }
        }
    }
}
