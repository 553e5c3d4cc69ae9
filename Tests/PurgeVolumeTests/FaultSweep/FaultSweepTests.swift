import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// Each system call of each operation that changes something fails in turn: once, twice, or from then on.
struct FaultSweepTests {
    /// With EINTR from then on, each call is interrupted once, because no kernel interrupts a call forever.
    private static let kinds: [(code: Int32, count: Int)] = [
        (EIO, 1), (ENOSPC, 1), (EMFILE, 1), (EINTR, 2), (EIO, .max), (ENOSPC, .max), (EMFILE, .max), (EINTR, .max),
    ]

    /// Returns all kinds at full scale, and two otherwise. Which two depends on the operation, so each kind is tried on a
    /// quarter of the operations.
    private static func kinds(for operation: Int) -> [(code: Int32, count: Int)] {
        guard Scale.factor < 1 else { return kinds }
        return [kinds[operation % kinds.count], kinds[(operation + kinds.count / 2 + 1) % kinds.count]]
    }

    private static func roomy(_ settings: inout Device) {
        settings.total = ByteCount(blocks: 4096)
        settings.thresholds = .off
    }

    /// The number of faults and of refused operations, and the problems that `FaultStage` found after the faults.
    private final class Tally: Sendable {
        let next = Atomic<Int>(0)
        let faults = Atomic<Int>(0)
        let refused = Atomic<Int>(0)
        let problems = Mutex<[String]>([])
    }

    @Test func anyCallMayFail() throws {
        let operations = FaultyOperation.all
        let tally = Tally()
        try Workers.run(2) { _ in
            while true {
                let index = tally.next.wrappingAdd(1, ordering: .relaxed).oldValue
                guard index < operations.count else { return }
                try Self.sweep(operations[index], Self.kinds(for: index), tally)
            }
        }
        let (faults, refused) = (tally.faults.load(ordering: .relaxed), tally.refused.load(ordering: .relaxed))
        print("\(faults) faults in \(operations.count) operations, \(refused) of them with an error as the answer")
        let problems = tally.problems.withLock { $0 }
        #expect(problems.isEmpty, "\(problems.count) problems: \(problems.prefix(40).joined(separator: "\n"))")
        #expect(faults >= (Scale.factor < 1 ? 500 : 2000))
        #expect(refused > faults / 4)
    }

    private static func sweep(
        _ operation: FaultyOperation, _ kinds: [(code: Int32, count: Int)], _ tally: Tally
    ) throws {
        let kernel = FakeKernel()
        defer {
            let unpaid = kernel.reports.map(\.what).filter { $0 == "the announcement of purged names was not awaited" }
            tally.problems.withLock { $0 += unpaid.map { "\(operation.name): \($0)" } }
        }
        try withVolume(port: kernel, settings: roomy) { live in
            let baseline = try FaultStage.Baseline(live)
            for kind in kinds {
                var after = 0
                while let problems = try fail(operation, baseline, after: after, kind.code, kind.count, tally) {
                    tally.problems.withLock { $0 += problems }
                    after += 1
                }
                if after == 0 { tally.problems.withLock { $0.append("\(operation.name) makes no system call") } }
            }
        }
    }

    /// Returns the problems after the fault; nil if no call was left to fail.
    private static func fail(
        _ operation: FaultyOperation, _ baseline: FaultStage.Baseline, after: Int, _ code: Int32, _ count: Int,
        _ tally: Tally
    ) throws -> [String]? {
        let stage = FaultStage(baseline)
        let faults = SystemCallFaults(after: after, code: code, count: count)
        // The operation's closure owns the handles, and is gone before they are closed.
        let outcome = faults.during(try operation.prepare(stage))
        if case .failure(let error as Errno) = outcome.result {
            tally.refused.add(1, ordering: .relaxed)
            if outcome.hits == 0 { stage.note("\(error) without a fault") }
            if error.answer == ENOSPC { stage.note("ENOSPC, though the device has room") }
            if code == EINTR { stage.note("\(error), though an interrupted call is to be made again") }
        } else if case .failure(let error) = outcome.result {
            throw error
        }
        try stage.check()
        guard outcome.hits > 0 else {
            if !stage.problems.isEmpty {
                tally.problems.withLock { $0.append("\(operation.name) without a fault: \(stage.problems)") }
            }
            return nil
        }
        tally.faults.add(1, ordering: .relaxed)
        let call = outcome.firstHit?.rawValue ?? "?"
        let errno = "\(Errno(code))\(count == 1 ? "" : count == .max ? " from then on" : " times \(count)")"
        return stage.problems.map { "\(operation.name), call \(after + 1), \(call), \(errno): \($0)" }
    }

    /// Each system call at the end of a volume may fail. The next mount finds the same numbers, and no half-written file is
    /// left. Without a fault, or with EINTR, the end reports no loss.
    @Test func theEndMayFail() throws {
        var faults = 0
        for kind in Self.kinds {
            var after = 0
            while try failAtTheEnd(after: after, kind.code, kind.count) { after += 1 }
            faults += after
        }
        print("\(faults) faults at the end of a volume")
        #expect(faults >= 50)
    }

    private func failAtTheEnd(after: Int, _ code: Int32, _ count: Int) throws -> Bool {
        try withStore { path in
            let live = try LiveVolume(path, settings: Self.roomy)
            try live.make("Documents/f", blocks: 2)
            try live.mark("Documents/f", "high")
            try live.make("tmp/g", blocks: 3)
            try live.command(.storageOthers, "64K")
            try live.command(.storageReclaim, "4096")
            let numbers = live.numbers
            let outcome = SystemCallFaults(after: after, code: code, count: count).during { live.volume.end() }
            let loss = try outcome.result.get()
            let label = "call \(after + 1), \(outcome.firstHit?.rawValue ?? "none"), \(Errno(code)) times \(count)"
            if outcome.hits == 0 || code == EINTR { #expect(loss == nil, "\(label)") }
            let next = try LiveVolume(after: live)
            #expect(next.numbers == numbers, "\(label)")
            #expect(next.volume.end() == nil, "\(label)")
            let left = try Files.names(in: path).filter { $0.hasSuffix(".new") }
            #expect(left.isEmpty, "\(label)")
            return outcome.hits > 0
        }
    }
}
