/// The blocks of data that a loss of power has left, if no sync has decided it (docs/POWER.md, What a sync keeps).
struct TornData {
    typealias File = RecordedTree.File

    /// The part of a call that is there.
    struct Kept {
        /// Nil for the whole call.
        var ranges: [Range<Int64>]?
        /// The size that the file has at least.
        var size: Int64?
    }

    /// What has reached the disk of a file's size.
    private enum Size: UInt64 {
        /// As far as the data, or the end of its last block if the file was that long when the data was written.
        case ofData
        /// As far as all writes up to the point; zeros where there is no data.
        case ofWrites
        /// No write has extended the file.
        case before
        /// The size before the write, rounded up to a whole block, but not past the end of the write; zeros where there is no
        /// data.
        case ofLastBlock
    }

    let seed: UInt64
    private(set) var kept: [Int: Kept] = [:]
    /// The number of writes to each block that no sync has decided, and how many of them have been passed.
    private var versions: [File: [Int64: Int]] = [:]
    private var passed: [File: [Int64: Int]] = [:]
    /// The first block that a lost truncation has taken from the file: what was written there later went to new blocks.
    private var cut: [File: Int64] = [:]
    /// The sizes that are known, of what is there, and of what the app has seen.
    private var sizes: [File: Int64] = [:]
    private var seen: [File: Int64] = [:]

    init(seed: UInt64) { self.seed = seed }

    /// Decides about the writes of a record. `isThere` says of each call whether it is there as a whole.
    mutating func tear(_ record: PowerRecord, _ isThere: inout [Bool], synced: [Bool], point: Int) {
        var open: [Int: File] = [:]
        for index in isThere.indices {
            guard case .data(let file) = record.effects[index] else { continue }
            let call = record.calls[index]
            if call.call != .write {
                if !isThere[index], let first = Self.firstCut(by: call) { cut[file] = min(cut[file] ?? .max, first) }
            } else if !synced[index] {
                isThere[index] = false
                open[index] = file
                for block in blocks(of: call, file) { versions[file, default: [:]][block, default: 0] += 1 }
            }
        }
        if seed == 0 { return }
        cut = [:]
        for index in isThere.indices {
            let call = record.calls[index]
            switch record.effects[index] {
            case .names(let change) where change.creates: (sizes[change.file], seen[change.file]) = (0, 0)
            case .data(let file):
                Self.resize(&seen[file], by: call)
                if open[index] != nil {
                    keepBlocks(of: call, index, file, isBeforePoint: index < point)
                    isThere[index] = kept[index] != nil
                } else if isThere[index] {
                    Self.resize(&sizes[file], by: call)
                    keepSizeOfHole(of: call, index, file)
                } else {
                    keepZeros(of: call, index, file)
                    isThere[index] = kept[index] != nil
                    if let first = Self.firstCut(by: call) { cut[file] = min(cut[file] ?? .max, first) }
                }
            default: break
            }
        }
    }

    /// The first block that a truncation frees, or that a fallocate(2) other than a mere reservation concerns.
    private static func firstCut(by call: RecordedCall) -> Int64? {
        switch call.call {
        case .fallocate: (call.flags ?? 0) & ~1 == 0 ? nil : (call.offset ?? 0) / PowerLoss.block
        case .truncate: roundedUp(call.size ?? 0) / PowerLoss.block
        default: 0
        }
    }

    /// The blocks of a write, without those that a lost truncation has taken.
    private func blocks(of call: RecordedCall, _ file: File) -> Range<Int64> {
        let (start, count) = (call.offset ?? 0, call.result ?? 0)
        guard count > 0 else { return 0..<0 }
        let first = start / PowerLoss.block
        return first..<max(first, min((start + count - 1) / PowerLoss.block + 1, cut[file] ?? .max))
    }

