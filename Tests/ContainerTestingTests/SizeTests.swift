import Testing

@testable import ContainerTesting

@Suite struct SizeTests {
    @Test(arguments: [
        ("4096", 4096), ("64K", 65536), ("1M", 1_048_576), ("2G", 2_147_483_648), ("1T", 1_099_511_627_776),
        ("64KiB", 65536), ("64KB", 64000), ("5GB", 5_000_000_000), ("0", 0),
    ])
    func bytes(text: String, bytes: Int) { #expect(Container.Size(text: text).bytes == bytes) }

    @Test(arguments: ["", "K", "1.5G", "-1", "+1", "1x", "1MB2", "99999999T", "١"])
    func noBytes(text: String) { #expect(Container.Size(text: text).bytes == nil) }

    @Test func texts() {
        let sizes: [Container.Size] = [4096, "64M", .kibibytes(3), .mebibytes(2), .gibibytes(1), Container.Size(5)]
        #expect(sizes.map(\.description) == ["4096", "64M", "3K", "2M", "1G", "5"])
        let changes: [Container.Change] = [4096, "+1G", .to("2M"), .plus("1K"), .minus(512)]
        #expect(changes.map(\.description) == ["4096", "+1G", "2M", "+1K", "-512"])
        let spans: [Container.Span] = ["90m", .seconds(1), .minutes(2), .hours(3), .days(4), .weeks(5)]
        #expect(spans.map(\.description) == ["90m", "1s", "2m", "3h", "4d", "5w"])
    }

    @Test func sameSizes() {
        let sizes: Set<Container.Size> = ["64M", .mebibytes(64), Container.Size(67_108_864), "65536K", "64MiB"]
        #expect(sizes.count == 1)
        #expect(Container.Size("64M") != "64MB" && Container.Size("1.5M") != "1572864")
        #expect(Container.Size("1.5M") == "1.5M")
    }

    @Test func settings() {
        let suite = Container.Settings(
            total: "64M", others: "8M", protection: .complete, options: ["--state", "locked"])
        let test = Container.Settings(others: "1M", profile: .device, purgeLatency: .seconds(0), options: ["--debug"])
        #expect(
            suite.overridden(by: test).words == [
                "--total", "64M", "--others", "1M", "--profile", "device", "--purge-latency", "0s", "--protection",
                "complete", "--state", "locked", "--debug",
            ])
        #expect(Container.Settings().words == [])
    }

    /// Swift infers the type of an expression of literals from its context, such as a parameter of type `Size`.
    @Test func expressionsOfLiterals() {
        let sizes: [Container.Size] = [64 << 10, 64 * 1024, 3 * 1024 * 1024, "1K" * 2]
        #expect(sizes.map(\.description) == ["65536", "65536", "3145728", "2048"])
        #expect(type(of: 64 << 10) == Int.self)
    }

    /// purgefs refuses these sizes when they are used.
    @Test func expressionsWithoutAValue() {
        let sizes: [Container.Size] = [.init(.max) * 2, 1 << 63, 1 << -1, "1.5M" * 2]
        #expect(sizes.map(\.bytes) == [nil, nil, nil, nil])
    }
}
