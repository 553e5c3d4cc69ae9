import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// One write(2) to a control file is one command, and a refused command changes nothing.
struct ControlCommandTests {
    static let sizes: [(ControlFile, String, Int64)] = [
        (.storageTotal, "1M", 1 << 20), (.storageTotal, "1MB\n", 999_424), (.storageTotal, "1.5MiB", 1_572_864),
        (.storageOthers, "+0.5K", 11 * 4096), (.storageTotal, "+4096", 65 * 4096),
        (.storageTotal, "-1", 63 * 4096), (.storageTotal, "0", 0), (.storageOthers, "1", 4096),
        (.storageOthers, "+4097", 12 * 4096), (.storageOthers, "-4096", 9 * 4096), (.storageOthers, "-1", 10 * 4096),
        (.storageOthersPurgeable, "1", 4096), (.storageOthersPurgeable, "40K", 40960),
        (.storageOthersPurgeable, "-20K", 0),
    ]
    /// The device has 64 blocks; others use 10, of which 5 are purgeable.
    @Test(arguments: sizes) func aSizeIsSet(file: ControlFile, text: String, bytes: Int64) throws {
        try withVolume { live in
            try live.command(.storageOthers, "40K")
            try live.command(.storageOthersPurgeable, "20K")
            try live.command(file, text)
            #expect(try live.bytes(file) == bytes)
            #expect(try live.events(.capacity).count == 3)
        }
    }

    static let refused: [(ControlFile, String)] = [
        (.storageTotal, ""), (.storageTotal, "\n"), (.storageTotal, "1M\n\n"), (.storageTotal, "1M\r\n"),
        (.storageTotal, " 1M"), (.storageTotal, "many"), (.storageTotal, "-1M"), (.storageTotal, "--1"),
        (.storageTotal, "2000000000G"), (.storageOthers, "-41K"), (.storageOthersPurgeable, "41K"),
        (.storageOthersPurgeable, "+21K"), (.storageThresholds, ""), (.storageThresholds, "low"),
        (.storageThresholds, "low 5%\nlow 6%"), (.storageThresholds, "low 101%"), (.storageThresholds, "desired 1K"),
        (.storageThresholds, "low=5%,low=6%"), (.storageThresholds, "verylow=4K,low=5%,nearlow=1%"),
        (.storageThresholds, "off\n\n"), (.storageThresholds, "none 5%"), (.storageReclaim, "everything"),
        (.storageReclaim, ""), (.storageReclaim, "-1"), (.storagePlan, "tmp caches"), (.storageUsed, "5"),
        (.status, "{}"), (.events, "x"), (.storagePressure, "low"),
    ]
    @Test(arguments: refused) func refusedOnesChangeNothing(file: ControlFile, text: String) throws {
        try withVolume { live in
            try live.command(.storageThresholds, "verylow 4K\nlow 8K\nnearlow 12K\ndesired 16K")
            try live.command(.storageOthers, "40K")
            try live.command(.storageOthersPurgeable, "20K")
            try live.make("tmp/a", blocks: 2)
            let before = live.volume.controlFiles.text(of: .status)
            #expect(throws: Errno.invalid) { try live.command(file, text) }
            #expect(live.volume.controlFiles.text(of: .status) == before)
            #expect(try live.events(.capacity).count == 3)
        }
    }