    private mutating func keepBlocks(of call: RecordedCall, _ index: Int, _ file: File, isBeforePoint: Bool) {
        let start = call.offset ?? 0
        var end = start + (call.result ?? 0)
        let isCut = cut[file].map { $0 * PowerLoss.block < end } ?? false
        let size = Size(rawValue: chance(UInt64(file) << 1 | 1 << 63) % 4) ?? .ofData
        if let known = sizes[file], size == .before || size == .ofLastBlock {
            end = min(end, size == .before ? known : Self.roundedUp(known))
        }
        var ranges: [Range<Int64>] = []
        for block in blocks(of: call, file) {
            let number = passed[file, default: [:]][block, default: 0] + 1
            passed[file, default: [:]][block] = number
            let last = chance(UInt64(file) << 32 ^ UInt64(block)) % UInt64((versions[file]?[block] ?? 0) + 1)
            let (from, to) = (max(start, block * PowerLoss.block), min(end, (block + 1) * PowerLoss.block))
            guard number <= last, from < to else { continue }
            if let before = ranges.last, before.upperBound == from {
                ranges[ranges.count - 1] = before.lowerBound..<to
            } else {
                ranges.append(from..<to)
            }
        }
        let extends = size == .ofWrites || (size == .ofLastBlock && end > sizes[file] ?? .max)
        var whole = extends && isBeforePoint && !isCut ? end : nil
        if size == .ofData, !isCut, let data = ranges.last?.upperBound, let seen = seen[file],
            data < min(Self.roundedUp(data), seen), chance(UInt64(index) << 1 | 1 << 60) % 2 == 0
        {
            whole = min(Self.roundedUp(data), seen)
        }
        guard !ranges.isEmpty || whole != nil else { return }
        kept[index] = Kept(ranges: ranges, size: whole)
        if let known = sizes[file] { sizes[file] = max(known, whole ?? ranges.last?.upperBound ?? 0) }
    }

    /// A truncation zeroes the rest of its last block before its new size is there, and a hole that of its first block.
    private mutating func keepZeros(of call: RecordedCall, _ index: Int, _ file: File) {
        guard let known = sizes[file], let first = call.call == .truncate ? call.size : Self.hole(of: call)?.lowerBound,
            chance(UInt64(index) << 1 | 1 << 62) % 2 == 0
        else { return }
        let end = min(known, Self.roundedUp(first), Self.hole(of: call)?.upperBound ?? .max)
        if first < end { kept[index] = Kept(ranges: [first..<end]) }
    }

    /// A hole may give the file the size at the hole's end, although the writes that go farther are lost.
    private mutating func keepSizeOfHole(of call: RecordedCall, _ index: Int, _ file: File) {
        guard let hole = Self.hole(of: call), let known = sizes[file], let seen = seen[file],
            chance(UInt64(index) << 1 | 1 << 61) % 2 == 0
        else { return }
        let size = min(hole.upperBound, seen)
        if size > known { (kept[index], sizes[file]) = (Kept(size: size), size) }
    }

    /// The bytes that fallocate(2) frees: FALLOC_FL_PUNCH_HOLE.
    private static func hole(of call: RecordedCall) -> Range<Int64>? {
        guard call.call == .fallocate, (call.flags ?? 0) & 2 != 0, let start = call.offset, let size = call.size else {
            return nil
        }
        return start..<start + size
    }

    /// Applies a call to the size of a file, if it is known.
    private static func resize(_ size: inout Int64?, by call: RecordedCall) {
        switch call.call {
        case .truncate: size = call.size ?? 0
        case .open: size = 0
        case .write, .fallocate:
            let length = call.call == .write ? call.result ?? 0 : call.size ?? 0
            // FALLOC_FL_KEEP_SIZE
            if call.call == .write || (call.flags ?? 0) & 1 == 0 {
                size = size.map { max($0, (call.offset ?? 0) + length) }
            }
        default: break
        }
    }

    /// Returns a size rounded up to whole blocks, or the largest whole number of blocks if that would overflow.
    private static func roundedUp(_ size: Int64) -> Int64 {
        let (sum, overflow) = size.addingReportingOverflow(PowerLoss.block - 1)
        return (overflow ? .max : sum) / PowerLoss.block * PowerLoss.block
    }

    private func chance(_ place: UInt64) -> UInt64 { FaultRules.mixed(seed ^ FaultRules.mixed(place)) }
}
