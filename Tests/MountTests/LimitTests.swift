import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Many writers at the device's limit at once.
    @Suite struct LimitTests {
        static let places = ["Documents", "Library/Caches", "tmp", "Documents/marked", "Library/Application Support"]

        @Test func sixteenWritersNeverPassTheTotal() throws {
            let steps = max(100, Scale.of(1000))
            try withMount(["--total", "32M", "--others", "4M", "--others-purgeable", "1M"], deadline: 600) { mount in
                try mount.makeDirectory("Documents/marked")
                try mount.mark("Documents/marked", "low")
                let refused = Tally()
                let (samples, ended) = (Tally(), Tally())
                let writers = Workers.start(16) { worker in
                    var writer = LimitWriter(mount: mount, worker: worker)
                    defer { ended.add() }
                    var step = 0
                    while step < steps || samples.value < steps {
                        try writer.step()
                        step += 1
                    }
                    refused.add(writer.refused)
                    writer.closeAll()
                }
                let sampling = Result { while ended.value < 16 { try Self.sample(mount, samples) } }
                try writers.join()
                try sampling.get()
                #expect(refused.value > 0, "nobody ever met the limit")
                try Self.checkLedger(mount)
            }
        }

        private static func sample(_ mount: TestMount, _ samples: Tally) throws {
            let storage = try mount.status().storage
            samples.add()
            guard storage.used + storage.others <= storage.total else {
                throw TestFailure("sample \(samples.value): used \(storage.used) + others \(storage.others)")
            }
        }

        /// Compares the ledger with file sizes. The sizes give the charged bytes because no file has holes.
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