    @Test func thresholds() throws {
        try withVolume { live in
            try live.command(.storageThresholds, "desired 50%\nnearlow 11%\nlow 10.5%\n")
            #expect(
                live.volume.controlFiles.text(of: .storageThresholds)
                    == "verylow 0\nlow 28672\nnearlow 32768\ndesired 131072\n")
            try live.command(.storageThresholds, "verylow=1%,low=2%,nearlow=24576,desired=50%\n")
            #expect(
                live.volume.controlFiles.text(of: .storageThresholds)
                    == "verylow 4096\nlow 8192\nnearlow 24576\ndesired 131072\n")
            try live.command(.storageThresholds, "off")
            #expect(live.volume.controlFiles.text(of: .storageThresholds) == "verylow 0\nlow 0\nnearlow 0\ndesired 0\n")
        }
    }

    @Test func lessOthersTakeTheirPurgeablePartAlong() throws {
        try withVolume { live in
            try live.command(.storageOthers, "40K")
            try live.command(.storageOthersPurgeable, "20K")
            try live.command(.storageOthers, "8K")
            #expect(try live.bytes(.storageOthersPurgeable) == 8192)
        }
    }

    @Test func aChangePurgesUntilItFits() throws {
        try withVolume { live in
            for name in ["a", "b", "c"] { try live.make("tmp/\(name)", blocks: 10) }
            try live.command(.storageTotal, "\(25 * 4096)")
            #expect(try live.events(.purge).map(\.path) == ["tmp/a"])
            #expect(try live.events(.purge).map(\.trigger) == [.capacity])
            try live.command(.storageOthers, "\(20 * 4096)")
            #expect(live.used == 0)
        }
    }

    @Test func whatDoesNotFitIsAcceptedToo() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 40)
            try live.command(.storageTotal, "\(10 * 4096)")
            #expect(try live.blocks(.storageTotal) == 10 && live.used == 40)
            for file in [ControlFile.storageAvailable, .storageImportant, .storageOpportunistic] {
                #expect(try live.bytes(file) == 0)
            }
        }
    }

    static let reclaims: [(String, [String], Bool)] = [
        ("tmp", ["tmp/a", "tmp/b"], true), ("caches", ["Library/Caches/c"], true),
        ("purgeable", ["Documents/d"], true),
        ("all", ["tmp/a", "tmp/b", "Library/Caches/c", "Documents/d"], true), ("0", [], true), ("1", [], true),
        ("8192", [], true), ("12288", ["tmp/a"], true), ("16385", ["tmp/a", "tmp/b"], true),
        ("24K\n", ["tmp/a", "tmp/b", "Library/Caches/c"], true),
        ("28K", ["tmp/a", "tmp/b", "Library/Caches/c", "Documents/d"], true),
        ("28673", ["tmp/a", "tmp/b", "Library/Caches/c", "Documents/d"], false),
    ]
    /// others.purgeable has 2 blocks, and the purgeable files have 2, 1, 1 and 1.
    @Test(arguments: reclaims) func reclaimTakes(text: String, victims: [String], isEnough: Bool) throws {
        try withVolume { live in
            try live.command(.storageOthers, "8192")
            try live.command(.storageOthersPurgeable, "8192")
            for (path, blocks) in [("tmp/a", 2), ("tmp/b", 1), ("Library/Caches/c", 1), ("Documents/d", 1)] {
                try live.make(path, blocks: blocks)
            }
            try live.mark("Documents/d", "1")
            try live.make("Documents/kept", blocks: 1)
            let handle = ControlHandle(file: .storagePlan, reader: nil)
            try live.volume.controlFiles.write(handle, Array(text.utf8), pid: 0)
            let plan = String(decoding: live.volume.controlFiles.read(handle, offset: 0, limit: .max), as: UTF8.self)
            #expect(live.used == 6)
            if isEnough {
                try live.command(.storageReclaim, text)
            } else {
                #expect(throws: Errno.tryAgain) { try live.command(.storageReclaim, text) }
            }
            let purges = try live.events(.purge)
            #expect(purges.compactMap(\.path) == victims)
            #expect(live.exists("Documents/kept"))
            // The dry run listed the same.
            #expect(plan.split(separator: "\n").count == purges.count)
            for (line, purge) in zip(plan.split(separator: "\n"), purges) {
                #expect(line.contains("\"reason\":\"\(purge.reason ?? "")\""))
                #expect(line.contains("\"bytes\":\(purge.bytes?.bytes ?? -1)"))
                if let path = purge.path { #expect(line.contains("\"path\":\"\(path)\"")) }
            }
        }
    }
}
