import PurgeModel
import Testing

struct BackupPlacementTests {
    /// A path, the flagged paths on it, the expected exclusion (nil for an entry in the backup), and whether the entry's own
    /// flag is redundant.
    static let table: [(path: String, flagged: [String], exclusion: BackupExclusion?, isRedundant: Bool)] = [
        ("Documents", [], nil, false),
        ("Documents/a", [], nil, false),
        ("Documents/a", ["Documents/a"], .excluded, false),
        ("Documents/a", ["Documents"], .excluded, false),
        ("Documents/a/b/c", ["Documents/a"], .excluded, false),
        ("Documents/a/b/c", ["Documents/a", "Documents/a/b/c"], .excluded, true),
        ("Documents/a", [""], .excluded, false),
        ("Documents/a", ["", "Documents/a"], .excluded, true),
        ("tmp", [], .temporary, false),
        ("tmp/a", [], .temporary, false),
        ("tmp/a", ["tmp/a"], .temporary, true),
        ("tmp", ["tmp"], .temporary, true),
        ("tmp/a", [""], .excluded, false),
        ("Library", [], nil, false),
        ("Library/Caches", [], .caches, false),
        ("Library/Caches/a/b", [], .caches, false),
        ("Library/Caches/a", ["Library/Caches/a"], .caches, true),
        ("Library/Caches", ["Library"], .excluded, false),
        ("Library/Preferences/a.plist", [], nil, false),
        ("Library/Application Support/x", ["Library/Application Support"], .excluded, false),
        ("Documents/tmp/a", [], nil, false),
        ("Documents/Library/Caches/a", [], nil, false),
        ("Caches/a", [], nil, false),
        ("other", [], nil, false),
    ]

    private func placement(_ path: String, _ flagged: [String], isSpecial: Bool = false) -> BackupPlacement {
        var placement = BackupPlacement.root(isFlagged: flagged.contains(""))
        var place = ""
        let names = path.split(separator: "/")
        for (index, name) in names.enumerated() {
            place += (place.isEmpty ? "" : "/") + name
            placement = placement.entry(
                named: name.utf8, isFlagged: flagged.contains(place),
                isSpecial: isSpecial && index == names.count - 1)
        }
        return placement
    }

    @Test(arguments: table) func whatIsInABackup(
        row: (path: String, flagged: [String], exclusion: BackupExclusion?, isRedundant: Bool)
    ) {
        let found = placement(row.path, row.flagged)
        #expect(found.exclusion == row.exclusion && found.isRedundantlyFlagged == row.isRedundant)
    }

    @Test func special() {
        #expect(placement("Documents/fifo", [], isSpecial: true).exclusion == .special)
        #expect(placement("tmp/fifo", [], isSpecial: true).exclusion == .temporary)
        #expect(placement("Documents/a/fifo", ["Documents/a"], isSpecial: true).exclusion == .excluded)
    }

    /// An excluded folder stands for everything in it, so the entries in it are not first.
    @Test func first() {
        #expect(placement("tmp", []).isFirst && !placement("tmp/a", []).isFirst)
        #expect(placement("Documents/a", ["Documents/a"]).isFirst)
        #expect(!placement("Documents/a/b", ["Documents/a"]).isFirst)
        #expect(!placement("Documents", [""]).isFirst && BackupPlacement.root(isFlagged: true).isFirst)
        #expect(BackupPlacement.root(isFlagged: true).exclusion == .excluded)
        #expect(BackupPlacement.root(isFlagged: false).exclusion == nil)
    }
}

struct RestoredDeviceTests {
    /// A restore keeps the old device's settings and resets its state.
    @Test func settingsOnly() throws {
        var device = Device(containerID: "OLD")
        var change = SettingsChange()
        change.total = ByteCount(64 << 20)
        change.others = ByteCount(8 << 20)
        change.othersPurgeable = ByteCount(4 << 20)
        change.protection = .complete
        try device.take(change)
        device.thresholds = .off
        device.boots = 7
        device.clock = 3600
        device.lock.state = .locked
        device.counters.purgedFiles = 9
        let restored = device.restored(containerID: "NEW")
        var expected = Device(containerID: "NEW")
        try expected.take(change)
        expected.thresholds = .off
        #expect(restored == expected)
    }
}
