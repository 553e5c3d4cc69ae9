// Charged bytes: 4096 for each block in which a byte was written or that fallocate allocated, until the block is punched out or
// truncated away (docs/RULES.md, Charged bytes).
extension ReferenceLedger {
    /// A mode of fallocate(2).
    public enum Allocation: CaseIterable, Sendable {
        case plain, keepingSize, punchingHole, zeroing, zeroingKeepingSize

        var keepsSize: Bool { self != .plain && self != .zeroing }
    }

    /// The bytes that a call has taken, and the purge for it.
    public struct Outcome: Equatable, Sendable {
        /// The bytes written or allocated; 0 means ENOSPC unless none were asked for.
        public var bytes: Int64
        public var purge: Purge

        public init(bytes: Int64, purge: Purge = Purge()) {
            self.bytes = bytes
            self.purge = purge
        }
    }

    static func blocks(_ offset: Int64, _ length: Int64) -> Range<Int64> {
        guard length > 0 else { return offset / block..<offset / block }
        return offset / block..<(offset + length + block - 1) / block
    }

    /// Models write(2), pwrite(2) or copy_file_range(2) into an open file: takes the part that fits, and purges for just that
    /// part. A page of a mapping is written whole or not at all. Up to 1 MiB is one request; a larger call could differ only in
    /// intermediate levels of pressure.
    @discardableResult
    public mutating func write(
        _ id: FileID, at offset: Int64, count: Int64, isMapped: Bool = false
    ) -> Outcome {
        precondition(file(id).opens > 0, "the file is not open")
        guard count > 0 else { return Outcome(bytes: 0) }
        var end = offset + count
        if let short = firstBlockThatDoesNotFit(id, Self.blocks(offset, count)) {
            end = isMapped ? offset : short * Self.block
        }
        guard end > offset else { return Outcome(bytes: 0) }
        let purge = add(Self.blocks(offset, end - offset), to: id)
        change(id) { $0.size = max($0.size, end) }
        noteUse(of: id)
        judgePressure()
        return Outcome(bytes: end - offset, purge: purge)
    }

    /// Models fallocate(2) of an open file: all or nothing.
    @discardableResult
    public mutating func allocate(
        _ id: FileID, _ mode: Allocation, at offset: Int64, count: Int64
    ) -> Outcome {
        precondition(file(id).opens > 0 && count > 0, "the file is not open, or nothing is asked for")
        if mode == .punchingHole {
            punch(id, at: offset, count: count)
            return Outcome(bytes: count)
        }
        let blocks = Self.blocks(offset, count)
        guard firstBlockThatDoesNotFit(id, blocks) == nil else { return Outcome(bytes: 0) }
        let purge = add(blocks, to: id)
        if !mode.keepsSize { change(id) { $0.size = max($0.size, offset + count) } }
        judgePressure()
        return Outcome(bytes: count, purge: purge)
    }

    /// Models truncate(2) and ftruncate(2): frees every block past the new end, and allocates nothing.
    public mutating func truncate(_ id: FileID, to size: Int64) {
        let end = (size + Self.block - 1) / Self.block
        change(id) { file in
            file.size = size
            file.blocks = file.blocks.filter { $0 < end }
        }
        judgePressure()
    }

    /// Frees whole blocks only; the last block counts as whole if the punch reaches the end of the file.
    private mutating func punch(_ id: FileID, at offset: Int64, count: Int64) {
        let end = offset + count
        change(id) { file in
            let size = file.size
            file.blocks = file.blocks.filter { number in
                let (first, last) = (number * Self.block, (number + 1) * Self.block)
                let isWhole = first >= offset && last <= end
                let isLastOfFile = first >= offset && first < size && last >= size && end >= size
                return !isWhole && !isLastOfFile
            }
        }
        judgePressure()
    }

    /// Returns nil if all blocks fit.
    private func firstBlockThatDoesNotFit(_ id: FileID, _ blocks: Range<Int64>) -> Int64? {
        let file = file(id)
        var room = (file.isImportant ? important : opportunistic) / Self.block
        for block in blocks where !file.blocks.contains(block) {
            if room == 0 { return block }
            room -= 1
        }
        return nil
    }

    /// Charges blocks that are known to fit, and purges as many bytes as free space lacks for them.
    private mutating func add(_ blocks: Range<Int64>, to id: FileID) -> Purge {
        let present = file(id).blocks
        let new = blocks.filter { !present.contains($0) }
        guard !new.isEmpty else { return Purge() }
        let purge = takeAway(bytes: Int64(new.count) * Self.block - balance)
        change(id) { $0.blocks.formUnion(new) }
        return purge
    }
}
