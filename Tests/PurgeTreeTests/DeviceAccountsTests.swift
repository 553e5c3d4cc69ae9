import PurgeModel
import Testing

@testable import PurgeTree

/// The device of a tree, and the level of pressure, which each change to the device may raise or lower.
struct DeviceAccountsTests {
    private struct Refusal: Error {}

    /// A refused change may already have altered the device, so the level is judged again.
    @Test func aChangeThatFailsIsJudgedToo() throws {
        var accounts = DeviceAccounts(Device(containerID: "00000000-0000-0000-0000-000000000000"))
        let all = try #require(SizeChange(text: "64G"))
        _ = accounts.endChange(judging: true)
        let before = accounts.device.level
        #expect(before == .normal)
        #expect(throws: Refusal.self) {
            try accounts.change { device in
                _ = try device.apply(.others(all), as: "", by: 0, at: Instant(nanoseconds: 0))
                throw Refusal()
            }
        }
        _ = accounts.endChange(judging: true)
        let after = accounts.device.level
        #expect(after == .veryLow)
    }
}
