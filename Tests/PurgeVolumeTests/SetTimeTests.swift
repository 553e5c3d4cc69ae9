import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Times that an app sets while the clock is ahead.
struct SetTimeTests {
    private static let day: Int64 = 86400

    /// Times before, within and after the span that the clock skipped, in the future, and at the ends of the range.
    private static var values: [FileTime] {
        let now = LiveVolume.now
        return [
            now, now.earlier(by: 3600), now.earlier(by: Self.day), now.earlier(by: 10 * Self.day),
            now.earlier(by: 20 * Self.day), now.earlier(by: 22 * Self.day), now.earlier(by: 1000 * Self.day),
            now.earlier(by: -60), now.earlier(by: -5 * Self.day), now.earlier(by: -1000 * Self.day),
            FileTime(seconds: 0, nanoseconds: 0), FileTime(seconds: -1, nanoseconds: 999_999_999),
            FileTime(seconds: 1, nanoseconds: 1), FileTime(seconds: -2_000_000_000, nanoseconds: 5),
            FileTime(seconds: 1 << 33, nanoseconds: 123_456_789),
        ]
    }

    @Test func aTimeReadsBackAsSetAndAges() throws {
        try withVolume { live in
            try live.makeDirectory("Documents/d")
            try live.make("Documents/f", blocks: 1)
            for path in ["Documents/f", "Documents/d"] {
                for days in [0, 3, 18] as [Int64] {
                    if days > 0 { try live.advance(days: days) }
                    for (access, modification) in zip(Self.values, Self.values.reversed()) {
                        try live.setTimes(path, access: access, modification: modification)
                        let times = try live.times(path)
                        #expect(times.access == access && times.modification == modification, "\(path) \(days)")
                    }
                }
            }
            // Each value gets a file of its own, so that all of them age at once.
            let values = Self.values
            for (index, value) in values.enumerated() {
                try live.make("tmp/\(index)", blocks: 0)
                try live.setTimes("tmp/\(index)", access: value, modification: value)
            }
            for round in 1...3 as ClosedRange<Int64> {
                try live.advance(days: 2)
                for (index, value) in values.enumerated() {
                    let (times, aged) = (try live.times("tmp/\(index)"), value.earlier(by: round * 2 * Self.day))
                    #expect(times.access == aged && times.modification == aged, "\(index), round \(round)")
                }
            }
            #expect(live.volume.end() == nil)
            let next = try LiveVolume(after: live)
            for (index, value) in values.enumerated() {
                let (times, aged) = (try next.times("tmp/\(index)"), value.earlier(by: 6 * Self.day))
                #expect(times.access == aged && times.modification == aged, "\(index), after the next mount")
            }
            #expect(next.volume.end() == nil)
        }
    }

