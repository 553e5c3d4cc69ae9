/// The purging class of a file, apart from its directory's policy. It depends on the file's place and, in a persistent
/// place, on its mark.
public enum PurgeClass: CaseIterable, Sendable {
    case temporary, caches
    /// Marked files in a persistent place, by urgency.
    case low, medium, high

    public init(tier: Tier, mark: PurgeMark?) {
        switch tier {
        case .temporary: self = .temporary
        case .caches: self = .caches
        case .persistent: self.init(marked: mark?.urgency ?? .low)
        }
    }

    init(marked urgency: Urgency) {
        switch urgency {
        case .low: self = .low
        case .medium: self = .medium
        case .high: self = .high
        }
    }
}

/// The bytes that purging would free, by class.
public struct PurgeableBytes: Hashable, Sendable {
    public private(set) var all = ByteCount.zero
    private var temporary = ByteCount.zero
    private var caches = ByteCount.zero
    private var low = ByteCount.zero
    private var medium = ByteCount.zero
    private var high = ByteCount.zero

    public init() {}

    public subscript(class: PurgeClass) -> ByteCount {
        switch `class` {
        case .temporary: temporary
        case .caches: caches
        case .low: low
        case .medium: medium
        case .high: high
        }
    }

    /// Returns the sum over the classes for which `isTaken` returns true.
    public func bytes(isTaken: (PurgeClass) -> Bool) -> ByteCount {
        var sum = ByteCount.zero
        for `class` in PurgeClass.allCases where isTaken(`class`) { sum += self[`class`] }
        return sum
    }

    /// Adds bytes to a class; a negative number removes them.
    mutating func add(_ bytes: ByteCount, _ class: PurgeClass) {
        all += bytes
        switch `class` {
        case .temporary: temporary += bytes
        case .caches: caches += bytes
        case .low: low += bytes
        case .medium: medium += bytes
        case .high: high += bytes
        }
    }
}
