/// When the device's clock was advanced, and by how much.
///
/// Files have stamps, which a file system gives them in real time. What an app sees is how old a file is by the device's
/// clock: a stamp, less all that the clock was advanced after it. So the order of stamps is kept, times from since
/// the last advance are shown as they are, and an advance changes no file.
public struct ClockHistory: Hashable, Sendable {
    /// A moment in real time that lies between the stamps of before and those of after an advance.
    private struct Advance: Hashable, Sendable {
        var moment: FileTime
        /// How much older stamps look that are earlier than this moment, but not than the previous one, in seconds.
        var age: Int64
    }
    /// In order: moments rise, and ages fall.
    private var advances: [Advance] = []

    /// The limit of advances that are remembered.
    static let limit = 1000

    public init() {}

    public var isEmpty: Bool { advances.isEmpty }

    /// All advances together, in seconds.
    var sum: Int64 { advances.first?.age ?? 0 }

    /// Seconds by which a stamp looks older.
    public func age(of stamp: FileTime) -> Int64 {
        guard let last = advances.last, stamp < last.moment else { return 0 }
        return advances[first { stamp < $0.moment }].age
    }

    /// What an app sees of a stamp.
    public func shown(_ stamp: FileTime) -> FileTime { stamp.earlier(by: age(of: stamp)) }

    /// The stamp that an app sees as this time. nil for a time at which the device had no stamp to give: its clock
    /// passed over it.
    public func stamp(shownAs time: FileTime) -> FileTime? {
        let next = first { time < $0.moment.earlier(by: $0.age) }
        let stamp = next < advances.count ? time.earlier(by: -advances[next].age) : time
        return next == 0 || stamp >= advances[next - 1].moment ? stamp : nil
    }

    /// The clock is advanced, at a moment that is later than every stamp that is to look older and not later than any
    /// other. Moments that are not in order, because the machine's clock was set back, count as the last one.
    mutating func advance(by seconds: Int64, at moment: FileTime) {
        guard seconds > 0 else { return }
        for index in advances.indices { advances[index].age += seconds }
        if let last = advances.last, moment <= last.moment { return }
        advances.append(Advance(moment: moment, age: seconds))
        if advances.count > Self.limit { mergeSmallest() }
    }

    /// Merges the two adjacent advances that are shortest together, without the last one, into one at the moment of the
    /// first. Only files from between them look different: younger by the second. All are still in order.
    private mutating func mergeSmallest() {
        let seconds = advances.indices.dropFirst().dropLast()
        guard let second = seconds.min(by: { step($0 - 1) + step($0) < step($1 - 1) + step($1) }) else { return }
        advances.remove(at: second)
    }

    private func step(_ index: Int) -> Int64 {
        advances[index].age - (index + 1 < advances.count ? advances[index + 1].age : 0)
    }

    /// The index of the first advance with this property, which all later ones have too.
    private func first(where isFound: (Advance) -> Bool) -> Int {
        var (low, high) = (0, advances.count)
        while low < high {
            let middle = (low + high) / 2
            if isFound(advances[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

// Text: one `SECONDS.NANOSECONDS+STEP` for each advance, in order, with spaces between them.
extension ClockHistory {
    var text: String {
        advances.indices.map { "\(advances[$0].moment.text)+\(step($0))" }.joined(separator: " ")
    }

    /// nil for anything that `text` cannot have made.
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
