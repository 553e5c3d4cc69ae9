import PurgeModel
import Support

/// Converts a reference device to the types of the code under test.
extension ReferenceDevice {
    var capacity: Capacity {
        Capacity(
            total: ByteCount(blocks: Int64(total)), others: ByteCount(blocks: Int64(others)),
            othersPurgeable: ByteCount(blocks: Int64(othersPurgeable)), used: ByteCount(blocks: Int64(used)),
            reclaimableFiles: ByteCount(blocks: Int64(reclaimableFiles)),
            thresholds: Thresholds(
                veryLow: ByteCount(blocks: Int64(thresholds[0])), low: ByteCount(blocks: Int64(thresholds[1])),
                nearLow: ByteCount(blocks: Int64(thresholds[2])), desired: ByteCount(blocks: Int64(thresholds[3]))))
    }

    /// The candidates in the order of PurgeRank, PurgeAge and path. Files out of reach are left out here, as the planner's
    /// caller would do; PurgeRank decides which files are purgeable.
    var candidates: [Victim<Int>] {
        files.filter { !$0.isOutOfReach }.compactMap { file in
            PurgeRank.of(tier: file.tier, effectiveMark: file.purgeMark).map {
                Victim(
                    file.path, rank: $0,
                    age: PurgeAge(
                        lastUse: Instant(nanoseconds: Int64(file.lastUse)),
                        charged: ByteCount(blocks: Int64(file.blocks))))
            }
        }.sorted { a, b in
            if let mine = a.rank, let theirs = b.rank, mine != theirs { return mine < theirs }
            return a.age != b.age ? a.age < b.age : a.file < b.file
        }
    }

    func plan(_ goal: PurgeGoal) -> PurgePlan<Int> {
        var queue = candidates[...]
        return PurgePlan(goal, othersPurgeable: ByteCount(blocks: Int64(othersPurgeable))) { step in
            if let step { queue = queue.drop { $0.rank?.step != step } }
            return queue.popFirst()
        }
    }

    mutating func carryOut(_ plan: PurgePlan<Int>) {
        remove(othersBlocks: Int(plan.fromOthers.wholeBlocks), paths: plan.victims.map(\.file))
    }
}

extension ReferenceDevice.File {
    var tier: Tier {
        switch place {
        case .temporary: .temporary
        case .caches: .caches
        case .persistent: .persistent
        }
    }

    var purgeMark: PurgeMark? {
        switch mark {
        case nil: nil
        case 0: .notPurgeable
        case 1: .purgeable(.low)
        case 2: .purgeable(.medium)
        default: .purgeable(.high)
        }
    }
}

/// The states for one property. Each test case runs one batch, so that batches run in parallel.
enum RandomStates {
    static let batches = 0..<10
    /// The size of a batch. `make long` tests each property with 100,000 states.
    private static let perBatch = Scale.factor < 1 ? 2500 : 10_000

    /// Returns the first fault and how to reproduce it.
    static func firstFault(
        inBatch batch: Int, _ fault: (ReferenceDevice, inout SeededGenerator) -> String?
    ) -> String? {
        for number in 0..<perBatch {
            let seed = UInt64(batch * 10_000 + number)
            var random = SeededGenerator(seed: seed)
            let device = ReferenceDevice.random(&random)
            if let text = fault(device, &random) { return "seed \(seed): \(text)\n\(device)" }
        }
        return nil
    }
}
