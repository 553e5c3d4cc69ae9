import Foundation
import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// The verbs on a mount and on an unmounted store.
    @Suite struct CommandTests {
        private struct Line: Decodable, Equatable {
            let path: String?
            let reason: String
            let bytes: Int64
        }
        private func lines(_ text: String) throws -> [Line] {
            try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
        }
        private let options = ["--total", "64M", "--others", "1M", "--others-purgeable", "8K"]

        private func makeFiles(_ mount: TestMount) throws {
            for path in ["Library/Caches/a", "Documents/low", "tmp/z", "Documents/kept", "Library/Caches/b"] {
                try mount.make(path, size: 4096)
            }
            try mount.mark("Documents/low", "low")
        }
        private let plan = [
            Line(path: nil, reason: "others", bytes: 8192), Line(path: "tmp/z", reason: "temporary", bytes: 4096),
            Line(path: "Library/Caches/a", reason: "caches", bytes: 4096),
            Line(path: "Library/Caches/b", reason: "caches", bytes: 4096),
            Line(path: "Documents/low", reason: "purgeable", bytes: 4096),
        ]
        static let goals: [(arguments: [String], from: Int, to: Int)] = [
            (["--all"], 0, 5), (["--bytes", "12289"], 0, 3), (["--tier", "caches"], 2, 4),
            (["--tier", "purgeable"], 4, 5),
            (["--tier", "tmp"], 1, 2),
        ]

        /// `purge` purges exactly the files that --dry-run has printed, whether the container is mounted or not.
        @Test(arguments: goals, [true, false]) func purge(
            goal: (arguments: [String], from: Int, to: Int), mounted: Bool
        ) throws {
            try withMount(options) { mount in
                try makeFiles(mount)
                if !mounted { try mount.unmount() }
                let target = mounted ? mount.root : mount.store
                let expected = Array(plan[goal.from..<goal.to])
                let container = "\(mount.store)/container"
                let all = ["tmp/z", "Library/Caches/a", "Library/Caches/b", "Documents/low", "Documents/kept"]
                let command = [PurgefsBinary.path, "purge", target, "--json"] + goal.arguments
                let dry = try Program.run(command + ["--dry-run"]).succeeded()
                #expect(try lines(dry) == expected)
                #expect(all.allSatisfy { Files.exists("\(container)/\($0)") })
                let real = try Program.run(command).succeeded()
                #expect(try lines(real) == expected)
                let gone = Set(expected.compactMap(\.path))
                #expect(all.filter { !Files.exists("\(container)/\($0)") } == all.filter { gone.contains($0) })
                let events = try mount.purgesAfterUnmount()
                #expect(events.golden == expected.map { Purge($0.path, $0.reason) })
            }
        }

        @Test(arguments: [true, false]) func moreThanThereIs(mounted: Bool) throws {
            try withMount(options) { mount in
                try makeFiles(mount)
                if !mounted { try mount.unmount() }
                let target = mounted ? mount.root : mount.store
                #expect(try PurgefsBinary.run("purge", target, "--bytes", "1M", "--dry-run").status == 1)
                #expect(try PurgefsBinary.run("purge", target, "--bytes", "1M").status == 1)
                #expect(try PurgefsBinary.run("purge", target, "--all").status == 0)
            }
        }

        @Test(arguments: [true, false]) func settings(mounted: Bool) throws {
            try withMount { mount in
                if !mounted { try mount.unmount() }
                let target = mounted ? mount.root : mount.store
                try PurgefsBinary.run(
                    "set", target, "storage.total=32M", "storage.others=+3M", "storage.others.purgeable=1M"
                )
                .succeeded()
                try PurgefsBinary.run("set", target, "storage.thresholds=verylow=1M,low=2M,nearlow=3M,desired=4M")
                    .succeeded()
                #expect(try PurgefsBinary.run("set", target, "storage.others.purgeable=4M").status == 1)
                #expect(try PurgefsBinary.run("set", target, "storage.used=1").status != 0)
                #expect(try PurgefsBinary.run("set", target, "storage.total=much").status != 0)
                let json = try PurgefsBinary.run("status", target, "--json").succeeded()
                let status = try JSONDecoder().decode(MountStatus.self, from: Data(json.utf8))
                #expect(status.storage.total == 32 << 20 && status.storage.others == 3 << 20)
                #expect(status.storage.othersPurgeable == 1 << 20 && status.thresholds.low == 2 << 20)
            }
        }

        /// Without an argument, the target is $PURGEFS_MOUNT, or else the container that the working directory is in.
        @Test func targets() throws {
            try withMount { mount in
                try mount.write("3M", to: "storage.others")
                func others(_ outcome: Outcome) throws -> Int64 {
                    try JSONDecoder().decode(MountStatus.self, from: Data(outcome.succeeded().utf8)).storage.others
                }
                #expect(try others(PurgefsBinary.run("status", mount.path("Library/Caches"), "--json")) == 3 << 20)
                #expect(try others(PurgefsBinary.run("status", "--json", in: mount.path("Documents"))) == 3 << 20)
                #expect(
                    try others(PurgefsBinary.run("status", "--json", environment: ["PURGEFS_MOUNT": mount.root])) == 3
                        << 20)
                #expect(
                    try PurgefsBinary.run("status", "--json", in: "/", environment: ["PURGEFS_MOUNT": ""]).status != 0)
                #expect(try others(PurgefsBinary.run("status", mount.store, "--json")) == 3 << 20)
            }
        }

        @Test func marks() throws {
            try withMount { mount in
                for name in ["a", "b"] { try mount.make("Documents/\(name)", size: 1) }
                let (a, b) = (mount.path("Documents/a"), mount.path("Documents/b"))
                try PurgefsBinary.run(
                    "mark", a, b, "--purgeable=high", "--exclude-from-backup", "--protection", "complete"
                )
                .succeeded()
                for path in [a, b] {
                    #expect(try Attributes.text(path, "user.purgefs.isPurgeable") == "high")
                    #expect(try Attributes.text(path, "user.purgefs.isExcludedFromBackup") == "1")
                    #expect(try Attributes.text(path, "user.purgefs.fileProtection") == "NSFileProtectionComplete")
                }
                try PurgefsBinary.run("mark", a, "--not-purgeable", "--include-in-backup").succeeded()
                #expect(try mount.number("storage.reclaimable") == 4096)
                let none = try PurgefsBinary.run("mark", mount.path("none"), "--purgeable")
                #expect(none.status == 1 && none.errors.contains(mount.path("none")))
                #expect(try PurgefsBinary.run("mark", a, "--purgeable=soon").status == 64)
            }
        }

        @Test func eventsByPathAndType() throws {
            try withMount { mount in
                for name in ["a", "b"] { try mount.make("tmp/\(name)", size: 1) }
                try mount.write("tmp", to: "storage.reclaim")
                let text = try PurgefsBinary.run("events", mount.root, "--json", "--type", "purge", "--path", "tmp/*")
                    .succeeded()
                #expect(try StoreEvent.lines(text).map(\.path) == ["tmp/a", "tmp/b"])
                let one = try PurgefsBinary.run("events", mount.root, "--json", "--path", "*/b").succeeded()
                #expect(try StoreEvent.lines(one).map(\.path) == ["tmp/b"])
                try mount.unmount()
                let later = try PurgefsBinary.run("events", mount.store, "--json", "--type", "purge").succeeded()
                #expect(try StoreEvent.lines(later).map(\.path) == ["tmp/a", "tmp/b"])
            }
        }

        @Test func checkOfASoundStore() throws {
            try withMount { mount in
                try mount.make("Documents/f", size: 5000)
                let mounted = try PurgefsBinary.run("check", mount.store)
                #expect(mounted.status == 1 && mounted.errors.contains(mount.root))
                try mount.unmount()
                try PurgefsBinary.run("check", mount.store).succeeded()
                try PurgefsBinary.run("check", mount.store, "--repair").succeeded()
                #expect(try Files.content("\(mount.store)/container/Documents/f").count == 5000)
            }
        }

        /// `mount` leaves the daemon in the background. `unmount` returns when the store is free. If it fails, it names the
        /// processes that use the mount.
        @Test func mountAndUnmount() throws {
            try withMount(mounted: false) { mount in
                for _ in 0..<3 {
                    try PurgefsBinary.run("mount", "--total", "32M", mount.store, mount.root).succeeded()
                    #expect(try mount.number("storage.total") == 32 << 20)
                    try PurgefsBinary.run("unmount", mount.root).succeeded()
                    #expect(MountTable.entry(at: mount.root) == nil)
                }
                try PurgefsBinary.run("mount", mount.store, mount.root).succeeded()
                #expect(try mount.number("storage.total") == 32 << 20, "settings are kept")
                let user = try Program.start(["sleep", "1000"], in: mount.path("tmp"))
                let busy = try PurgefsBinary.run("unmount", mount.root)
                #expect(busy.status == 1 && busy.errors.contains("\(user.pid)"), "\(busy)")
                user.signal(SIGKILL)
                try user.wait(within: 10)
                try PurgefsBinary.run("unmount", mount.root).succeeded()
            }
        }
    }
}
