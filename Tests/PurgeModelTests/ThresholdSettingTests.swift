import PurgeModel
import Testing

@Suite struct ThresholdSettingTests {
    @Test(
        arguments: [
            ("5%", 500), ("10%", 1000), ("10.5%", 1050), ("10.50%", 1050), ("10.05%", 1005), ("0%", 0), ("0.01%", 1),
            ("100%", 10000), ("100.0%", 10000), ("010%", 1000),
        ] as [(String, Int64)])
    func readsPercentages(text: String, hundredths: Int64) {
        #expect(ThresholdSetting(text: text) == .percent(hundredths: hundredths))
    }

    @Test(arguments: [("0", 0), ("512M", 536_870_912), ("64GB", 64_000_000_000)] as [(String, Int64)])
    func readsSizes(text: String, bytes: Int64) {
        #expect(ThresholdSetting(text: text) == .size(ByteCount(bytes)))
    }

    @Test(arguments: [
        "", "%", ".5%", "5.%", "10.555%", "10.5.1%", "10,5%", "-5%", "+5%", "5 %", " 5%", "5%%", "5%K", "5K%", "101%",
        "100.01%", "99999999999999999999%", "٥%", "10.٥%", "off", "-1",
    ])
    func refusesTheRest(text: String) {
        #expect(ThresholdSetting(text: text) == nil)
    }

    @Test(
        arguments: [
            // 5 % of 64 GiB is 3435973836.8; the next block begins at 838861 * 4096.
            (500, 68_719_476_736, 3_435_974_656),
            (1000, 68_719_476_736, 6_871_949_312),
            (1050, 68_719_476_736, 7_215_546_368),
            (1100, 68_719_476_736, 7_559_143_424),
            (500, 64_000_000_000, 3_200_000_000),  // exact, so not rounded
            (500, 409_600, 20480),
            (1050, 409_600, 45056),  // 10.5 blocks round up to 11
            (1, 4096, 4096), (0, 4096, 0), (10000, 409_600, 409_600), (500, 0, 0),
            (1100, 1_152_921_504_606_846_976, 126_821_365_506_756_608),
        ] as [(Int64, Int64, Int64)])
    func percentagesRoundUpToABlock(hundredths: Int64, total: Int64, bytes: Int64) {
        #expect(ThresholdSetting.percent(hundredths: hundredths).resolved(total: ByteCount(total)).bytes == bytes)
    }

    @Test(arguments: [(0, 0), (1, 4096), (4096, 4096), (4097, 8192)] as [(Int64, Int64)])
    func sizesRoundUpToABlockWhateverTheTotal(size: Int64, bytes: Int64) {
        let setting = ThresholdSetting.size(ByteCount(size))
        #expect(setting.resolved(total: .zero).bytes == bytes)
        #expect(setting.resolved(total: ByteCount(blocks: 1000)).bytes == bytes)
    }
}
