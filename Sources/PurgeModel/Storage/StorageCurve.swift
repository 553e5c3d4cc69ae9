/// The use of the device over time, as points that wait for the journal. A point is taken whenever a number has changed
/// enough to be visible in a chart, together with the highest and lowest use since the previous point.
///
/// Each change to the device costs only a few comparisons, however long the mount lasts: after many points from small steps,
/// the smallest step that is worth a point doubles.
public struct StorageCurve: Sendable {
    /// The numbers of the device at one moment.
    public struct Numbers: Hashable, Sendable {
        public var total, others, othersPurgeable: ByteCount
        public var temporary, caches, persistent: ByteCount
        /// The use by all containers: their tiers plus the bytes of files that are being purged.
        public var used: ByteCount
        public var level: PressureLevel

        public init(
            total: ByteCount, others: ByteCount, othersPurgeable: ByteCount, level: PressureLevel, ledgers: [Ledger]
        ) {
            (self.total, self.others, self.othersPurgeable) = (total, others, othersPurgeable)
            (temporary, caches, persistent) = (.zero, .zero, .zero)
            for index in ledgers.indices {
                temporary += ledgers[index].temporary.bytes
                caches += ledgers[index].caches.bytes
                persistent += ledgers[index].persistent.bytes
            }
            (used, self.level) = (ledgers.used, level)
        }

        fileprivate var balance: ByteCount { total - others - used }
    }
    /// The numbers at one moment, with its time by the device's clock and by the host's.
    public struct Point: Hashable, Sendable {
        public var numbers: Numbers
        public var simulated, real: Instant
    }

    /// The step doubles after this many points that differ only in the containers' use.
    static let pointsPerStep = 128
    /// The largest number of points that wait for the journal.
    static let mostWaiting = 512

    private var last: Numbers?
    /// The numbers at the highest and the lowest use since the last point; nil if the point itself is the extreme.
    private var most, least: Numbers?
    private var (lowest, highest) = (ByteCount.zero, ByteCount.zero)
    private var step = ByteCount.block
    private var pointsUntilDoubled = pointsPerStep
    private var waiting: [Point] = []

    public init() {}

    /// Records a change to the device. Must be called after every change. Returns whether a point is due.
    public mutating func follow(_ now: Numbers) -> Bool {
        guard let last else { return true }
        if now.used > highest { (highest, most) = (now.used, now) }
        if now.used < lowest { (lowest, least) = (now.used, now) }
        guard now.isLike(last) else { return true }
        guard now.distance(to: last) >= step else { return false }
        pointsUntilDoubled -= 1
        if pointsUntilDoubled == 0 {
            step += step
            pointsUntilDoubled = Self.pointsPerStep
        }
        return true
    }

    /// Adds a point if the use differs from the last point by at least `difference`, or did so at some moment since. A change
    /// of any other number always adds a point, and so does a `difference` of zero.
    public mutating func note(
        _ now: Numbers, at simulated: Instant, real: Instant, difference: ByteCount = ByteCount(1)
    ) {
        if let last, now.isLike(last), now.distance(to: last) < difference,
            highest - last.used < difference, last.used - lowest < difference
        {
            return
        }
        // The extremes get the time of this point: reading a clock for each of them would slow down every change.
        for extreme in [most, least].compactMap(\.self) where extreme != now {
            add(Point(numbers: extreme, simulated: simulated, real: real))
        }
        add(Point(numbers: now, simulated: simulated, real: real))
        (last, most, least, lowest, highest) = (now, nil, nil, now.used, now.used)
    }

    private mutating func add(_ point: Point) {
        if waiting.count == Self.mostWaiting { thinOut() }
        waiting.append(point)
    }

    /// Removes every second point, but keeps the extremes.
    private mutating func thinOut() {
        let order = { (a: Int, b: Int) in waiting[a].numbers.used < waiting[b].numbers.used }
        let balance = { (a: Int, b: Int) in waiting[a].numbers.balance < waiting[b].numbers.balance }
        let indices = waiting.indices
        let extremes = [
            indices.min(by: order), indices.max(by: order), indices.min(by: balance), indices.max(by: balance),
        ]
        waiting = indices.filter { $0 % 2 == 0 || extremes.contains($0) }.map { waiting[$0] }
    }

    /// Removes and returns the waiting points.
    public mutating func take() -> [Point] {
        defer { waiting = [] }
        return waiting
    }
}

extension StorageCurve.Numbers {
    /// Returns whether the numbers are equal apart from the containers' use.
    fileprivate func isLike(_ other: Self) -> Bool {
        total == other.total && others == other.others && othersPurgeable == other.othersPurgeable
            && level == other.level
    }

    /// Returns by how many bytes the use differs, counting bytes that moved to another tier.
    fileprivate func distance(to other: Self) -> ByteCount {
        func distance(_ a: ByteCount, _ b: ByteCount) -> ByteCount { max(a, b) - min(a, b) }
        return max(distance(used, other.used), distance(temporary, other.temporary), distance(caches, other.caches))
    }
}
