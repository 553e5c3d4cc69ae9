/// A set of 4 KiB blocks, kept as sorted runs that never touch.
public struct ExtentSet: Hashable, Sendable {
    public private(set) var runs: [Range<Int64>] = []
    /// The number of blocks in the set.
    public private(set) var count: Int64 = 0

    public init() {}
    public init(_ run: Range<Int64>) { insert(run) }
    public init(runs: some Sequence<Range<Int64>>) { for run in runs { insert(run) } }

    /// Returns the index of the first run that ends after `block`.
    private func index(endingAfter block: Int64) -> Int {
        var low = 0
        var high = runs.count
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound > block { high = middle } else { low = middle + 1 }
        }
        return low
    }

    public func contains(_ block: Int64) -> Bool {
        let at = index(endingAfter: block)
        return at < runs.count && runs[at].lowerBound <= block
    }

    /// Returns how many blocks of `range` are in the set.
    public func count(in range: Range<Int64>) -> Int64 {
        var at = index(endingAfter: range.lowerBound)
        var sum: Int64 = 0
        while at < runs.count, runs[at].lowerBound < range.upperBound {
            sum += Int64(runs[at].clamped(to: range).count)
            at += 1
        }
        return sum
    }

    /// Returns how many blocks of `range` are not in the set.
    public func missing(in range: Range<Int64>) -> Int64 { Int64(range.count) - count(in: range) }

    /// Returns the blocks of `range` that are not in the set.
    public func gaps(in range: Range<Int64>) -> ExtentSet {
        var rest = ExtentSet(range)
        var at = index(endingAfter: range.lowerBound)
        while at < runs.count, runs[at].lowerBound < range.upperBound {
            rest.remove(runs[at])
            at += 1
        }
        return rest
    }

    /// Returns the end of the longest prefix of `range` that lacks at most `limit` blocks.
    public func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        var left = limit
        var position = range.lowerBound
        var at = index(endingAfter: position)
        while position < range.upperBound {
            let present = at < runs.count ? runs[at] : range.upperBound..<range.upperBound
            let gap = max(0, min(present.lowerBound, range.upperBound) - position)
            if gap > left { return position + left }
            left -= gap
            position = min(present.upperBound, range.upperBound)
            at += 1
            if present.isEmpty { break }
        }
        return range.upperBound
    }

    /// Adds `range`, and returns how many blocks were new.
    @discardableResult
    public mutating func insert(_ range: Range<Int64>) -> Int64 {
        guard !range.isEmpty else { return 0 }
        if runs.last.map({ $0.upperBound < range.lowerBound }) ?? true {
            runs.append(range)
            count += Int64(range.count)
            return Int64(range.count)
        }
        let new = missing(in: range)
        // Merges `range` with all runs that touch it, neighbours included.
        let first = index(endingAfter: range.lowerBound - 1)
        var last = first
        var merged = range
        while last < runs.count, runs[last].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, runs[last].lowerBound)..<max(merged.upperBound, runs[last].upperBound)
            last += 1
        }
        runs.replaceSubrange(first..<last, with: CollectionOfOne(merged))
        count += new
        return new
    }

    /// Removes `range`, and returns how many blocks were in the set.
    @discardableResult
    public mutating func remove(_ range: Range<Int64>) -> Int64 {
        guard !range.isEmpty else { return 0 }
        let old = count(in: range)
        let first = index(endingAfter: range.lowerBound)
        var last = first
        var rest: [Range<Int64>] = []
        while last < runs.count, runs[last].lowerBound < range.upperBound {
            let run = runs[last]
            if run.lowerBound < range.lowerBound { rest.append(run.lowerBound..<range.lowerBound) }
            if run.upperBound > range.upperBound { rest.append(range.upperBound..<run.upperBound) }
            last += 1
        }
        runs.replaceSubrange(first..<last, with: rest)
        count -= old
        return old
    }

    public func union(_ other: ExtentSet) -> ExtentSet {
        // In this order, each insertion appends a run or extends the last one. That is fast: a store may have millions of runs.
        var result = ExtentSet()
        var (mine, theirs) = (0, 0)
        while mine < runs.count || theirs < other.runs.count {
            if theirs == other.runs.count
                || mine < runs.count && runs[mine].lowerBound <= other.runs[theirs].lowerBound
            {
                result.insert(runs[mine])
                mine += 1
            } else {
                result.insert(other.runs[theirs])
                theirs += 1
            }
        }
        return result
    }

    /// Returns whether the set is exactly the blocks below `end`.
    public func isExactly(below end: Int64) -> Bool {
        end == 0 ? runs.isEmpty : runs.count == 1 && runs[0] == 0..<end
    }
}
