/// The advances of the device's clock: when, and by how much.
///
/// The file system stamps files in real time. An app sees a file's age by the device's clock: the stamp less all advances
/// after it. This keeps stamps in order, shows times since the last advance unchanged, and needs no change to any file at an
/// advance.
public struct ClockHistory: Hashable, Sendable {
    /// An advance at `moment`, a moment in real time between the stamps before and after the advance.
    private struct Advance: Hashable, Sendable {
        var moment: FileTime
        /// The seconds by which stamps look older if they lie between the previous advance's moment (included) and `moment`.
        var age: Int64
    }
    /// In order: moments ascend, and ages descend.
    private var advances: [Advance] = []

    /// The largest number of advances that are remembered.
    static let limit = 1000

    public init() {}

    public var isEmpty: Bool { advances.isEmpty }

    /// The sum of all advances, in seconds.
    var sum: Int64 { advances.first?.age ?? 0 }

    /// Returns the seconds by which a stamp looks older.
    public func age(of stamp: FileTime) -> Int64 {
        guard let last = advances.last, stamp < last.moment else { return 0 }
        return advances[first { stamp < $0.moment }].age
    }

    /// Returns the time that an app sees for a stamp.
    public func shown(_ stamp: FileTime) -> FileTime { stamp.earlier(by: age(of: stamp)) }

    /// Returns the stamp that an app sees as `time`. Returns nil if the clock skipped that time, because then no stamp shows
    /// it.
    public func stamp(shownAs time: FileTime) -> FileTime? {
        let next = first { time < $0.moment.earlier(by: $0.age) }
        let stamp = next < advances.count ? time.earlier(by: -advances[next].age) : time
        return next == 0 || stamp >= advances[next - 1].moment ? stamp : nil
    }

    /// Records an advance at a moment later than every stamp that must look older, and not later than any other stamp. A moment
    /// that is out of order, because the machine's clock was set back, counts as the moment of the last advance.
    mutating func advance(by seconds: Int64, at moment: FileTime) {
        guard seconds > 0 else { return }
        for index in advances.indices { advances[index].age += seconds }
        if let last = advances.last, moment <= last.moment { return }
        advances.append(Advance(moment: moment, age: seconds))
        if advances.count > Self.limit { mergeSmallest() }
    }

    /// Merges the two adjacent advances with the smallest sum at the moment of the earlier one. The last advance is never
    /// merged. Only files stamped between the two advances look different: they look younger by the later advance. The order
    /// stays the same.
    private mutating func mergeSmallest() {
        let seconds = advances.indices.dropFirst().dropLast()
        guard let second = seconds.min(by: { step($0 - 1) + step($0) < step($1 - 1) + step($1) }) else { return }
        advances.remove(at: second)
    }

    private func step(_ index: Int) -> Int64 {
        advances[index].age - (index + 1 < advances.count ? advances[index + 1].age : 0)
    }

    /// Returns the index of the first advance with a property that all later ones share.
    private func first(where isFound: (Advance) -> Bool) -> Int {
        var (low, high) = (0, advances.count)
        while low < high {
            let middle = (low + high) / 2
            if isFound(advances[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// The text is `SECONDS.NANOSECONDS+STEP` for each advance, in order, separated by spaces.
extension ClockHistory {
    var text: String {
        advances.indices.map { "\(advances[$0].moment.text)+\(step($0))" }.joined(separator: " ")
    }

    /// Parses a string; nil unless it is the `text` of a history that is not empty.
    init?(text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count <= Self.limit else { return nil }
        var age: Int64 = 0
        for part in parts.reversed() {
            let halves = part.split(separator: "+", omittingEmptySubsequences: false)
            guard halves.count == 2, let moment = FileTime(text: halves[0]), let step = Int64(halves[1]),
                (1...Device.mostSecondsAhead).contains(step)
            else { return nil }
            age += step
            guard age <= Device.mostSecondsAhead, advances.last.map({ moment < $0.moment }) ?? true else { return nil }
            advances.append(Advance(moment: moment, age: age))
        }
        advances.reverse()
        guard self.text == text else { return nil }
    }
}

extension ClockHistory: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        guard let history = ClockHistory(text: try value.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "not a list of advances")
        }
        self = history
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(text)
    }
}
