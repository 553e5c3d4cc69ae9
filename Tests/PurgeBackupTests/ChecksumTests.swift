import Testing

@testable import PurgeBackup

struct ChecksumTests {
    private func of(_ bytes: [UInt8]) -> String {
        var checksum = Checksum()
        checksum.add(bytes)
        return checksum.text
    }

    /// The check value of CRC-32/ISO-HDLC.
    @Test func isThatOfZip() { #expect(of(Array("123456789".utf8)) == "cbf43926") }

    @Test func nothing() { #expect(Checksum().text == "00000000") }

    @Test(arguments: [1, 2, 3, 7, 4096, 70_001]) func zerosWithoutReadingThem(count: Int) {
        var whole = Checksum()
        whole.add([1, 2] + [UInt8](repeating: 0, count: count) + [3])
        var skipped = Checksum()
        skipped.add([1, 2])
        skipped.addZeros(Int64(count))
        skipped.add([3])
        #expect(skipped == whole)
    }

    /// 16 TiB of zeros have the same checksum whether they are added at once or in four parts.
    @Test func manyZeros() {
        var joined = Checksum()
        for _ in 0..<4 { joined.addZeros(1 << 42) }
        var whole = Checksum()
        whole.addZeros(1 << 44)
        #expect(joined == whole && whole.count == 1 << 44)
    }
}
