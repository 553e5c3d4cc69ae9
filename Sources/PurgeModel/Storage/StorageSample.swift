/// The use of the device at one moment, as the journal keeps it.
public struct StorageSample: Codable, Hashable, Sendable {
    /// The simulated time and, in `realTime`, the host's, both in ISO 8601.
    public var time: String
    public var realTime: String
    public var total: ByteCount
    public var others: ByteCount
    /// The part of `others` that purging can free.
    public var othersPurgeable: ByteCount
    /// The use by all containers: the three tiers, and files that were being purged.
    public var used: ByteCount
    public var temporary: ByteCount
    public var caches: ByteCount
    public var persistent: ByteCount
    public var pressure: PressureLevel

    public init(
        time: String, realTime: String, total: ByteCount, others: ByteCount, othersPurgeable: ByteCount,
        used: ByteCount, temporary: ByteCount, caches: ByteCount, persistent: ByteCount, pressure: PressureLevel
    ) {
        self.time = time
        self.realTime = realTime
        self.total = total
        self.others = others
        self.othersPurgeable = othersPurgeable
        self.used = used
        self.temporary = temporary
        self.caches = caches
        self.persistent = persistent
        self.pressure = pressure
    }
}

extension StorageSample {
    public init(_ point: StorageCurve.Point) {
        let numbers = point.numbers
        self.init(
            time: point.simulated.iso8601, realTime: point.real.iso8601, total: numbers.total, others: numbers.others,
            othersPurgeable: numbers.othersPurgeable, used: numbers.used, temporary: numbers.temporary,
            caches: numbers.caches, persistent: numbers.persistent, pressure: numbers.level)
    }
}
