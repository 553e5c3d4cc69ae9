import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Changes to the device that are due at a moment: the end of locking, and the removal of aged files in tmp.
struct DeviceTimerTests {
    private func state(_ live: LiveVolume) -> String { live.volume.controlFiles.text(of: .deviceState) }

    /// Lets locking end this many nanoseconds from now, and returns the moment.
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
            let before = live.volume.clock.now
            try live.command(.deviceState, "lock")
            let end = live.volume.device.lock.locksAt
            #expect(end >= before.advanced(by: DeviceLock.lockingTime))
            #expect(end <= live.volume.clock.now.advanced(by: DeviceLock.lockingTime))
            live.volume.clock.set(secondsAhead: 9)
            let seen = state(live)
            if live.volume.clock.now < end { #expect(seen == "locking\n") }
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

    /// The volume's thread wakes up for the change; nobody asks for the state.
    @Test func itIsLockedByItself() throws {
        try withVolume { live in
            try live.volume.startThreads()
            try live.command(.deviceState, "lock")
            let end = try endLocking(live, after: 20_000_000)
            try eventually("a locked device") { live.volume.device.state == .locked }
            #expect(live.volume.clock.now >= end)
            try eventually("a device that is saved") {
                try live.volume.store.loadSettings().state == .locked
            }
            live.volume.end()
        }
    }

    /// Access expires at its own moment, after the lock.
    @Test func anAdvanceOfTheClockEndsAccess() throws {
        try withVolume { live in
            try live.command(.deviceState, "lock")
            try live.command(.deviceClock, "+2h")
            #expect(live.volume.device.state == .inactive && state(live) == "locked\n")
            let events = try live.journal().filter { $0.type == .device || $0.type == .clock }
            #expect(events.map(\.reason) == ["locking", "device.clock=+2h", "locked", "inactive"])
            #expect(events.map(\.time) == events.map(\.time).sorted())
            #expect(try live.volume.store.loadSettings().state == .inactive)
        }
    }

    /// The volume's thread wakes up for the expiry. The write of a setting that ends access returns after that.
    @Test func accessExpiresByItself() throws {
        try withVolume { live in
            try live.volume.startThreads()
            try live.command(.deviceState, "lock")
            _ = try endLocking(live, after: 0)
            #expect(state(live) == "locked\n" && live.volume.device.state == .locked)
            try live.volume.deviceChanges.make(by: 0) { device, now in
                device.lock.inactiveAt = Instant(nanoseconds: now.nanoseconds + 20_000_000)
                return []
            }
            try eventually("the expiry") { live.volume.device.state == .inactive }
            try live.command(.deviceState, "unlock")
            try live.command(.deviceState, "lock")
            _ = try endLocking(live, after: 0)
            #expect(state(live) == "locked\n" && live.volume.device.state == .locked)
            try live.command(.deviceInactivity, "0")
            #expect(live.volume.device.state == .inactive)
            #expect(live.volume.controlFiles.text(of: .deviceInactivity) == "0s\n")
            live.volume.end()
        }
    }

    /// The moment of the expiry survives remounts, and time in between counts.
    @Test func accessExpiresDuringTheNextMount() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.deviceInactivity, "30m")
                try live.command(.deviceState, "lock")
                try live.command(.deviceClock, "+10m")
                #expect(live.volume.device.state == .locked)
                live.volume.end()
            }
            do {
                let next = try LiveVolume(store)
                #expect(next.volume.device.state == .locked)
                #expect(next.volume.controlFiles.text(of: .deviceInactivity) == "30m\n")
                next.volume.clock.set(secondsAhead: 600 + 1800)
                #expect(state(next) == "locked\n" && next.volume.device.state == .inactive)
                next.volume.end()
            }
            let last = try LiveVolume(store)
            #expect(last.volume.device.state == .inactive)
            last.volume.end()
        }
    }

    /// A read that begins at the end of locking or later returns `locked`, and a read that ends earlier returns `locking`.
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

    /// The next mount continues locking, and does not delay its end.
    @Test func lockingGoesOnWithTheNextMount() throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.command(.deviceState, "lock")
                live.volume.end()
            }
            let next = try LiveVolume(store)
            #expect(next.volume.device.state == .locking)
            next.volume.clock.set(secondsAhead: 10)
            #expect(state(next) == "locked\n")
            next.volume.end()
        }
    }

    /// Setting the clock back leaves the end of locking far away, so locking then takes ten seconds from now.
    @Test(arguments: [false, true]) func theMachinesClockIsSetBack(hasThread: Bool) throws {
        try withVolume { live in
            if hasThread { try live.volume.startThreads() }
            try live.command(.deviceState, "lock")
            _ = try endLocking(live, after: 3_600_000_000_000)
            if hasThread {
                try eventually("a moment that is close") {
                    live.volume.device.lock.locksAt <= live.volume.clock.now.advanced(by: DeviceLock.lockingTime)
                }
            }
            #expect(state(live) == "locking\n")
            live.volume.clock.set(secondsAhead: 10)
            #expect(state(live) == "locked\n")
            live.volume.end()
        }
    }

    /// The events have the times at which the changes were due.
    @Test func whatWasDueLongAgoIsDone() throws {
        try withVolume(settings: {
            LiveVolume.small(&$0)
            ($0.lock.state, $0.lock.locksAt) = (.locking, Instant(seconds: 1_000_000_000, nanoseconds: 0))
        }) { (live) throws in
            #expect(live.volume.device.state == .inactive)
            #expect(
                try live.events(.device).map(\.time) == ["2001-09-09T01:46:40.000Z", "2001-09-09T02:46:40.000Z"])
            live.volume.keeper.saveDevice()
            #expect(try live.volume.store.loadSettings().state == .inactive)
        }
    }

    /// A read that must not wait gets nil while a change is due or being carried out.
    @Test func whatIsReadAtOnceDoesNotWait() throws {
        let volume = Mutex<Volume?>(nil)
        let amid = Mutex<[String?]>([])
        @Sendable func text() -> String? {
            let handle = ControlHandle(file: .deviceState, reader: nil)
            let files = volume.withLock { $0 }?.controlFiles
            return (files?.readAtOnce(handle, offset: 0, limit: 100)).map { String(decoding: $0, as: UTF8.self) }
        }
        let kernel = FakeKernel(on: .dropping) {
            let text = text()
            amid.withLock { $0.append(text) }
        }
        try withVolume(port: kernel) { live in
            volume.withLock { $0 = live.volume }
            defer { volume.withLock { $0 = nil } }
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.set("fileProtection", of: "Documents/f", to: "complete")
            #expect(text() == "unlocked\n")
            try live.command(.deviceState, "lock")
            #expect(text() == "locking\n")
            _ = try endLocking(live, after: -1)
            #expect(text() == nil && live.volume.device.state == .locking)
            #expect(state(live) == "locked\n")
            #expect(amid.withLock { $0 } == [nil])
            #expect(text() == "locked\n")
        }
    }

    /// Without a mount no timer thread runs, but the device is locked once the time has come, and stays so.
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

    /// Creates a volume in profile `device` with three old files in `tmp`, on a day whose removal has not run. They have more
    /// than 10 MiB, and less than three times `desired` is free.
    private func withAgedFiles(_ kernel: FakeKernel, _ body: (LiveVolume) throws -> Void) throws {
        try withVolume(
            port: kernel,
            settings: { settings in
                settings.total = ByteCount(blocks: 3000)
                settings.thresholds = .off
            }
        ) { live in
            _ = try live.volume.lookup("tmp", in: live.volume.root, caller: LiveVolume.caller)
            for name in ["a", "d/b", "d/e/c"] {
                if name.contains("d/b") { try live.makeDirectory("tmp/d") }
                if name.contains("/e/") { try live.makeDirectory("tmp/d/e") }
                try live.make("tmp/\(name)", blocks: 900)
            }
            try live.command(.storageProfile, "device")
            try live.command(.storageThresholds, "desired=\(101 * 4096)")  // 300 blocks are free
            live.volume.clock.set(secondsAhead: 4 * 86400)
            try body(live)
        }
    }

    /// Locking ends in time even while the removal of aged files waits for an announcement.
    @Test func lockingEndsWhileTmpIsLookedAt() throws {
        let kernel = FakeKernel(holdsAnnouncements: true)
        try withAgedFiles(kernel) { live in
            try live.command(.deviceState, "lock")
            try live.volume.startThreads()
            try eventually("the first announcement") { kernel.unfinished > 0 }
            _ = try endLocking(live, after: 0)
            let reading = Workers.start(1) { _ in
                #expect(live.volume.controlFiles.text(of: .deviceState) == "locked\n")
            }
            let outcome = Result { try reading.join(within: 10) }
            let isOver = Mutex(false)
            let telling = Workers.start(1) { _ in
                while !isOver.withLock({ $0 }) {
                    kernel.finish()
                    usleep(1000)
                }
            }
            try eventually("the end of it") { live.used == 0 }
            live.volume.end()
            isOver.withLock { $0 = true }
            try telling.join(within: 10)
            try outcome.get()
        }
    }

    /// The end of the volume interrupts the removal of aged files, which then stays due.
    @Test func theEndInterruptsTheLookAtTmp() throws {
        let volume = Mutex<Volume?>(nil)
        let kernel = FakeKernel(on: .announcing) {
            volume.withLock { $0 }?.core.isEnding.store(true, ordering: .sequentiallyConsistent)
        }
        try withAgedFiles(kernel) { live in
            volume.withLock { $0 = live.volume }
            defer { volume.withLock { $0 = nil } }
            live.volume.deviceTimer.runAgeing()
            #expect(live.used == 1800)
            #expect(live.volume.device.ageing.isDue(at: live.volume.clock.now))
            live.volume.end()
        }
    }
}
