import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support
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

    @Test func readersSeeTheOldTimeOrTheNew() throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let times = [5, 30, 6, 40, 7].map { LiveVolume.ago(days: $0) }
            let node = try live.node("tmp/f")
            try live.setTimes("tmp/f", access: times[0], modification: times[0])
            let (volume, allowed) = (live.volume, Set(times))
            try Workers.run(3) { worker in
                for round in 0..<2000 {
                    if worker == 0 {
                        let change = LiveVolume.change(ofTimesTo: times[round % times.count])
                        _ = try volume.answering { (debt) throws(Errno) in
                            try volume.setAttributes(of: node, handle: nil, change, debt: &debt)
                        }.announced()
                    } else {
                        let status = try volume.attributes(of: node).status
                        let seen = [FileTime(status.st_atim), FileTime(status.st_mtim)]
                        #expect(allowed.isSuperset(of: seen))
                    }
                }
            }
        }
    }
}
