import PurgeModel
import Testing

@testable import PurgeStore

struct SampleTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    static let sample = StorageSample(
        time: "t", realTime: "r", total: ByteCount(1), others: ByteCount(2), othersPurgeable: ByteCount(3),
        used: ByteCount(4), temporary: ByteCount(5), caches: ByteCount(6), persistent: ByteCount(7), pressure: .nearLow)

    private func opened() throws -> Journal {
        try Journal.open(in: try Store.open(directory["s"], creating: true))
    }

    private func write(_ samples: [StorageSample]) throws {
        let journal = try opened()
        try journal.append(samples)
        journal.close()
    }

    private func samples(_ used: ClosedRange<Int64>) -> [StorageSample] {
        used.map {
            var sample = Self.sample
            sample.used = ByteCount($0)
            return sample
        }
    }
    private func kept() throws -> [Int64] { try JournalReader(storePath: directory["s"]).samples().map(\.used.bytes) }

    @Test func areKeptInOrder() throws {
        let journal = try opened()
        try journal.append(samples(1...3))
        try journal.append(samples(4...4))
        #expect(try JournalReader(storePath: directory["s"]).samples() == samples(1...4))
    }

    /// With 10,001 samples, every second one of the first 5,000 is dropped, and new ones stay.
    @Test func areThinnedOutInTheOlderHalf() throws {
        let journal = try opened()
        try journal.append(samples(1...10_000))
        #expect(try kept().count == 10_000)
        try journal.append(samples(10_001...10_001))
        let thinned = try kept()
        #expect(thinned == Array(stride(from: 1, through: 4999, by: 2)) + Array(5001...10_001))
        try journal.append(samples(10_002...12_500))
        #expect(try kept().count == 10_000)
        #expect(try kept().first == 1)
    }

    /// The maximum of used space and both extremes of free space outlive the thinning.
    @Test func extremesOutliveTheThinning() throws {
        let journal = try opened()
        var samples = samples(1...10_001)
        samples[1].used = ByteCount(50_000)
        samples[3].others += ByteCount(100_000)
        samples[5].total += ByteCount(200_000)
        try journal.append(samples)
        let thinned = try JournalReader(storePath: directory["s"]).samples()
        #expect(thinned.count == 7504)
        for index in [1, 3, 5] { #expect(thinned.contains(samples[index]), "\(index)") }
        #expect(!thinned.contains(samples[7]))
    }

    /// Held samples are written with the next events, or by `writeHeld` without events. Only the newest 1,000 are held.
    @Test func waitForEvents() throws {
        let journal = try opened()
        for sample in samples(1...2) { journal.hold([sample]) }
        #expect(try kept() == [])
        try journal.append([JournalTests.purge])
        #expect(try kept() == [1, 2])
        try journal.writeHeld()
        #expect(try kept() == [1, 2])
        for sample in samples(3...1100) { journal.hold([sample]) }
        try journal.writeHeld()
        #expect(try kept() == [1, 2] + Array(101...1100))
    }

    /// A repair salvages the samples and drops invalid rows.
    @Test func outliveDamage() throws {
        try write(samples(1...5))
        try Database(path: directory["s/journal.sqlite"], flags: 2).execute(  // SQLITE_OPEN_READWRITE
            "UPDATE samples SET pressure = 'nonsense' WHERE id = 2; DROP INDEX events_path")
        let problems = try StoreInspection.run(directory["s"], repairing: true).problems
        #expect(problems.map(\.isRepairable) == [true])
        #expect(try kept() == [1, 3, 4, 5])
    }
}

extension Journal {
    func append(_ samples: [StorageSample]) throws(StoreError) {
        for (index, sample) in samples.enumerated() {
            hold([sample])
            if index % 1000 == 999 { try writeHeld() }
        }
        try writeHeld()
    }
}
