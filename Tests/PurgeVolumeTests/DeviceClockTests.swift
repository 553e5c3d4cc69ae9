import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeTree
@testable import PurgeVolume

@Suite struct DeviceClockTests {
    private static let day: Int64 = 86400

    private func real(plusDays days: Int64) -> Instant {
        Instant(nanoseconds: System.now() + days * Self.day * 1_000_000_000)
    }

    @Test func filesAgeByTheTimeOfTheDevice() throws {
        try withVolume { live in
            live.volume.clock.set(secondsAhead: Self.day)
            try live.make("tmp/madeFirst", blocks: 1)
            live.volume.clock.set(secondsAhead: 0)
            try live.make("tmp/madeADayBefore", blocks: 1)
            try live.command(.storageReclaim, "4096")
            #expect(live.exists("tmp/madeFirst"))
            #expect(!live.exists("tmp/madeADayBefore"))
        }
    }

    @Test func eventsHaveTheTimeOfTheDevice() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 1)
            live.volume.clock.set(secondsAhead: 1000 * Self.day)
            try live.command(.storageReclaim, "tmp")
            let event = try #require(try live.events(.purge).first)
            #expect(event.time > real(plusDays: 999).iso8601 && event.time < real(plusDays: 1001).iso8601)
        }
    }

    @Test func aStoreKeepsHowFarItIsAhead() throws {
        try withVolume(settings: {
            LiveVolume.small(&$0)
            $0.clock = 3 * Self.day
        }) { live in
            try live.make("tmp/a", blocks: 1)
            let use = try live.node("tmp/a").lastUse
            #expect(use > real(plusDays: 2) && use < real(plusDays: 4))
            #expect(live.volume.status().device.clock == 3 * Self.day)
        }
    }
}
