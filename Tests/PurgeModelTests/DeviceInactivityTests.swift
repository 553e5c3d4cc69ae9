import PurgeModel
import Testing

/// The expiry of access to files of class `completeWhenUserInactive`, some time after the lock.
@Suite struct DeviceInactivityTests {
    private static let start = Instant(seconds: 1_795_348_800, nanoseconds: 0)
    private static func after(_ seconds: Int64) -> Instant { start.advanced(by: TimeSpan(seconds: seconds)) }
    private static func justBefore(_ seconds: Int64) -> Instant { Instant(nanoseconds: after(seconds).nanoseconds - 1) }

    /// A device that was locked at 12:00:00, so that `locking` ends at 12:00:10.
    private static func locking(_ inactivity: Int64 = 3600) throws -> Device {
        var device = Device(containerID: "3F2504E0-4F89-41D3-9A0C-0305E82C3301")
        device.lock.inactivity = TimeSpan(seconds: inactivity)
        _ = try device.apply(.lock, as: "", by: 7, at: start)
        return device
    }
    private static func locked(_ inactivity: Int64 = 3600) throws -> Device {
        var device = try locking(inactivity)
        _ = device.proceed(to: after(10))
        return device
    }

    private static func told(_ reason: LockState, _ time: String) -> [DeviceEffect] {
        [
            .event(Event(time: "2026-11-22T\(time).000Z", type: .device, reason: reason.rawValue)), .lockState(reason),
        ]
    }
    /// The event of the setting, on a device of 64 GiB that is empty.
    private static func set(_ time: String) -> DeviceEffect {
        .event(
            Event(
                time: "2026-11-22T\(time).000Z", type: .capacity, bytes: ByteCount(64 << 30), reason: "as told", pid: 7)
        )
    }

    private static func admits(_ device: Device, _ kind: FileProtection = .completeWhenUserInactive) -> Bool {
        device.protectionRule.admits(.use, own: kind)
    }

    @Test func accessExpiresAnHourAfterTheLock() throws {
        var device = try Self.locked()
        #expect(device.nextDue == Self.after(3610))
        #expect(!device.isDue(at: Self.justBefore(3610)) && device.isDue(at: Self.after(3610)))
        #expect(device.proceed(to: Self.justBefore(3610)) == [])
        #expect(device.state == .locked && Self.admits(device) && !Self.admits(device, .complete))
        #expect(device.proceed(to: Self.after(3610)) == Self.told(.inactive, "13:00:10") + [.save])
        #expect(device.state == .inactive && device.state.shown == .locked && !Self.admits(device))
        #expect(Self.admits(device, .completeUnlessOpen) && Self.admits(device, .completeUntilFirstUserAuthentication))
        #expect(device.nextDue == nil && device.proceed(to: Self.after(86400)) == [])
    }

