import PurgeModel

// Which blocks of a file are charged.
extension Node {
    /// Whether its charge is its size: it has no holes, and no blocks past its end.
    package var isDense: Bool { part?.extents == nil }
    /// The blocks that are charged, of a file that is not dense.
    package var extents: ExtentSet? { part?.extents }

    /// Blocks of `range` that are not charged yet.
    package func missing(in range: Range<Int64>) -> Int64 {
        if let extents = part?.extents { return extents.missing(in: range) }
        return max(0, range.upperBound - max(range.lowerBound, blocks))
    }

    package func gaps(in range: Range<Int64>) -> ExtentSet {
        if let extents = part?.extents { return extents.gaps(in: range) }
        return ExtentSet(max(range.lowerBound, min(blocks, range.upperBound))..<range.upperBound)
    }

    /// The end of the longest beginning of `range` that misses at most `limit` blocks.
    package func prefixEnd(of range: Range<Int64>, missingAtMost limit: Int64) -> Int64 {
        if let extents = part?.extents { return extents.prefixEnd(of: range, missingAtMost: limit) }
        return min(range.upperBound, max(range.lowerBound, blocks) + limit)
    }
}
