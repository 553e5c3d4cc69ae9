import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Bad input to the command line loses nothing. The message names the problem and its place, and the exit status is the one
    /// in docs/CLI.md.
    @Suite struct BadInputTests {
        /// Runs purgefs with arguments that must make it fail and leave no mount.
        static func refused(
            _ arguments: [String], status: Int32, naming words: [String] = [], wrapper: [String] = [],
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            let mountsBefore = containers()
            let outcome = try Program.run(wrapper + [PurgefsBinary.path] + arguments, timeout: 20)
            #expect(outcome.status == status, "\(outcome)", sourceLocation: sourceLocation)
            #expect(outcome.output == "", "what went wrong belongs to stderr", sourceLocation: sourceLocation)
            #expect(!outcome.errors.isEmpty, sourceLocation: sourceLocation)
            for word in words {
                #expect(outcome.errors.contains(word), "\(word) is not in: \(outcome)", sourceLocation: sourceLocation)
            }
            for crash in ["Fatal error", "Illegal instruction", "Assertion"] {
                #expect(!outcome.errors.contains(crash), "\(outcome)", sourceLocation: sourceLocation)
            }
            let mountsNow = containers()
            #expect(mountsNow == mountsBefore, sourceLocation: sourceLocation)
            for mount in mountsNow where !mountsBefore.contains(mount) {
                try Program.run("fusermount3", "-u", "-z", mount)
            }
        }

        /// Returns only this process's purgefs mounts, because tests of other targets mount disks at the same time.
        private static func containers() -> [String] {
            MountTable.entries().filter {
                $0.type == "fuse.purgefs" && $0.mountpoint.hasPrefix(ScratchRoot.shared.path)
            }
            .map(\.mountpoint)
        }

        /// Passes `body` the paths of a store that does not exist yet and of an empty directory.
        static func withPlaces(_ body: (_ store: String, _ mountpoint: String) throws -> Void) throws {
            try Scratch.with("bad") { scratch in
                try Files.makeDirectory("\(scratch.path)/mountpoint")
                try body("\(scratch.path)/store", "\(scratch.path)/mountpoint")
            }
        }

        @Test(arguments: [
            ["mount", "--total", "nonsense"], ["mount", "--total", "-1M"], ["mount", "--total", "1.3K"],
            ["mount", "--total", ""], ["mount", "--total", "99999999999G"], ["mount", "--total", "12Q"],
            ["mount", "--total", "64 M"], ["mount", "--others", "M"], ["mount", "--others-purgeable", "1e9"],
            ["mount", "--profile", "nobody"], ["mount", "--protection", "secret"], ["mount", "--no-such-option"],
            ["mount", "--total"],
        ])
        func wrongOptions(arguments: [String]) throws {
            try Self.withPlaces { store, mountpoint in
                let places = arguments.last == "--total" ? [] : [store, mountpoint]
                try Self.refused(arguments + places, status: 64, naming: [arguments[1]])
                #expect(!Files.exists(store), "a store was made")
            }
        }

        @Test(arguments: [
            [], ["frobnicate"], ["mount"], ["mount", "only-a-store"], ["mount", "a", "b", "c"], ["unmount"], ["run"],
            ["--no-such-option"], ["purge"], ["purge", "--bytes", "x", "/tmp"], ["purge", "--tier", "attic", "/tmp"],
            ["set", "storage.total"], ["mark"], ["check"], ["help", "frobnicate"],
        ])
        func wrongUsage(arguments: [String]) throws {
            try Self.refused(arguments, status: 64)
        }

        @Test(arguments: [
            ["status"], ["set", "storage.others=1M"], ["purge", "--all"], ["events"], ["check"],
            ["mark", "--purgeable"],
        ])
        func invalidTargets(arguments: [String]) throws {
            try Self.withPlaces { store, mountpoint in
                let verb = arguments[0]
                let target = verb == "set" ? [mountpoint, arguments[1]] : Array(arguments[1...]) + [mountpoint]
                try Self.refused([verb] + target, status: 1, naming: [mountpoint])
                try Self.refused(["unmount", mountpoint], status: 1, naming: [mountpoint])
                try Self.refused(["unmount", store], status: 1, naming: [store])
                #expect(try Files.names(in: mountpoint) == [])
            }
        }

        @Test func othersPurgeableOverOthers() throws {
            try Self.withPlaces { store, mountpoint in
                let options = ["--total", "64M", "--others", "1M", "--others-purgeable", "2M"]
                let outcome = try Program.run([PurgefsBinary.path, "mount"] + options + [store, mountpoint])
                #expect(outcome.status == 64 || outcome.status == 1, "\(outcome)")
                #expect(outcome.errors.contains("purgeable"))
                #expect(MountTable.entry(at: mountpoint) == nil)
            }
        }

        @Test func aStoreThatIsAFile() throws {
            try Self.withPlaces { store, mountpoint in
                try Files.write("precious", to: store)
                try Self.refused(["mount", store, mountpoint], status: 1, naming: [store])
                try Self.refused(["run", "--store", store, "--", "true"], status: 125, naming: [store])
                try Self.refused(["check", store], status: 1, naming: [store])
                #expect(Files.text(store) == "precious")
            }
        }

        @Test func aStoreWhoseParentIsNotThere() throws {
            try Self.withPlaces { store, mountpoint in
                try Self.refused(["mount", "\(store)/a/b", mountpoint], status: 1, naming: ["\(store)/a/b"])
            }
        }

        /// A directory with other content is not accepted as a store.
        @Test func aStoreThatIsSomethingElse() throws {
            try Self.withPlaces { store, mountpoint in
                try Files.makeDirectory(store)
                try Files.write("precious", to: "\(store)/letter.txt")
                try Self.refused(["mount", store, mountpoint], status: 1, naming: [store])
                #expect(try Files.names(in: store) == ["letter.txt"])
            }
        }

        @Test func invalidMountPoints() throws {
            try Self.withPlaces { store, mountpoint in
                try Self.refused(["mount", store, "\(mountpoint)/none"], status: 1, naming: ["\(mountpoint)/none"])
                try Files.write("precious", to: "\(mountpoint)/file")
                try Self.refused(["mount", store, mountpoint], status: 1, naming: [mountpoint])
                try Self.refused(["mount", store, "\(mountpoint)/file"], status: 1, naming: ["\(mountpoint)/file"])
                #expect(Files.text("\(mountpoint)/file") == "precious")
            }
        }

        @Test func aSecondMountOfTheStore() throws {
            try withMount { mount in
                try mount.make("Documents/file", size: 10_000)
                let second = "\(mount.scratch)/second"
                try Files.makeDirectory(second)
                try Self.refused(["mount", mount.store, second], status: 1, naming: [mount.store])
                try Self.refused(["mount", "\(mount.scratch)/other", mount.root], status: 1, naming: [mount.root])
                try Self.refused(["run", "--store", mount.store, "--", "true"], status: 125, naming: [mount.store])
                #expect(try Files.size(mount.path("Documents/file")) == 10_000)
                #expect(try mount.number("storage.used") == 12_288)
            }
        }
    }
}
