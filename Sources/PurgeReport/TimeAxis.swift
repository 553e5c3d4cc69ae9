/// The mapping from time to a position in a chart. A long time without records would leave no room for the rest, so it becomes
/// a `Pause` with about a tenth of the width, or less if there are many. All other time is drawn to scale.
struct TimeAxis {
    struct Pause {
        var from, to: Int64
        var seconds: Int64 { to / 1_000_000_000 - from / 1_000_000_000 }
    }

    /// The shortest pause, in nanoseconds.
    private static let shortestPause = 60e9
    /// The width of a chart, in chart units.
    static let width = 1000

    /// The known moments in ascending order, with their positions from 0 to 1.
    private let knots: [(time: Int64, position: Double)]
    let pauses: [Pause]
    /// The time drawn to scale, without the pauses, in nanoseconds.
    let even: Double

    /// Creates an axis for moments in nanoseconds since 1970, in any order. `tail` is the part of the width after the last
    /// moment, where the final state stays visible.
    init(_ times: [Int64], tail: Double = 0) {
        var sorted = Set(times).sorted()
        // An axis of one moment would have no width.
        if sorted.count == 1 { sorted.insert(max(.min + 1_000_000_000, sorted[0]) - 1_000_000_000, at: 0) }
        let gaps = zip(sorted.dropFirst(), sorted).map { Double($0) - Double($1) }
        let most = Self.most(gaps)
        let isPause = gaps.map { $0 > most * 3 && $0 >= Self.shortestPause }
        even = zip(gaps, isPause).reduce(0) { $0 + ($1.1 ? 0 : $1.0) }
        let pause = max(most, even / Double(max(9, 2 * isPause.count(where: \.self))))
        let drawn = zip(gaps, isPause).map { $1 ? pause : $0 }
        let width = drawn.reduce(0, +) / (1 - tail)
        var knots: [(Int64, Double)] = sorted.isEmpty ? [] : [(sorted[0], 0)]
        var pauses: [Pause] = []
        var sum = 0.0
        for index in gaps.indices {
            sum += drawn[index]
            knots.append((sorted[index + 1], sum / width))
            if isPause[index] {
                pauses.append(Pause(from: sorted[index], to: sorted[index + 1]))
            }
        }
        (self.knots, self.pauses) = (knots, pauses)
    }

    /// Returns the length by which pauses are recognized: only intervals more than three times as long become pauses. For a
    /// single interval, this is the interval's own length, so it never becomes a pause. For several intervals, it is the
    /// largest length, up to the longest interval, such that all intervals, each capped at this length, add up to at least
    /// ten times this length. With fewer than 20 intervals, the factor is not ten, but half their number (rounded down), and
    /// at least two.
    private static func most(_ gaps: [Double]) -> Double {
        guard gaps.count > 1 else { return gaps.first ?? 0 }
        let share = Double(min(10, max(2, gaps.count / 2)))
        let sorted = gaps.sorted()
        var sum = 0.0
        for (index, gap) in sorted.enumerated() {
            // All intervals from this one on are at least as long.
            let longer = Double(sorted.count - index)
            // Here this interval would be the first to be shortened: `sum + longer * most == share * most`.
            if longer < share, sum + longer * gap < share * gap { return sum / (share - longer) }
            sum += gap
        }
        return sorted.last ?? 0
    }

    var begin: Int64 { knots.first?.time ?? 0 }
    var end: Int64 { knots.last?.time ?? 0 }

    /// Returns the position of a moment; moments outside the axis map to its ends.
    func x(_ time: Int64) -> Int {
        guard let last = knots.last else { return 0 }
        if time >= last.time { return time > last.time ? Self.width : Self.units(last.position) }
        var (low, high) = (0, knots.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if knots[middle].time <= time { low = middle } else { high = middle }
        }
        let (from, to) = (knots[low], knots[high])
        guard time > from.time, to.time > from.time else { return Self.units(from.position) }
        let part = (Double(time) - Double(from.time)) / (Double(to.time) - Double(from.time))
        return Self.units(from.position + part * (to.position - from.position))
    }

    private static func units(_ position: Double) -> Int { Int((position * Double(width)).rounded()) }

    /// Returns the moment at a position.
    func time(at position: Double) -> Int64 {
        guard let after = knots.firstIndex(where: { $0.position >= position }) else { return end }
        guard after > 0 else { return begin }
        let (from, to) = (knots[after - 1], knots[after])
        let part = to.position > from.position ? (position - from.position) / (to.position - from.position) : 0
        let time = Double(from.time) + part * (Double(to.time) - Double(from.time))
        // Near the limits of Int64, rounding may go past the end.
        return min(to.time, max(from.time, Int64(exactly: time.rounded()) ?? to.time))
    }
}
