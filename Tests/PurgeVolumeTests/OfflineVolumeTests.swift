import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// A store that no daemon holds, used through the control files of a mount.
struct OfflineVolumeTests {
    /// Creates a store with 3 blocks in tmp and 2 in Documents.
    static func withFilledStore(_ body: (String) throws -> Void) throws {
        try withStore { store in
            do {
                let live = try LiveVolume(store)
                try live.make("tmp/a", blocks: 3)
                try live.make("Documents/b", blocks: 2)
                live.volume.end()
            }
            try body(store)
        }
    }

    @Test func readsWhatAMountWould() throws {
        try Self.withFilledStore { store in
            let offline = try OfflineVolume(storePath: store)
            #expect(try offline.read("storage.used") == "20480\n")
            #expect(try offline.read("storage.reclaimable") == "12288\n")
            #expect(try offline.read("status.json").contains("\"running\": false"))
            #expect(throws: Errno.noEntry) { try offline.read("storage.none") }
            for name in ["events", "storage.plan", "storage.reclaim"] {
                #expect(throws: Errno.accessDenied) { try offline.read(name) }
            }
            try offline.close()
        }
    }

    @Test func whatIsWrittenIsKept() throws {
        try Self.withFilledStore { store in
            do {
                let offline = try OfflineVolume(storePath: store)
                try offline.write("1M\n", to: "storage.total")
                #expect(throws: Errno.invalid) { try offline.write("x", to: "storage.total") }
                #expect(throws: Errno.accessDenied) { try offline.write("1", to: "storage.used") }
                #expect(throws: Errno.noEntry) { try offline.write("1", to: "none") }
                try offline.close()
            }
            let offline = try OfflineVolume(storePath: store)
            #expect(try offline.read("storage.total") == "1048576\n")
            try offline.close()
            #expect(try JournalReader(storePath: store).events(.init(types: [.capacity])).count == 1)
        }
    }

    @Test func purges() throws {
        try Self.withFilledStore { store in
            let offline = try OfflineVolume(storePath: store)
            let plan = try offline.exchange(Array("tmp".utf8), with: "storage.plan").text
            #expect(plan == "{\"path\":\"tmp/a\",\"reason\":\"temporary\",\"bytes\":12288}\n")
            #expect(Files.exists("\(store)/container/tmp/a"))
            try offline.write("tmp", to: "storage.reclaim")
            #expect(!Files.exists("\(store)/container/tmp/a"))
            #expect(try offline.read("storage.used") == "8192\n")
            try offline.close()
            #expect(try JournalReader(storePath: store).events(.init(types: [.purge])).map(\.path) == ["tmp/a"])
        }
    }

    /// An offline volume purges nothing in the background, and no call waits for a background purge.
    @Test func pressureOnlyShows() throws {
        try Self.withFilledStore { store in
            let offline = try OfflineVolume(storePath: store)
            try offline.write("low 95%\nnearlow 95%\ndesired 95%", to: "storage.thresholds")
            #expect(try offline.read("storage.pressure") == "low\n")
            #expect(Files.exists("\(store)/container/tmp/a"))
            try offline.close()
        }
    }

    @Test func theStoreIsFreeAgainAfterwards() throws {
        try Self.withFilledStore { store in
            do {
                let offline = try OfflineVolume(storePath: store)
                #expect(throws: StoreError.self) { _ = try OfflineVolume(storePath: store) }
                try offline.close()
            }
            #expect(try LiveVolume(store).used == 5)
        }
    }

    @Test func whereThereIsNoStore() {
        #expect(throws: StoreError.self) { _ = try OfflineVolume(storePath: "/nowhere/at/all") }
    }
}
