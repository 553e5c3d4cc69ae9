import PurgeModel
import Testing

@Suite struct PurgeAgeTests {
    private func age(_ lastUse: Int64, _ charged: Int64) -> PurgeAge {
        PurgeAge(lastUse: Instant(nanoseconds: lastUse), charged: ByteCount(charged))
    }

    @Test func leastRecentlyUsedFirstWhateverTheSize() {
        #expect(age(1, 4096) < age(2, 409_600))
        #expect(age(1, 409_600) < age(2, 4096))
    }

    @Test func aNanosecondDecides() {
        #expect(age(1_000_000_000, 4096) < age(1_000_000_001, 8192))
        #expect(age(-1, 4096) < age(0, 8192))
    }

    @Test func largerFirstWhenUsedAtTheSameMoment() {
        #expect(age(5, 8192) < age(5, 4096))
        #expect(!(age(5, 4096) < age(5, 8192)))
    }

    @Test func equalOnesAreLeftToThePath() {
        #expect(!(age(5, 4096) < age(5, 4096)))
        #expect(age(5, 4096) == age(5, 4096))
    }
}
