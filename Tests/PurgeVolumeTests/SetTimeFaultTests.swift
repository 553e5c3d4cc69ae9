import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// utimensat(2) in which a call fails, and readers beside it: a file has the old time or the new one, never another.
struct SetTimeFaultTests {
    /// To and from times that are remembered and that are not.
    @Test func aFileHasOneOfBothTimes() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let times = [5, 30, 6, 7, 40].map { LiveVolume.ago(days: $0) }
            var (faults, old) = (0, times[4])
            try live.setTimes("tmp/f", access: old, modification: old)
            for time in times {
                for code in [EIO] {
                    var after = 0
                    while true {
                        let outcome = SystemCallFaults(after: after, code: code, count: 1).during {
                            try live.setTimes("tmp/f", access: time, modification: time)
                        }
                        let seen = try live.times("tmp/f")
                        #expect(seen.modification == old || seen.modification == time, "call \(after), \(code)")
                        #expect(seen.access == old || seen.access == time, "call \(after), \(code)")
                        #expect(try LiveVolume.times(of: "tmp/f", in: live.scanned()) == seen.modification)
                        guard outcome.hits > 0 else { break }
                        faults += 1
                        after += 1
                    }
                    try live.setTimes("tmp/f", access: old, modification: old)
                }
                try live.setTimes("tmp/f", access: time, modification: time)
                old = time
            }
            #expect(faults >= 20)
        }
    }

    /// Unless the time is set again while they read it; one time may be under way. All have the same nanoseconds: the
    /// kernel reads seconds and nanoseconds one after the other, and a reader may get them of two times.
    @Test func readersSeeTheOldTimeOrTheNew() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let now = LiveVolume.ago(days: 0)
            let times = [5, 30, 6, 40, 7].map { now.earlier(by: $0 * 86400) }
            let node = try live.node("tmp/f")
            try live.setTimes("tmp/f", access: times[0], modification: times[0])
            let (volume, allowed) = (live.volume, Set(times))
            let begun = Atomic<Int>(0)
            let checked = Atomic<Int>(0)
            try Workers.run(3) { worker in
                for round in 0..<3000 {
                    if worker == 0 {
                        begun.add(1, ordering: .sequentiallyConsistent)
                        let change = LiveVolume.change(ofTimesTo: times[round % times.count])
                        _ = try volume.answering { (debt) throws(Errno) in
                            try volume.setAttributes(of: node, handle: nil, change, debt: &debt)
                        }.announced()
                    } else {
                        let before = begun.load(ordering: .sequentiallyConsistent)
                        let status = try volume.attributes(of: node).status
                        guard begun.load(ordering: .sequentiallyConsistent) == before else { continue }
                        checked.add(1, ordering: .relaxed)
                        let seen = [FileTime(status.st_atim), FileTime(status.st_mtim)]
                        #expect(allowed.isSuperset(of: seen))
                    }
                }
            }
            #expect(checked.load(ordering: .relaxed) > 100)
        }
    }
}
