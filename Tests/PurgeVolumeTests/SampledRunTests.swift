import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The samples of short runs, compared with the test's own writes: the journal has the extremes and the last numbers, although
/// no second has passed.
struct SampledRunTests {
    private static let total: Int64 = 256

    /// The numbers that the test expects, in blocks.
    private struct Known {
        var files: [String: Int64] = [:]
        var others: Int64 = 0
        var (most, leastFree, mostFree, purged) = (Int64.zero, SampledRunTests.total, SampledRunTests.total, Int64.zero)

        var used: Int64 { files.values.reduce(0, +) }

        mutating func note() {
            let free = max(0, SampledRunTests.total - others - used)
            (most, leastFree, mostFree) = (max(most, used), min(leastFree, free), max(mostFree, free))
        }
    }

    private static func step(_ live: LiveVolume, _ known: inout Known, _ random: inout SeededGenerator) throws {
        switch random.below(5) {
        case 0, 1, 2:
            let free = total - known.others - known.used
            guard free > 0 else { return }
            let size = Int64(1 + random.below(Int(min(free, 24))))
            let folder = ["Documents", "Library/Caches", "tmp"][random.below(3)]
            let path = "\(folder)/\(known.files.count)-\(random.below(1 << 30))"
            try live.make(path, blocks: Int(size))
            known.files[path] = size
        case 3:
            guard let path = known.files.keys.sorted().randomElement(using: &random) else { return }
            try live.unlink(path)
            known.files[path] = nil
        default:
            // Other apps take everything, so all purgeable files go. Then the apps give much of it back.
            (known.others, known.purged) = (total, known.purged)
            try live.command(.storageOthers, "\(total * 4096)")
            known.note()
            for (path, size) in known.files where !path.hasPrefix("Documents") {
                known.files[path] = nil
                known.purged += size
            }
            known.note()
            known.others = Int64(random.below(100))
            try live.command(.storageOthers, "\(known.others * 4096)")
        }
        known.note()
    }

    @Test func hundredShortRuns() throws {
        for seed in UInt64(0)..<100 {
            try withStore { path in
                var random = SeededGenerator(seed: seed)
                let live = try LiveVolume(path) { settings in
                    settings.total = ByteCount(blocks: Self.total)
                    settings.thresholds = .off
                }
                for folder in ["Documents", "Library", "Library/Caches", "tmp"] where !live.exists(folder) {
                    try live.makeDirectory(folder)
                }
                var known = Known()
                for _ in 0..<3 + random.below(30) { try Self.step(live, &known, &random) }
                #expect(live.volume.end() == nil)
                try Self.compare(path, known, seed)
            }
        }
    }

    private static func compare(_ path: String, _ known: Known, _ seed: UInt64) throws {
        let reader = try JournalReader(storePath: path)
        let samples = try reader.samples()
        func blocks(_ bytes: ByteCount) -> Int64 { bytes.bytes / 4096 }
        let free = samples.map { max(0, blocks($0.total) - blocks($0.others) - blocks($0.used)) }
        #expect(samples.first.map { blocks($0.used) } == 0, "seed \(seed)")
        #expect(samples.map { blocks($0.used) }.max() == known.most, "seed \(seed)")
        #expect(free.min() == known.leastFree && free.max() == known.mostFree, "seed \(seed)")
        let last = try #require(samples.last)
        #expect(blocks(last.used) == known.used && blocks(last.others) == known.others, "seed \(seed)")
        let kept = known.files.filter { $0.key.hasPrefix("Documents") }.values.reduce(0, +)
        #expect(blocks(last.persistent) == kept, "seed \(seed)")
        let purges = try reader.events(.init(types: [.purge]))
        #expect(purges.reduce(0) { $0 + blocks($1.bytes ?? .zero) } == known.purged, "seed \(seed)")
    }

    /// A command returns only once the journal has its numbers.
    @Test func aCommandSeesTheNumbers() throws {
        try withVolume { live in
            if !live.exists("tmp") { try live.makeDirectory("tmp") }
            try live.volume.startThreads()
            for round in 1...20 {
                try live.make("tmp/\(round)", blocks: 2)
                try live.command(.storageOthers, "\(round * 4096)")
                let last = try #require(try JournalReader(storePath: live.storePath).samples().last)
                #expect(
                    last.used == ByteCount(blocks: Int64(round) * 2) && last.others == ByteCount(blocks: Int64(round)))
            }
            #expect(live.volume.end() == nil)
        }
    }
}
