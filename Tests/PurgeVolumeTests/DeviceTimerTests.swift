import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// What happens on the device when its moment has come: the end of locking.
struct DeviceTimerTests {
    private func state(_ live: LiveVolume) -> String { live.volume.controlFiles.text(of: .deviceState) }

    /// Locking ends so many nanoseconds from now.
    private func endLocking(_ live: LiveVolume, after nanoseconds: Int64) throws -> Instant {
        let end = Instant(nanoseconds: live.volume.clock.now.nanoseconds + nanoseconds)
        try live.volume.deviceChanges.make(by: 0) { device, _ in
            device.lock.locksAt = end
            return []
        }
        return end
    }

    @Test func theDeviceIsLockedInTenSeconds() throws {
        try withVolume { live in
            try live.command(.deviceState, "lock")
            #expect(state(live) == "locking\n")
            live.volume.clock.set(secondsAhead: 9)
            #expect(state(live) == "locking\n")
            live.volume.clock.set(secondsAhead: 10)
            #expect(state(live) == "locked\n")
            #expect(try live.volume.store.loadSettings().state == .locked)
            #expect(try live.events(.device).map(\.reason) == ["locking", "locked"])
        }
    }

    @Test func anAdvanceOfTheClockLocksIt() throws {
        try withVolume { live in
            try live.command(.deviceState, "lock")
            try live.command(.deviceClock, "+10s")
            #expect(live.volume.device.state == .locked)
            #expect(live.volume.controlFiles.text(of: .deviceClock) == "10\n")
            let events = try live.journal().filter { $0.type == .device || $0.type == .clock }
            #expect(events.map(\.reason) == ["locking", "device.clock=+10s", "locked"])
            #expect(events.map(\.time) == events.map(\.time).sorted())
        }
    }

    /// The thread of the volume wakes up for it; nobody asks for the state.
    @Test func itIsLockedByItself() throws {
        try withVolume { live in
            try live.volume.startThreads()
            try live.command(.deviceState, "lock")
            let end = try endLocking(live, after: 20_000_000)
            try eventually(within: 10, "a locked device") { live.volume.device.state == .locked }
            #expect(live.volume.clock.now >= end)
            try eventually(within: 10, "a device that is saved") {
                try live.volume.store.loadSettings().state == .locked
            }
            live.volume.end()
        }
    }

    /// However the moment, the thread and the reader meet.
    @Test func noReaderSeesLockingAfterItsEnd() throws {
        try withVolume { live in
            try live.volume.startThreads()
            for round in 0..<Scale.of(100) {
                try live.command(.deviceState, "unlock")
                try live.command(.deviceState, "lock")
                let end = try endLocking(live, after: Int64(round % 10) * 100_000)
                var seen = "locking\n"
                while seen == "locking\n" {
                    let began = live.volume.clock.now
                    seen = state(live)
                    if began >= end { #expect(seen == "locked\n", "round \(round)") }
                    if live.volume.clock.now < end { #expect(seen == "locking\n", "round \(round)") }
                }
            }
            live.volume.end()
        }
    }

    @Test func theNextMountDoesWhatIsDue() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.deviceState, "lock")
                live.volume.end()
            }
            let locking = try LiveVolume(store)
            #expect(locking.volume.device.state == .locking)
            locking.volume.end()
        }
    }

    /// Its event has the time at which it happened.
    @Test func whatWasDueLongAgoIsDone() throws {
        try withVolume(settings: {
            LiveVolume.small(&$0)
            ($0.lock.state, $0.lock.locksAt) = (.locking, Instant(seconds: 1_000_000_000, nanoseconds: 0))
        }) { (live) throws in
            #expect(live.volume.device.state == .locked)
            #expect(try live.events(.device).map(\.time) == ["2001-09-09T01:46:40.000Z"])
            live.volume.keeper.saveDevice()
            #expect(try live.volume.store.loadSettings().state == .locked)
        }
    }

    /// A store that is not mounted has no thread for it.
    @Test func aStoreThatIsNotMountedIsLockedToo() throws {
        try withStore { store in
            do { try LiveVolume(store).volume.end() }
            do {
                let offline = try OfflineVolume(storePath: store)
                try offline.write("lock", to: "device.state")
                #expect(try offline.read("device.state") == "locking\n")
                try offline.write("+10s", to: "device.clock")
                #expect(try offline.read("device.state") == "locked\n")
                try offline.close()
            }
            let again = try OfflineVolume(storePath: store, forReading: true)
            #expect(try again.read("device.state") == "locked\n")
            try again.close()
        }
    }
}
