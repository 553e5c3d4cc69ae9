import Glibc
import PurgeModel
import Testing

@testable import PurgeStore

/// A process killed by a signal while it writes leaves the store undamaged and no partial batch of events.
struct KilledProcessTests {
    /// The arguments are the microseconds until the signal, counted from just before the first batch.
    @Test(arguments: [500, 3000, 10_000, 40_000, 90_000]) func leavesAWholeStore(life: UInt32) async throws {
        let directory = try TemporaryDirectory()
        let path = directory["s"]
        await #expect(processExitsWith: .signal(SIGALRM)) { [path = path as String, life = life as UInt32] in
            let store = try Store.open(path, creating: true)
            let journal = try Journal.open(in: store)
            var settings = Device(containerID: DeviceSettingsTests.id)
            try store.saveSettings(settings)
            ualarm(life, 0)
            while true {
                settings.boots += 1
                let first = journal.lastSequence + 1
                // Each batch has seven events, so their total number would reveal a partial batch.
                try journal.append((first..<(first + 7)).map { Event(seq: $0, type: .mark, reason: "\(first)") })
                try journal.saveLastUses([
                    .init(inode: 1, birth: settings.boots, lastUse: Instant(nanoseconds: settings.boots))
                ])
                try store.saveSettings(settings)
            }
        }
        #expect(try StoreInspection.run(path, repairing: false).problems == [])
        let events = try JournalReader(storePath: path).events()
        #expect(events.count % 7 == 0)
        #expect(events.map(\.seq) == Array(0..<Int64(events.count)).map { $0 + 1 })
        let store = try Store.open(path, creating: false)
        #expect(try Journal.open(in: store).lastSequence == Int64(events.count))
        // Batch n is written before the settings of boot n + 1, and these before batch n + 1.
        let boots = try store.loadSettings().boots
        #expect([boots, boots - 1].contains(Int64(events.count) / 7))
    }
}
