import PurgeModel
import Testing

/// Checks the section "The number is the truth" of docs/RULES.md.
@Suite struct CapacityPropertyTests {
    @Test(arguments: RandomStates.batches) func exactlyTheImportantCapacityFits(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            let capacity = state.capacity
            let need = capacity.important
            // A write of no bytes leaves even an overcommitted device unchanged.
            guard need > .zero else { return nil }
            var device = state
            device.carryOut(device.plan(.bytes(capacity.shortage(for: need))))
            return device.used + Int(need.blocks) + device.others <= device.total ? nil : "\(need) does not fit"
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func oneBlockMoreThanImportantNeverFits(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            let blocks = Int(state.capacity.important.wholeBlocks) + 1
            var device = state
            device.carryOut(device.plan(.all))
            return device.used + blocks + device.others > device.total ? nil : "\(blocks) blocks fit"
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func importantIsWhatPurgingEverythingLeaves(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            let answer = state.capacity.important
            return answer == ByteCount(blocks: Int64(state.mostThatEverFits)) ? nil : "\(answer)"
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func exactlyTheOpportunisticCapacityKeepsTheCushion(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            let blocks = Int(state.capacity.opportunistic.wholeBlocks)
            let cushion = state.thresholds[1]
            if blocks > 0, state.free - blocks < max(0, cushion) { return "\(blocks) blocks break into the cushion" }
            return state.free - blocks - 1 < cushion ? nil : "\(blocks + 1) blocks would do"
        }
        #expect(fault == nil)
    }

    /// At each step of a purge, bytes go directly from reclaimable to free.
    @Test(arguments: RandomStates.batches) func aPurgeUnderWayLowersNoNumber(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            var device = state
            var before = state.capacity
            let plan = state.plan(.all)
            device.remove(othersBlocks: Int(plan.fromOthers.wholeBlocks), paths: [])
            for path in [nil] + plan.victims.map({ Optional($0.file) }) {
                if let path { device.remove(othersBlocks: 0, paths: [path]) }
                let now = device.capacity
                if now.important != before.important { return "important was \(before.important), is \(now.important)" }
                if now.opportunistic < before.opportunistic || now.free < before.free { return "at \(path ?? -1)" }
                before = now
            }
            return nil
        }
        #expect(fault == nil)
    }

    /// Under pressure, purging up to desired ends the pressure, unless nothing is left to purge.
    @Test(arguments: RandomStates.batches) func purgingUntilDesiredEndsThePressure(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            var device = state
            let capacity = state.capacity
            device.carryOut(device.plan(.bytes(capacity.shortage(for: capacity.thresholds.desired))))
            let after = device.capacity
            if after.reclaimable == .zero { return nil }
            let level = PressureLevel.veryLow.following(free: after.free, thresholds: after.thresholds)
            return level == .normal ? nil : "still \(level)"
        }
        #expect(fault == nil)
    }
}
