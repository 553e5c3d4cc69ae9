import CArchive

/// A CRC-32 as in zip(1) and zlib, of bytes that come in order.
struct Checksum: Hashable {
    private var value: UInt = 0
    private(set) var count: Int64 = 0

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = crc32_z(value, start.assumingMemoryBound(to: UInt8.self), bytes.count)
        count += Int64(bytes.count)
    }

    mutating func add(_ bytes: some Sequence<UInt8>) { Array(bytes).withUnsafeBytes { add($0) } }

    /// Adds zeros, in time that grows with the number of digits of `zeros`.
    mutating func addZeros(_ zeros: Int64) {
        guard zeros > 0 else { return }
        value = crc32_combine(value, Self.ofZeros(zeros), Int(zeros))
        count += zeros
    }

    private static func ofZeros(_ count: Int64) -> UInt {
        guard count > 1 else { return crc32_z(0, [0], 1) }
        let half = ofZeros(count / 2)
        let even = crc32_combine(half, half, Int(count / 2))
        return count % 2 == 0 ? even : crc32_combine(even, crc32_z(0, [0], 1), 1)
    }

    /// The checksum in eight hexadecimal digits.
    var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }
}