    /// One advance of the clock ends `locking` and access, each at its own moment, with one save.
    @Test func theClockPassesBothMoments() throws {
        var device = try Self.locking()
        let effects = try device.apply(.clock(TimeSpan(seconds: 7200)), as: "as told", by: 7, at: Self.start)
        #expect(
            effects == [
                .event(Event(time: "2026-11-22T12:00:00.000Z", type: .clock, reason: "as told", pid: 7)),
                .clock(secondsAhead: 7200),
            ] + Self.told(.locked, "12:00:10") + Self.told(.inactive, "13:00:10") + [.forgetAttributes, .save])
        #expect(device.state == .inactive)
    }

    /// The time until the expiry is counted from the end of `locking`, even if the end is noticed late.
    @Test func aLateTimerDelaysNothing() throws {
        var device = try Self.locking()
        #expect(device.proceed(to: Self.after(500)) == Self.told(.locked, "12:00:10") + [.save])
        #expect(device.nextDue == Self.after(3610))
        #expect(device.proceed(to: Self.after(5000)) == Self.told(.inactive, "13:00:10") + [.save])
    }

    @Test func anUnlockGivesAccessBack() throws {
        var device = try Self.locked()
        _ = device.proceed(to: Self.after(3610))
        #expect(try device.apply(.lock, as: "", by: 7, at: Self.after(3700)) == [])
        _ = try device.apply(.unlock, as: "", by: 7, at: Self.after(4000))
        #expect(device.state == .unlocked && Self.admits(device) && device.nextDue == nil)
        _ = try device.apply(.lock, as: "", by: 7, at: Self.after(5000))
        _ = device.proceed(to: Self.after(5010))
        #expect(device.nextDue == Self.after(8610) && Self.admits(device))
    }

    /// An unlock before the expiry, or a reboot, ends the waiting.
    @Test func nothingExpiresLater() throws {
        var unlocked = try Self.locked()
        _ = try unlocked.apply(.unlock, as: "", by: 7, at: Self.after(3609))
        #expect(unlocked.nextDue == nil && unlocked.lock.inactiveAt == .distantPast)
        var booted = try Self.locked()
        _ = try booted.apply(.reboot, as: "", by: 7, at: Self.after(3609))
        _ = booted.finish(newID: "", freed: .zero, by: 7, at: Self.after(3609))
        #expect(booted.nextDue == nil && !Self.admits(booted))
        #expect(booted.proceed(to: Self.after(86400)) == [])
    }

    /// With 0, the class is as `complete`.
    @Test func withoutAnyTimeAccessExpiresAtTheLock() throws {
        var device = try Self.locking(0)
        #expect(device.proceed(to: Self.justBefore(10)) == [] && Self.admits(device))
        #expect(
            device.proceed(to: Self.after(10))
                == Self.told(.locked, "12:00:10") + Self.told(.inactive, "12:00:10") + [.save])
    }

    /// Another setting counts from the lock.
    @Test(arguments: [(7200, 7210), (3600, 3610), (600, 610), (491, 501)] as [(Int64, Int64)])
    func theTimeIsSetWhileLocked(inactivity: Int64, due: Int64) throws {
        var device = try Self.locked()
        let change = DeviceChange.inactivity(TimeSpan(seconds: inactivity))
        #expect(try device.apply(change, as: "as told", by: 7, at: Self.after(500)) == [Self.set("12:08:20"), .save])
        #expect(device.nextDue == Self.after(due) && device.state == .locked)
        #expect(device.lock.inactivity == TimeSpan(seconds: inactivity))
    }

    /// Access expires with the setting if the new time is already over.
    @Test(arguments: [490, 60, 0] as [Int64]) func theTimeIsOverWhenItIsSet(inactivity: Int64) throws {
        var device = try Self.locked()
        let change = DeviceChange.inactivity(TimeSpan(seconds: inactivity))
        #expect(
            try device.apply(change, as: "as told", by: 7, at: Self.after(500))
                == [Self.set("12:08:20")] + Self.told(.inactive, "12:08:20") + [.save])
    }

    /// A longer time does not bring access back, and a setting in another state only applies to the next lock.
    @Test func theTimeIsSetInAnotherState() throws {
        let change = DeviceChange.inactivity(TimeSpan(seconds: 86400))
        var expired = try Self.locked()
        _ = expired.proceed(to: Self.after(3610))
        _ = try expired.apply(change, as: "", by: 7, at: Self.after(4000))
        #expect(expired.state == .inactive && expired.nextDue == nil)
        var locking = try Self.locking()
        _ = try locking.apply(change, as: "", by: 7, at: Self.after(5))
        #expect(locking.nextDue == Self.after(10))
        _ = locking.proceed(to: Self.after(10))
        #expect(locking.nextDue == Self.after(86410))
    }

    /// Access expires at most the full time from now, even if the machine's clock was set back or device.json was edited.
    @Test func itNeverTakesLonger() throws {
        var device = try Self.locked()
        for moment in [Instant(nanoseconds: .max), Self.after(86400)] {
            device.lock.inactiveAt = moment
            #expect(device.isDue(at: Self.start) && device.proceed(to: Self.start) == [])
            #expect(device.nextDue == Self.after(3600) && !device.isDue(at: Self.start))
        }
        device.lock.inactiveAt = .distantPast
        #expect(device.proceed(to: Self.start) == Self.told(.inactive, "12:00:00") + [.save])
    }

    /// A device that a mount starts as locked has been locked just now. It keeps its settings.
    @Test func aDeviceThatStartsLocked() throws {
        var device = try Self.locking(60)
        var change = SettingsChange()
        change.lock = .locked
        try device.take(change)
        #expect(device.proceed(to: Self.after(500)) == [] && device.nextDue == Self.after(560))
        #expect(device.proceed(to: Self.after(560)) == Self.told(.inactive, "12:09:20") + [.save])
    }

    @Test func whatADeviceCannotHave() throws {
        for (seconds, isValid) in [(-1, false), (0, true), (1 << 32, true), ((1 << 32) + 1, false)] as [(Int64, Bool)] {
            var device = try Self.locked()
            device.lock.inactivity = TimeSpan(seconds: seconds)
            var fault: DeviceFault?
            do throws(DeviceFault) { try device.validate() } catch { fault = error }
            #expect(fault?.reason == (isValid ? nil : "\(seconds) is not from 0 to 2^32 seconds"))
            #expect(fault?.name == (isValid ? nil : "inactivity"))
        }
    }

    @Test func aRestoredDeviceKeepsTheSetting() throws {
        let restored = try Self.locked(60).restored(containerID: "6FA459EA-EE8A-3CA4-894E-DB77E160355E")
        #expect(restored.lock.inactivity == TimeSpan(seconds: 60) && restored.state == .unlocked)
    }
}
