import PurgeModel

// Charged blocks of a file; `NodeState` documents these members.
extension Node {
    var isDense: Bool { part?.extents == nil }
    var extents: ExtentSet? { part?.extents }

    func missing(in range: Range<Int64>) -> Int64 {
        if let extents = part?.extents { return extents.missing(in: range) }
        return max(0, range.upperBound - max(range.lowerBound, blocks))
    }

    func gaps(in range: Range<Int64>) -> ExtentSet {
        if let extents = part?.extents { return extents.gaps(in: range) }
        return ExtentSet(max(range.lowerBound, min(blocks, range.upperBound))..<range.upperBound)
    }

    func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        if let extents = part?.extents { return extents.prefixEnd(of: range, missingAtMost: limit) }
        return min(range.upperBound, max(range.lowerBound, blocks) + limit)
    }
}
