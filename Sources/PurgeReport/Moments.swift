import PurgeModel

/// Events of one kind over time, in bounded memory: neighbours are merged into spans.
struct Moments: Sendable {
    struct Span: Sendable {
        /// The times in nanoseconds since 1970.
        var first, last: Int64
        var count = 1
        var bytes = ByteCount.zero
    }

    private static let most = 2048
    private(set) var spans: [Span] = []

    mutating func add(_ time: Int64, _ bytes: ByteCount = .zero) {
        if let last = spans.indices.last, spans[last].last == time {
            spans[last].count += 1
            spans[last].bytes += bytes
            return
        }
        spans.append(Span(first: time, last: time, bytes: bytes))
        if spans.count > Self.most { join() }
    }

    /// Merges pairs of close neighbours, so that the spans become about equally long.
    private mutating func join() {
        spans.sort { $0.first < $1.first }
        let limit = Thinning.limit(zip(spans, spans.dropFirst()).map { Double($1.last) - Double($0.first) })
        spans = Thinning.joined(spans) { first, second, _ in
            guard Double(second.last) - Double(first.first) <= limit else { return nil }
            return Span(
                first: first.first, last: max(first.last, second.last), count: first.count + second.count,
                bytes: first.bytes + second.bytes)
        }
    }
}

private enum Thinning {
    /// Returns the median.
    static func limit(_ lengths: [Double]) -> Double { lengths.sorted()[lengths.count / 2] }

    /// Joins pairs of neighbours. `join` gets a pair and its successor, and returns nil to keep the pair apart.
    static func joined<Element>(_ list: [Element], _ join: (Element, Element, Element?) -> Element?) -> [Element] {
        var joined: [Element] = []
        var index = 0
        while index < list.count {
            if index + 1 < list.count,
                let one = join(list[index], list[index + 1], index + 2 < list.count ? list[index + 2] : nil)
            {
                joined.append(one)
                index += 2
            } else {
                joined.append(list[index])
                index += 1
            }
        }
        return joined
    }
}

/// Device states over time, in bounded memory: when close changes are merged, the worse state is kept.
struct States<State: Sendable>: Sendable {
    struct Change: Sendable {
        var time: Int64
        var state: State
    }

    private let most: Int
    /// Returns the severity of a state; higher is worse.
    let rank: @Sendable (State) -> Int
    private(set) var changes: [Change] = []
    /// The number of all changes, including merged ones.
    private(set) var count = 0

    init(most: Int, rank: @escaping @Sendable (State) -> Int) { (self.most, self.rank) = (most, rank) }

    mutating func add(_ time: Int64, _ state: State) {
        count += 1
        changes.append(Change(time: time, state: state))
        if changes.count > 2 * most { join() }
    }

    /// Merges pairs of close changes. The last change is the present state, and always stays.
    private mutating func join() {
        changes.sort { $0.time < $1.time }
        let limit = Thinning.limit(zip(changes, changes.dropFirst(2)).map { Double($1.time) - Double($0.time) })
        changes = Thinning.joined(changes) { first, second, third in
            guard let third, Double(third.time) - Double(first.time) <= limit else { return nil }
            return Change(time: first.time, state: rank(second.state) > rank(first.state) ? second.state : first.state)
        }
    }
}

/// The newest elements of a sequence, in bounded memory.
struct Newest<Element> {
    private let most: Int
    private var kept: [Element] = []
    private(set) var count = 0

    init(_ most: Int) { self.most = most }

    mutating func add(_ element: Element) {
        count += 1
        kept.append(element)
        if kept.count > 2 * most { kept.removeFirst(most) }
    }

    /// The kept elements, newest first.
    var elements: [Element] { kept.suffix(most).reversed() }
}
