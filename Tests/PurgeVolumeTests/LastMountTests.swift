import PurgeModel
import Support
import Testing

@testable import PurgeVolume

/// A mount that ended with an unmount never looks unfinished in the journal.
struct LastMountTests {
    @Test func recordingEndsAndBeginsAgain() throws {
        try withStore { path in
            func mount(_ size: ByteCount, then end: ByteCount? = nil) throws -> [EventType] {
                let live = try LiveVolume(path) { settings in
                    LiveVolume.small(&settings)
                    settings.journal = JournalBounds(size: size)
                }
                try live.volume.startThreads()
                if let end { try live.command(.journalSize, "\(end.bytes)") }
                #expect(live.volume.end() == nil)
                return try live.journal().map(\.type)
            }
            let large = ByteCount(64 << 20)
            #expect(try mount(large, then: .zero).filter { $0 != .capacity } == [.mount, .unmount])
            // A mount that records nothing from its beginning leaves no event at all.
            #expect(try mount(.zero).filter { $0 != .capacity } == [.mount, .unmount])
            let told = try mount(large).filter { $0 != .capacity }
            #expect(told == [.mount, .unmount, .mount, .unmount])
        }
    }
}
