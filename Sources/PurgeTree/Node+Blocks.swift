import PurgeModel

// Which blocks of a file are charged.
extension Node {
    /// Whether its charge is its size: it has no holes, and no blocks past its end.
    public var isDense: Bool { part?.extents == nil }
    /// The blocks that are charged, of a file that is not dense.
    public var extents: ExtentSet? { part?.extents }

    /// Blocks of `range` that are not charged yet.
    public func missing(in range: Range<Int64>) -> Int64 {
        if let extents = part?.extents { return extents.missing(in: range) }
        return max(0, range.upperBound - max(range.lowerBound, blocks))
    }

    public func gaps(in range: Range<Int64>) -> ExtentSet {
        if let extents = part?.extents { return extents.gaps(in: range) }
        return ExtentSet(max(range.lowerBound, min(blocks, range.upperBound))..<range.upperBound)
    }

    /// The end of the longest beginning of `range` that misses at most `limit` blocks.
    public func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        if let extents = part?.extents { return extents.prefixEnd(of: range, missingAtMost: limit) }
        return min(range.upperBound, max(range.lowerBound, blocks) + limit)
    }
}
