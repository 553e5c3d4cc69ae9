import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Four threads create, move, link, truncate and remove files in directories with policies, and move folders, all at once.
    /// Afterwards, each policy must have the same files as after the next mount.
    @Suite struct PolicyStormTests {
        private static let folders = [
            "Documents", "Documents/a", "Documents/a/sub", "Documents/b", "Library/Caches/c", "Library/Caches/c/sub",
        ]

        @Test func whatBelongsToThemIsWhatTheNextMountFinds() throws {
            try withMount { mount in
                for folder in Self.folders.dropFirst() { try mount.makeDirectory(folder) }
                try Attributes.mark(mount.path("Documents/a"), "sizeLimit", "300K")
                try Attributes.mark(mount.path("Documents/b"), "purgeAfter", "1d")
                try Attributes.mark(mount.path("Library/Caches/c"), "sizeLimit", "200K")
                try Workers.run(4) { worker in
                    var random = SeededGenerator(seed: UInt64(worker))
                    for number in 0..<400 { Self.step(number, of: worker, on: mount, &random) }
                }
                try mount.write("check", to: "storage.policies")
                let (known, used) = (try mount.read("storage.policies"), try mount.status().storage.used)
                try mount.remount()
                #expect(try mount.read("storage.policies") == known)
                #expect(try mount.status().storage.used == used)
                #expect(try mount.purgesAfterUnmount().contains { $0.reason == "policySize" })
            }
        }

        /// Some steps fail because other threads or policies have taken the file.
        private static func step(_ number: Int, of worker: Int, on mount: TestMount, _ random: inout SeededGenerator) {
            func path() -> String {
                let folder = folders[random.below(folders.count)]
                return mount.path("\(folder)/\(random.below(4))-\(random.below(20))")
            }
            let (one, other) = (path(), path())
            switch random.below(10) {
            case 0...3: _ = try? Files.make(one, size: 4096 * (1 + random.below(5)))
            case 4, 5: _ = try? Files.rename(one, other)
            case 6: _ = try? Files.link(one, other)
            case 7: _ = try? Files.unlink(one)
            case 8: _ = try? Files.truncate(one, Int64(4096 * random.below(3)))
            default:
                let moved = mount.path(number % 2 == 0 ? "Documents/a/sub" : "Documents/b/sub")
                _ = try? Files.rename(moved, mount.path(number % 2 == 0 ? "Documents/b/sub" : "Documents/a/sub"))
            }
        }
    }
}
