import PurgeModel
import Testing

@Suite struct ByteCountTests {
    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("4096", 4096), ("007", 7),
            ("64K", 65536), ("512M", 536_870_912), ("64G", 68_719_476_736), ("2T", 2_199_023_255_552),
            ("64KB", 64000), ("512MB", 512_000_000), ("64GB", 64_000_000_000), ("2TB", 2_000_000_000_000),
            ("0K", 0), ("0GB", 0),
            ("64KiB", 65536), ("30MiB", 31_457_280), ("64GiB", 68_719_476_736), ("2TiB", 2_199_023_255_552),
            ("1.5G", 1_610_612_736), ("1.5GiB", 1_610_612_736), ("1.5GB", 1_500_000_000), ("0.5K", 512),
            ("1.50G", 1_610_612_736), ("2.0", 2), ("0.0", 0), ("10.125K", 10368), ("0.0009765625K", 1),
            ("1.000001MB", 1_000_001), ("2.000000000000000000000000M", 2_097_152),
            ("1048575.5T", 1_152_920_954_851_033_088),
            ("1048576T", 1_152_921_504_606_846_976), ("1152921504606846976", 1_152_921_504_606_846_976),
        ] as [(String, Int64)])
    func readsSizes(text: String, bytes: Int64) {
        #expect(ByteCount(text: text)?.bytes == bytes)
    }

    @Test(arguments: [
        "", " ", "K", "GB", "64 G", " 64G", "64G ", "64G\n", "64k", "64g", "64Gb", "64Kib", "64KIB", "64iB", "64B",
        "64P",
        "64KK", "64K4", "-1", "+1", "-64K", "1,5G", ".5G", "5.G", "1.5.G", "1..5G", "1.5", "1.3K", "0.1G",
        "1.0000001MB", "-1.5G", "1.٥G", "1e3", "0x10", "1_000", "64\u{212A}", "٦٤", "6٤",
        "4\u{301}",
        "1048577T", "1152921504606846977", "9223372036854775807", "9223372036854775808", "99999999999999999999",
        "9223372036854775807T", "1048576.5T", "1152921504606846976.5", "off", "tmp", "50%",
    ])
    func refusesWhatIsNoSize(text: String) {
        #expect(ByteCount(text: text) == nil)
    }

    @Test(
        arguments: [
            ("x", .malformed), ("", .malformed), ("1.2.3", .malformed), ("0.3K", .notWhole), ("1.5", .notWhole),
            ("0.1234567890123456789K", .notWhole), ("1048577T", .tooLarge), ("99999999999999999999", .tooLarge),
            ("99999999999999999999.5K", .tooLarge),
        ] as [(String, ByteCount.Fault)])
    func saysWhyATextIsNoSize(text: String, fault: ByteCount.Fault) {
        #expect(ByteCount.reading(text) == .failure(fault))
    }

    @Test func readsPartOfALargerText() {
        #expect(ByteCount(text: "+64K".dropFirst())?.bytes == 65536)
    }

    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1126, "1.0 KiB"), (1127, "1.1 KiB"),
            (4096, "4.0 KiB"), (1_048_575, "1023.9 KiB"), (1_048_576, "1.0 MiB"), (67_108_864, "64.0 MiB"),
            (1_181_116_006, "1.0 GiB"), (1_181_116_007, "1.1 GiB"), (68_719_476_736, "64.0 GiB"),
            (64_000_000_000, "59.6 GiB"), (1_099_511_627_776, "1.0 TiB"), (1_125_899_906_842_624, "1.0 PiB"),
            (1_152_921_504_606_846_976, "1.0 EiB"), (-1, "-1 B"), (-4096, "-4.0 KiB"), (-1536, "-1.5 KiB"),
        ] as [(Int64, String)])
    func printsForPeople(bytes: Int64, text: String) {
        #expect(ByteCount(bytes).inWords == text)
    }

    @Test(arguments: [(Int64.max, "7.9 EiB"), (Int64.min, "-8.0 EiB")])
    func printsTheExtremes(bytes: Int64, text: String) {
        #expect(ByteCount(bytes).inWords == text)
    }

    @Test(
        arguments: [
            (0, 0, 0, 0), (1, 0, 0, 4096), (4095, 0, 0, 4096), (4096, 1, 4096, 4096), (4097, 1, 4096, 8192),
            (8191, 1, 4096, 8192), (8192, 2, 8192, 8192), (68_719_476_737, 16_777_216, 68_719_476_736, 68_719_480_832),
        ] as [(Int64, Int64, Int64, Int64)])
    func roundsToBlocks(bytes: Int64, whole: Int64, down: Int64, up: Int64) {
        let count = ByteCount(bytes)
        #expect(count.wholeBlocks == whole)
        #expect(count.roundedDown.bytes == down)
        #expect(count.roundedUp.bytes == up)
        #expect(count.blocks == up / 4096)
    }

    @Test(arguments: [Int64.max, Int64.max - 4095])
    func roundsDownWhatCannotBeRoundedUp(bytes: Int64) {
        #expect(ByteCount(bytes).roundedUp.bytes == 9_223_372_036_854_771_712)
    }

    @Test func addsAndSubtracts() {
        var count = ByteCount(blocks: 3)
        count += ByteCount(10)
        count -= ByteCount(8)
        #expect(count.bytes == 12290)
        #expect((ByteCount(5) - ByteCount(7)).bytes == -2)
        #expect(ByteCount(5) < ByteCount(7))
    }

    /// Sums and conversions saturate at the ends of Int64's range, because callers and stores may supply any number.
    @Test func sumsAndConversionsEndAtTheEndsOfTheRange() {
        let ends: [Int64] = [
            .min, .min + 1, .min + 4095, -4096, -1, 0, 1, 4095, 4096, 1 << 51, 1 << 62, .max - 4095, .max,
        ]
        for a in ends {
            #expect(ByteCount(blocks: a).bytes == (a > 1 << 51 - 1 ? .max : a < -(1 << 51) ? .min : a * 4096))
            #expect(ByteCount(a).blocks >= ByteCount(a).wholeBlocks)
            for b in ends {
                let (sum, difference) = (ByteCount(a) + ByteCount(b), ByteCount(a) - ByteCount(b))
                let (exactSum, exactDifference) = (Double(a) + Double(b), Double(a) - Double(b))
                #expect(sum.bytes == .max || sum.bytes == .min || sum.bytes &- a == b)
                #expect(difference.bytes == .max || difference.bytes == .min || a &- difference.bytes == b)
                if abs(exactSum) > 0x1p63 { #expect(sum.bytes == (exactSum > 0 ? .max : .min)) }
                if abs(exactDifference) > 0x1p63 { #expect(difference.bytes == (exactDifference > 0 ? .max : .min)) }
            }
        }
        #expect(ByteCount(.max).blocks == 1 << 51 && ByteCount(4097).blocks == 2 && ByteCount(-1).blocks == 0)
        #expect(ByteCount.largestFile.bytes == 17_592_186_040_320)
    }
}
