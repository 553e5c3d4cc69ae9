import PurgeModel
import Testing

/// Compares ExtentSet with a plain set of numbers.
@Suite struct ExtentSetModelTests {
    private static let space: Int64 = 96

    private func randomRange(_ random: inout SeededGenerator) -> Range<Int64> {
        let start = Int64(random.below(Int(Self.space)))
        return start..<start + Int64(random.below(random.oneIn(4) ? 60 : 9))
    }

    private func runs(of model: Set<Int64>) -> [Range<Int64>] {
        var result: [Range<Int64>] = []
        for block in model.sorted() {
            if let last = result.last, last.upperBound == block {
                result[result.count - 1] = last.lowerBound..<block + 1
            } else {
                result.append(block..<block + 1)
            }
        }
        return result
    }

    private func longestBeginning(of range: Range<Int64>, in model: Set<Int64>, missing limit: Int64) -> Int64 {
        var left = limit
        for block in range where !model.contains(block) {
            if left == 0 { return block }
            left -= 1
        }
        return range.upperBound
    }

    /// Applies one random step to both, and returns the difference or nil.
    private func step(_ set: inout ExtentSet, _ model: inout Set<Int64>, _ random: inout SeededGenerator) -> String? {
        let range = randomRange(&random)
        let before = model
        if random.oneIn(2) {
            model.formUnion(range)
            let new = set.insert(range)
            if new != Int64(model.count - before.count) { return "insert(\(range)) = \(new)" }
        } else {
            model.subtract(range)
            let gone = set.remove(range)
            if gone != Int64(before.count - model.count) { return "remove(\(range)) = \(gone)" }
        }
        if set.count != Int64(model.count) { return "count \(set.count) after \(range)" }
        if set.runs != runs(of: model) { return "runs \(set.runs) after \(range)" }
        return nil
    }

    /// Asks everything about a random range, and returns the difference or nil.
    private func question(_ set: ExtentSet, _ model: Set<Int64>, _ random: inout SeededGenerator) -> String? {
        let range = randomRange(&random)
        let present = Int64(range.count { model.contains($0) })
        if set.count(in: range) != present { return "count(in: \(range))" }
        if set.missing(in: range) != Int64(range.count) - present { return "missing(in: \(range))" }
        if set.contains(range.lowerBound) != model.contains(range.lowerBound) { return "contains(\(range.lowerBound))" }
        let limit = Int64(random.below(12))
        let end = longestBeginning(of: range, in: model, missing: limit)
        if set.prefixEnd(of: range, missingAtMost: limit) != end { return "prefixEnd(of: \(range), \(limit))" }
        return nil
    }

    @Test(arguments: UInt64(0)..<200)
    func equalsASetOfNumbers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var set = ExtentSet()
        var model: Set<Int64> = []
        for number in 0..<100 {
            if let fault = step(&set, &model, &random) ?? question(set, model, &random) {
                Issue.record("seed \(seed), step \(number): \(fault); model \(model.sorted())")
                return
            }
        }
    }

    @Test(arguments: UInt64(0)..<200)
    func unionIsThatOfTheNumbers(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var (a, b) = (ExtentSet(), ExtentSet())
        var (modelA, modelB): (Set<Int64>, Set<Int64>) = ([], [])
        for _ in 0..<6 {
            _ = step(&a, &modelA, &random)
            _ = step(&b, &modelB, &random)
        }
        #expect(a.union(b).runs == runs(of: modelA.union(modelB)), "seed \(seed)")
        #expect(ExtentSet(runs: a.runs.reversed() + b.runs) == a.union(b), "seed \(seed)")
    }
}
