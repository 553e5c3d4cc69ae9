import Glibc
import PurgeModel
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// utimensat(2) with a failing system call, and with concurrent readers: a file has the old time or the new one, never
/// another.
struct SetTimeFaultTests {
    /// Stamps can express some of the times, and the others must be remembered.
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

    /// A reader interrupts a change before each of its system calls.
    @Test func aReaderDuringAChange() throws {
        try withTimes { live, node, times in
            for (old, time) in zip(times, times.dropFirst() + [times[0]]) {
                try live.setTimes("tmp/f", access: old, modification: old)
                var number = 0
                while true {
                    var seen: LiveVolume.Times?
                    let outcome = SystemCallFaults.running(
                        { seen = try? live.times(of: node) }, before: nil, after: number
                    ) {
                        try live.setTimes("tmp/f", access: time, modification: time)
                    }
                    try outcome.result.get()
                    guard outcome.hits > 0 else { break }
                    try Self.expect(try #require(seen), among: [old, time], "call \(number)")
                    number += 1
                    try live.setTimes("tmp/f", access: old, modification: old)
                }
                #expect(number > 1)
            }
        }
    }

    /// Changes occur between the two halves of a read: the stamps of the file, and the times remembered with them.
    @Test(arguments: 1...6) func changesDuringALook(count: Int) throws {
        try withTimes { live, node, times in
            for start in times.indices {
                let old = times[start]
                try live.setTimes("tmp/f", access: old, modification: old)
                let new = (1...count).map { times[(start + $0) % times.count] }
                // Between the two halves, a read asks for the birth.
                let outcome = SystemCallFaults.running(
                    { for time in new { try? live.setTimes("tmp/f", access: time, modification: time) } },
                    before: .statx
                ) { try live.times(of: node) }
                #expect(outcome.hits == 1)
                try Self.expect(try outcome.result.get(), among: [old] + new, "from \(start)")
            }
        }
    }

    /// All times have the same nanoseconds, because a reader may get the seconds of one time and the nanoseconds of another:
    /// the kernel reads them one after the other.
    @Test func readersSeeTimesThatWereSet() throws {
        try withTimes { live, node, times in
            let volume = live.volume
            try live.setTimes("tmp/f", access: times[0], modification: times[0])
            try Workers.run(3) { worker in
                for round in 0..<Scale.of(3000) {
                    if worker == 0 {
                        let change = LiveVolume.change(ofTimesTo: times[round % times.count])
                        _ = try volume.answering { (debt) throws(Errno) in
                            try volume.setAttributes(of: node, handle: nil, change, debt: &debt)
                        }.announced()
                    } else {
                        try Self.expect(try live.times(of: node), among: times, "round \(round)")
                    }
                }
            }
        }
    }

    /// Makes `tmp/f`, and calls `body` with five time stamps to set. The volume has to remember only some of them.
    private func withTimes(_ body: (LiveVolume, Node, [FileTime]) throws -> Void) throws {
        try withVolume { live in
            try live.make("tmp/f", blocks: 1)
            try live.advance(days: 21)
            let now = LiveVolume.ago(days: 0)
            try body(live, try live.node("tmp/f"), [5, 30, 6, 40, 7].map { now.earlier(by: $0 * 86400) })
        }
    }

    private static func expect(_ seen: LiveVolume.Times, among times: [FileTime], _ label: String) throws {
        #expect(times.contains(seen.access) && times.contains(seen.modification), "\(label): \(seen)")
    }
}
