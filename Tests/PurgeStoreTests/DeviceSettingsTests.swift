import PurgeModel
import Testing

@testable import PurgeStore

struct DeviceSettingsTests {
    static let id = "3F2504E0-4F89-41D3-9A0C-0305E82C3301"
    var settings = Device(containerID: Self.id)

    @Test mutating func keepsWhatWasNotGiven() throws {
        settings.others = ByteCount(8192)
        let before = settings
        try settings.apply(SettingsChange())
        #expect(settings == before)
    }

    @Test mutating func roundsTotalDownAndOthersUp() throws {
        var change = SettingsChange()
        (change.total, change.others, change.othersPurgeable) = (ByteCount(1_000_000), ByteCount(5000), ByteCount(1))
        try settings.apply(change)
        #expect(settings.total == ByteCount(999_424))
        #expect(settings.others == ByteCount(8192))
        #expect(settings.othersPurgeable == ByteCount(4096))
    }

    @Test mutating func takesProfileAndProtection() throws {
        var change = SettingsChange()
        change.protection = .complete
        try settings.apply(change)
        #expect(settings.protection == .complete)
    }

    @Test mutating func refusesMorePurgeableThanOthers() throws {
        var change = SettingsChange()
        (change.total, change.others, change.othersPurgeable) = (ByteCount(4096), ByteCount(4096), ByteCount(4097))
        let before = settings
        let error = try storeError { try settings.apply(change) }
        #expect(error.path == "--others-purgeable")
        #expect(error.what == "8192 is more than the 4096 bytes of others, which it is a part of")
        #expect(settings == before)
    }

    @Test mutating func shrinksPurgeableWithOthers() throws {
        (settings.others, settings.othersPurgeable) = (ByteCount(40960), ByteCount(20480))
        var change = SettingsChange()
        change.others = ByteCount(8192)
        try settings.apply(change)
        #expect(settings.othersPurgeable == ByteCount(8192))
    }

    @Test mutating func refusesASizeBelowZero() throws {
        var change = SettingsChange()
        change.total = ByteCount(-1)
        let error = try storeError { try settings.apply(change) }
        #expect(error.path == "--total")
    }
}
