import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Many writers at the limit at once.
    @Suite struct LimitTests {
        static let places = ["Documents", "Library/Caches", "tmp", "Documents/marked", "Library/Application Support"]

        @Test func sixteenWritersNeverPassTheTotal() throws {
            let seconds = 15 * Scale.factor
            try withMount(["--total", "32M", "--others", "4M", "--others-purgeable", "1M"], deadline: seconds + 90) {
                mount in
                try mount.makeDirectory("Documents/marked")
                try mount.mark("Documents/marked", "low")
                let refused = Tally()
                let end = Deadline(seconds: seconds)
                let writers = Workers.start(16) { worker in
                    var writer = LimitWriter(mount: mount, worker: worker)
                    while !end.hasPassed { try writer.step() }
                    refused.add(writer.refused)
                    writer.closeAll()
                }
                let samples = try Self.sample(mount, until: end)
                try writers.join()
                #expect(samples >= Int(1000 * min(1, Scale.factor)))
                #expect(refused.value > 0, "nobody ever met the limit")
                try Self.checkLedger(mount)
            }
        }

        /// Looks at used + others as often as it can.
        private static func sample(_ mount: TestMount, until end: Deadline) throws -> Int {
            var samples = 0
            while !end.hasPassed {
                let storage = try mount.status().storage
                samples += 1
                guard storage.used + storage.others <= storage.total else {
                    throw TestFailure("sample \(samples): used \(storage.used) + others \(storage.others)")
                }
            }
            return samples
        }

        /// Only files without holes were written, so their sizes say what they cost.
        private static func checkLedger(_ mount: TestMount) throws {
            try mount.settle()
            let files = try Files.tree(mount.root)
            var bySize: Int64 = 0
            for path in files {
                let status = try Files.status(mount.path(path))
                if status.st_mode & S_IFMT == S_IFREG { bySize += (Int64(status.st_size) + 4095) / 4096 * 4096 }
            }
            let used = try mount.number("storage.used")
            #expect(used == bySize)
            #expect(try Files.chargedTree(mount.root) == bySize)
            try mount.remount()
            try mount.settle()
            let status = try mount.status()
            #expect(try Files.chargedTree(mount.root) == status.storage.used)
            #expect(
                status.tiers.temporary.bytes + status.tiers.caches.bytes + status.tiers.persistent.bytes
                    == status.storage.used)
        }
    }
}
