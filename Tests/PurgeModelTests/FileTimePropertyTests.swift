import Support
import Testing

@testable import PurgeModel

/// Random sequences of writes, set times and advances. The model has no stamps: a file has a time, and each advance makes the
/// times of all existing files older by its span.
struct FileTimePropertyTests {
    /// A file with its time in the model, and the stamps that a store would keep.
    private struct File {
        var expected: FileTime
        var stamp: FileTime
        var set = SetTimes()
    }

    private struct World {
        var random: SeededGenerator
        var device = Device(containerID: "00000000-0000-0000-0000-000000000000")
        var files: [File] = []
        /// Real time in nanoseconds; stamps have a granularity of 4 ms.
        var now: Int64 = 1_700_000_000_123_456_789

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        var real: FileTime { FileTime(Instant(nanoseconds: now)) }
        static let tick: Int64 = 4_000_000
        var stamp: FileTime { FileTime(Instant(nanoseconds: now - now % Self.tick)) }

        mutating func step() {
            if random.oneIn(3) { now += Int64(random.below(3_000_000)) }
            switch random.below(20) {
            case 0: advance()
            case 1: now += Int64(random.below(1_000_000)) * 1_000_000_000
            case 2...6: files.append(File(expected: stamp, stamp: stamp))
            case 7...10: write()
            default: setTime()
            }
        }

        private mutating func write() {
            guard !files.isEmpty else { return }
            let index = random.below(files.count)
            (files[index].expected, files[index].stamp) = (stamp, stamp)
        }

        private mutating func setTime() {
            guard !files.isEmpty else { return }
            let (index, time) = (random.below(files.count), someTime())
            let (stamp, isRemembered) = device.fileClock.stamp(for: time, at: real)
            files[index].set.set(stamp, .modification, clock: isRemembered ? device.clock : nil)
            (files[index].expected, files[index].stamp) = (time, stamp)
        }

        /// Returns a random time, often at or near a time already in use.
        private mutating func someTime() -> FileTime {
            let other = files[random.below(files.count)]
            let spans: [Int64] = [0, 1, -1, 3600, 86400 * 5, -86400 * 5, 86400 * 400, 1 << 40]
            let span = spans[random.below(spans.count)]
            return switch random.below(8) {
            case 0: other.expected
            case 1: other.stamp
            case 2: other.expected.earlier(by: span)
            case 3: other.stamp.earlier(by: span)
            case 4: real
            case 5: FileTime(seconds: random.oneIn(2) ? .max : -(1 << 61), nanoseconds: 999_999_999)
            // The nanoseconds rule out a time that a later stamp could have too.
            case 6: FileTime(seconds: real.seconds + Int64(random.below(2_000_000)), nanoseconds: 333_333_333)
            default: real.earlier(by: Int64(random.below(90 * 86400)))
            }
        }

        private mutating func advance() {
            let spans: [Int64] = [1, 60, 86400, 3 * 86400, 21 * 86400, Int64(1 + random.below(1_000_000))]
            let span = spans[random.below(spans.count)]
            now += Self.tick
            let moment = device.fileClock.time(of: stamp)
            _ = try? device.apply(.clock(TimeSpan(seconds: span)), as: "", by: 0, at: moment)
            for index in files.indices { files[index].expected = files[index].expected.earlier(by: span) }
        }

        func shown(_ file: File) -> FileTime { device.fileClock.shown(file.stamp, .modification, of: file.set) }

        /// Writes and reads the state back, as an unmount and a mount do.
        mutating func remount() throws {
            device.history = device.history.isEmpty ? .init() : try #require(ClockHistory(text: device.history.text))
            for index in files.indices where !files[index].set.isEmpty {
                files[index].set = try #require(SetTimes(text: files[index].set.text))
            }
        }
    }

    @Test(arguments: Scale.some(of: 1...40, least: 8)) func timesAgeTogetherAndReadBackAsSet(seed: UInt64) throws {
        var world = World(seed: seed)
        for step in 0..<1500 {
            world.step()
            if step % 100 == 99 { try world.remount() }
            let wrong = world.files.first { world.shown($0) != $0.expected }
            #expect(wrong == nil, "seed \(seed), step \(step)")
            guard wrong == nil else { return }
        }
        #expect(!world.device.history.isEmpty && world.files.count > 100)
        #expect(world.files.contains { !$0.set.isEmpty })
    }
}