    /// Setting one of the times, even to the present, leaves the other.
    @Test func theOtherTimeStays() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let (set, other) = (LiveVolume.ago(days: 5), LiveVolume.ago(days: 6))
            try live.setTimes("tmp/f", access: set, modification: other)
            try live.setTimes("tmp/f", modification: LiveVolume.ago(days: 7))
            #expect(try live.times("tmp/f").access == set)
            try live.change(try live.node("tmp/f"), nil) {
                $0.modificationTime = timespec(tv_sec: 0, tv_nsec: System.timeNow)
            }
            let times = try live.times("tmp/f")
            #expect(times.access == set && times.modification > LiveVolume.ago(days: 1))
            try live.advance(days: 1)
            #expect(try live.times("tmp/f").access == set.earlier(by: Self.day))
            #expect(try live.times("tmp/f").modification == times.modification.earlier(by: Self.day))
        }
    }

    @Test func whatMovesTheStampEndsIt() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            try live.setTimes("tmp/f", access: LiveVolume.ago(days: 5), modification: LiveVolume.ago(days: 5))
            let handle = try live.open("tmp/f")
            try live.write(handle, at: 0, 1)
            live.volume.close(handle)
            let written = try live.times("tmp/f").modification
            #expect(written > LiveVolume.ago(days: 1))
            #expect(live.volume.end() == nil)
            let next = try LiveVolume(after: live)
            #expect(try next.times("tmp/f").modification == written)
            try next.advance(days: 1)
            #expect(try next.times("tmp/f").modification == written.earlier(by: Self.day))
            #expect(next.volume.end() == nil)
        }
    }

    /// A stamp that is remembered for one time can later stand for another.
    @Test func aStampThatWasRememberedIsUsedAgain() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            let passed = LiveVolume.now.earlier(by: -3 * Self.day)
            // A time in the future is its own stamp.
            try live.setTimes("tmp/f", modification: passed)
            try live.advance(days: 10)
            #expect(try live.times("tmp/f").modification == passed.earlier(by: 10 * Self.day))
            for _ in 0..<2 {
                try live.setTimes("tmp/f", modification: passed)
                #expect(try live.times("tmp/f").modification == passed)
            }
            let early = LiveVolume.ago(days: 15)
            try live.setTimes("tmp/f", modification: early)
            let stamp = try live.storedTimes("tmp/f").modification
            #expect(stamp == early.earlier(by: -10 * Self.day))
            // The clock skipped `stamp`, so it needs an entry in `SetTimes`. `early` has the same stamp and needs none.
            for time in [stamp, early, stamp, early] {
                try live.setTimes("tmp/f", modification: time)
                let text = try Support.Attributes.get(live.stored("tmp/f"), SetTimes.key)
                let times = SetTimes(text: String(decoding: text, as: UTF8.self))
                #expect((times?.clock(of: stamp, .modification) != nil) == (time == stamp))
                #expect(try live.times("tmp/f").modification == time)
                #expect(try LiveVolume.times(of: "tmp/f", in: live.scanned()) == time)
            }
        }
    }

    @Test func itGoesWithTheFile() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 1)
            try live.advance(days: 21)
            let time = LiveVolume.ago(days: 5)
            try live.setTimes("Documents/f", access: time, modification: time)
            try live.rename("Documents/f", "tmp/g")
            try live.link("tmp/g", "tmp/h")
            try live.change(try live.node("tmp/g"), nil) { $0.mode = 0o444 }
            try live.set("user.x", of: "tmp/g", to: "y")
            for path in ["tmp/g", "tmp/h"] { #expect(try live.times(path).modification == time) }
            #expect(try LiveVolume.times(of: "tmp/h", in: live.scanned()) == time)
            // An app cannot reach the attribute.
            let node = try live.node("tmp/g")
            let names = try live.volume.extendedAttributes.names(of: node, caller: LiveVolume.caller)
            #expect(String(decoding: names, as: UTF8.self) == "user.x\0")
            #expect(throws: Errno.invalid) {
                try live.volume.extendedAttributes.value(of: node, named: SetTimes.key, caller: LiveVolume.caller)
            }
            #expect(throws: Errno.invalid) { try live.set("times", of: "tmp/g", to: "m1.000000000+0") }
            #expect(try Support.Attributes.names(live.stored("tmp/g")).contains(SetTimes.key))
        }
    }

    /// Only times that stamps cannot express are remembered.
    @Test func mostTimesNeedNoAttribute() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.setTimes("tmp/f", access: LiveVolume.ago(days: 1), modification: LiveVolume.now)
            try live.advance(days: 21)
            for time in [LiveVolume.now, LiveVolume.ago(days: 22), FileTime(seconds: 5, nanoseconds: 6)] {
                try live.setTimes("tmp/f", access: time, modification: time)
                #expect(try live.times("tmp/f").modification == time)
            }
            #expect(try !Support.Attributes.names(live.stored("tmp/f")).contains(SetTimes.key))
        }
    }

    /// Only root can set the attribute on links and special files. For other users the time is known until the unmount.
    @Test(arguments: [false, true]) func linksHaveOneOfRoot(isRefused: Bool) throws {
        try withVolume { live in
            try live.symlink("tmp/l")
            try live.makeFIFO("tmp/p")
            try live.advance(days: 21)
            for path in ["tmp/l", "tmp/p"] {
                for time in Self.values where !isRefused {
                    try live.setTimes(path, access: time, modification: time)
                    #expect(try live.times(path).modification == time, "\(path)")
                    #expect(try LiveVolume.times(of: path, in: live.scanned()) == time)
                }
                let (early, passed) = (LiveVolume.ago(days: 25), LiveVolume.ago(days: 5))
                try live.setTimes(path, access: early, modification: early)
                let setter = SystemCallFaults(after: 0, of: .setxattr, code: EPERM, count: isRefused ? 1 : 0)
                try setter.during { try live.setTimes(path, modification: passed) }.result.get()
                #expect(try live.times(path).modification == passed)
                let next = try LiveVolume.times(of: path, in: live.scanned())
                #expect(next == (isRefused ? passed.earlier(by: 21 * Self.day) : passed))
                let node = try live.node(path)
                #expect(throws: Errno.invalid) {
                    try live.volume.extendedAttributes.value(
                        of: node, named: SetTimes.linkKey, caller: LiveVolume.caller)
                }
                #expect(try live.volume.extendedAttributes.names(of: node, caller: LiveVolume.caller).isEmpty)
            }
        }
    }

    /// No room for the attribute does not mean that the disk under the store is full, so nothing reports that. A time that the
    /// store cannot keep is known until the unmount.
    @Test(arguments: [ENOSPC, EDQUOT, E2BIG, ERANGE], ["tmp/f", "tmp/d"])
    func thereIsNoRoomForTheAttribute(code: Int32, path: String) throws {
        try withVolume { live in
            if path == "tmp/d" { try live.makeDirectory(path) } else { try live.make(path, blocks: 1) }
            let noRoom = SystemCallFaults(after: 0, of: .setxattr, code: code, count: .max)
            var aged = FileTime(seconds: 0, nanoseconds: 0)
            for days in [0, 21] as [Int64] {
                if days > 0 { try live.advance(days: days) }
                // One time is in the future, and the other in the span that the clock skipped.
                for time in [LiveVolume.ago(days: -5), LiveVolume.ago(days: 5)].prefix(days > 0 ? 2 : 1) {
                    let outcome = noRoom.during { try live.setTimes(path, access: time, modification: time) }
                    try outcome.result.get()
                    #expect(outcome.hits == 1)
                    #expect(try live.times(path).modification == time && live.times(path).access == time)
                    aged = time
                }
            }
            try live.advance(days: 2)
            #expect(try live.times(path).modification == aged.earlier(by: 2 * Self.day))
            #expect(try live.events(.hostFull).isEmpty)
            #expect(live.volume.core.hostRefusals.load(ordering: .relaxed) == 0)
            // Any other failure reaches the caller.
            let failing = SystemCallFaults(after: 0, of: .setxattr, code: EIO).during {
                try live.setTimes(path, modification: LiveVolume.ago(days: 6))
            }
            #expect(throws: Errno.ioError) { try failing.result.get() }
        }
    }

    /// A damaged attribute is ignored on a file, and does no harm on the container.
    @Test(arguments: [
        "", "x", "m", "m1", "m1.000000000", "m1.000000000+-1", "m1.000000000+99999999999999999999",
        "m9223372036854775807.999999999+4294967296", "m-9223372036854775808.000000000+0",
        String(repeating: "m1.000000000+1 ", count: 200),
    ])
    func aDamagedAttributeCountsForNothing(value: String) throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let time = LiveVolume.ago(days: 30)
            try live.setTimes("tmp/f", access: time, modification: time)
            try Support.Attributes.set(live.stored("tmp/f"), SetTimes.key, value)
            #expect(try LiveVolume.times(of: "tmp/f", in: live.scanned()) == time)
            try Support.Attributes.set(live.storePath + "/container", SetTimes.key, value)
            let next = try live.scanned()
            _ = try next.attributes(of: next.root)
        }
    }

    /// If a store has lost its settings, its files may have times that were set while its clock was further ahead. These
    /// times still read as they were set.
    @Test func aClockThatWentBackShowsNothingInTheFuture() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let time = LiveVolume.ago(days: 5)
            try live.setTimes("tmp/f", modification: time)
            let fresh = try Volume(
                store: live.volume.store, device: Device.fresh(), journal: live.volume.keeper.journal, mountpoint: nil,
                port: NoKernel())
            #expect(try LiveVolume.times(of: "tmp/f", in: fresh) == time)
        }
    }
}

extension LiveVolume {
    /// Returns a file's modification time as another volume of the store shows it.
    static func times(of path: String, in volume: Volume) throws -> FileTime {
        var node = volume.root
        for name in path.split(separator: "/") {
            node = try volume.lookup(String(name), in: node, caller: caller).node
            volume.forget(node, count: 1)
        }
        return FileTime(try volume.attributes(of: node).status.st_mtim)
    }
}
