import PurgeModel

/// Things of one kind that happened, along the time, in bounded memory: what was close together becomes one.
struct Moments {
    struct Span {
        /// In nanoseconds since 1970.
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

    /// Joins the nearest neighbours until half of them are left.
    private mutating func join() {
        spans.sort { $0.first < $1.first }
        let gaps = zip(spans.dropFirst(), spans).map { Double($0.first) - Double($1.last) }.sorted()
        let limit = gaps[gaps.count / 2]
        var joined: [Span] = []
        for span in spans {
            if let last = joined.indices.last, Double(span.first) - Double(joined[last].last) <= limit {
                joined[last].last = max(joined[last].last, span.last)
                joined[last].count += span.count
                joined[last].bytes += span.bytes
            } else {
                joined.append(span)
            }
        }
        spans = joined
    }
}

/// States of the device along the time, of which the newest are kept.
struct States<State> {
    struct Change {
        var time: Int64
        var state: State
    }

    private let most: Int
    private(set) var changes: [Change] = []

    init(most: Int) { self.most = most }

    mutating func add(_ time: Int64, _ state: State) {
        changes.append(Change(time: time, state: state))
        if changes.count > 2 * most { changes.removeFirst(most) }
    }
}

/// The newest of many.
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

    /// The newest first.
    var elements: [Element] { kept.suffix(most).reversed() }
}
