import PurgeModel
import Testing

/// The files that a plan takes and skips (docs/RULES.md, Order of purging), on random states.
@Suite struct PurgePlanPropertyTests {
    /// Returns a shortage from nothing to more than the device has, in whole blocks or not.
    private static func randomShortage(_ random: inout SeededGenerator) -> ByteCount {
        let blocks = random.below(random.oneIn(4) ? 500 : 40)
        return ByteCount(Int64(blocks * 4096 + (random.oneIn(2) ? 0 : random.below(4096))))
    }

    private static func randomGoal(_ random: inout SeededGenerator) -> PurgeGoal {
        switch random.below(8) {
        case 0: .all
        case 1: .step(.temporary)
        case 2: .step(.caches)
        case 3: .step(.marked)
        default: .bytes(randomShortage(&random))
        }
    }

    @Test(arguments: RandomStates.batches) func takesNothingThatMustStay(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            let goal = Self.randomGoal(&random)
            for item in state.plan(goal).victims {
                let file = state.files[item.file]
                if file.isOpen || file.names != 1 || file.blocks == 0 { return "\(goal): \(file) is out of reach" }
                if file.place == .persistent, (file.mark ?? 0) == 0 { return "\(goal): \(file) is not purgeable" }
            }
            return nil
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func takesTheRightFilesInTheRightOrder(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            let short = Self.randomShortage(&random)
            let plan = state.plan(.bytes(short))
            let expected = state.victims(short: Int(short.bytes))
            if plan.fromOthers != ByteCount(blocks: Int64(expected.others)) {
                return "\(short): others \(plan.fromOthers)"
            }
            let files = plan.victims.map(\.file)
            return files == expected.files.map(\.path) ? nil : "\(short): \(files)"
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func aStepTakesAllOfItsPlaceAndNothingElse(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, _ in
            let places: [(PurgeStep, ReferenceDevice.File.Place)] = [
                (.temporary, .temporary), (.caches, .caches), (.marked, .persistent),
            ]
            for (step, place) in places {
                let plan = state.plan(.step(step))
                let expected = state.inTurn.filter { $0.place == place }.map(\.path)
                if plan.fromOthers != .zero || plan.victims.map(\.file) != expected { return "\(step): \(plan)" }
            }
            return nil
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func everyItemHasItsReasonAndItsBytes(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            for item in state.plan(Self.randomGoal(&random)).victims {
                let file = state.files[item.file]
                let reason: PurgeReason =
                    switch file.place {
                    case .temporary: .temporary
                    case .caches: .caches
                    case .persistent: .purgeable
                    }
                if item.reason != reason || item.bytes != ByteCount(blocks: Int64(file.blocks)) { return "\(item)" }
            }
            return nil
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func withoutItsLastItemItWouldNotSuffice(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            let short = Self.randomShortage(&random)
            let plan = state.plan(.bytes(short))
            let last = plan.victims.last?.bytes ?? min(plan.fromOthers, .block)
            if plan.freed > .zero, plan.freed - last >= short { return "\(short): \(plan)" }
            // No file is taken while others.purgeable has a block left.
            let spared = state.othersPurgeable - Int(plan.fromOthers.wholeBlocks)
            return plan.victims.isEmpty || spared == 0 ? nil : "\(short): \(spared) blocks of others spared"
        }
        #expect(fault == nil)
    }

    @Test(arguments: RandomStates.batches) func givesEnoughOrAllThereIs(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            let short = Self.randomShortage(&random)
            let freed = state.plan(.bytes(short)).freed
            return freed >= short || freed == state.capacity.reclaimable ? nil : "\(short): \(freed)"
        }
        #expect(fault == nil)
    }

    /// Carrying out a plan frees the bytes it states, and a goal without a size leaves nothing to do.
    @Test(arguments: RandomStates.batches) func aPlanFreesWhatItSays(batch: Int) {
        let fault = RandomStates.firstFault(inBatch: batch) { state, random in
            let goal = Self.randomGoal(&random)
            let plan = state.plan(goal)
            var device = state
            device.carryOut(plan)
            if ByteCount(blocks: Int64(device.free - state.free)) != plan.freed { return "\(goal): \(plan)" }
            guard case .bytes = goal else { return device.plan(goal).freed == .zero ? nil : "\(goal): not all" }
            return nil
        }
        #expect(fault == nil)
    }
}
