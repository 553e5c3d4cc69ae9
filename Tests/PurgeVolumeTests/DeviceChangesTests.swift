import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Changes to the device that are made without a control file, and their effects.
struct DeviceChangesTests {
    private static let day: Int64 = 86400
    private static let threeDays = TimeSpan(seconds: 3 * day)

    @Test func theClockAdvances() throws {
        try withVolume { live in
            let before = live.volume.clock.now
            try live.volume.deviceChanges.apply(.clock(Self.threeDays), as: "later", by: LiveVolume.tid)
            let ahead = live.volume.clock.now.nanoseconds - before.nanoseconds
            #expect(ahead >= 3 * Self.day * 1_000_000_000 && ahead < 4 * Self.day * 1_000_000_000)
            #expect(try live.volume.store.loadSettings().clock == 3 * Self.day)
            try live.volume.deviceChanges.apply(.clock(Self.threeDays), as: "later", by: LiveVolume.tid)
            #expect(live.volume.device.clock == 6 * Self.day)
            let events = try live.events(.clock)
            #expect(events.map(\.reason) == ["later", "later"] && events[0].time < events[1].time)
            #expect(events[0].time < live.volume.clock.now.iso8601)
        }
    }

    @Test func aRefusedChangeLeavesTheClock() throws {
        try withVolume { (live) throws in
            #expect(throws: Errno.invalid) {
                try live.volume.deviceChanges.apply(.clock(TimeSpan(seconds: 1 << 33)), as: "", by: 0)
            }
            #expect(live.volume.device.clock == 0)
            #expect(live.volume.clock.now.nanoseconds < System.now() + Self.day * 1_000_000_000)
            #expect(try live.events(.clock).isEmpty)
        }
    }

    /// An advance lets the kernel forget the attributes of the root, and of nodes that it has looked up and not forgotten.
    @Test func theKernelForgetsAttributesOfWhatItKnows() throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            try live.makeDirectory("Documents/d")
            for name in ["a", "b"] { try live.make("Documents/d/\(name)", blocks: 1) }
            let folder = try live.node("Documents")
            let inner = try live.volume.lookup("d", in: folder, caller: LiveVolume.caller).node
            let file = try live.volume.lookup("b", in: inner, caller: LiveVolume.caller).node
            let volume = live.volume
            // Reading the device takes the lock, so the volume must not hold it during this call.
            kernel.meanwhile(.forgetting) { #expect(volume.device.clock == Self.threeDays.seconds) }
            defer { kernel.meanwhile(.forgetting, nil) }
            try live.volume.deviceChanges.apply(.clock(Self.threeDays), as: "later", by: LiveVolume.tid)
            #expect(Set(kernel.forgotten) == [1, inner.address, file.address])
            for node in [inner, file] { live.volume.forget(node, count: 1) }
        }
    }

    /// A thread of the volume can change the device by a rule of its own, with the usual effects.
    @Test func aChangeOfTheDeviceItself() throws {
        try withVolume { live in
            try live.make("tmp/a", blocks: 40)
            try live.make("Documents/b", blocks: 10)
            try live.volume.deviceChanges.make(by: 0) { (device, now) throws(DeviceRefusal) in
                #expect(now <= live.volume.clock.now)
                return try device.apply(.others(.to(ByteCount(blocks: 20))), as: "due", by: 0, at: now)
            }
            #expect(!live.exists("tmp/a") && live.exists("Documents/b"))
            #expect(try live.volume.store.loadSettings().others == ByteCount(blocks: 20))
            #expect(try live.events(.capacity).map(\.reason) == ["due"])
        }
    }
}
