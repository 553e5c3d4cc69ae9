import Foundation
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// The texts of the control files (docs/CONTROL.md).
struct ControlTextTests {
    /// Creates a device of 64 blocks: others use 20 (5 purgeable), tmp 3, Caches 2, Documents 4 and 1 marked.
    private func withFiles(_ body: (LiveVolume) throws -> Void) throws {
        try withVolume { live in
            try live.command(.storageThresholds, "verylow 4K\nlow 8K\nnearlow 12K\ndesired 16K")
            try live.command(.storageOthers, "80K")
            try live.command(.storageOthersPurgeable, "20K")
            try live.make("tmp/a", blocks: 3)
            try live.make("Library/Caches/b", blocks: 2)
            try live.make("Documents/c", blocks: 4)
            try live.make("Documents/d", blocks: 1)
            try live.mark("Documents/d", "low")
            try live.volume.extendedAttributes.set(
                of: live.node("Documents/c"), named: "com.apple.MobileBackup", to: [1], flags: 0,
                caller: LiveVolume.caller)
            try body(live)
        }
    }

    static let numbers: [(ControlFile, Int64)] = [
        (.storageTotal, 64), (.storageOthers, 20), (.storageOthersPurgeable, 5), (.storageUsed, 10),
        (.storageAvailable, 34), (.storageImportant, 45), (.storageOpportunistic, 32), (.storageReclaimable, 11),
    ]
    @Test(arguments: numbers) func eachNumber(file: ControlFile, blocks: Int64) throws {
        try withFiles { live in #expect(live.volume.controlFiles.text(of: file) == "\(blocks * 4096)\n") }
    }

    @Test func flatFiles() throws {
        try withFiles { live in
            #expect(
                live.volume.controlFiles.text(of: .storageThresholds)
                    == "verylow 4096\nlow 8192\nnearlow 12288\ndesired 16384\n")
            #expect(
                live.volume.controlFiles.text(of: .storageStat) == """
                    temporary.bytes 12288
                    temporary.files 1
                    caches.bytes 8192
                    caches.files 1
                    persistent.bytes 20480
                    persistent.files 2
                    purgeable.bytes 4096
                    purgeable.files 1
                    excluded.bytes 16384
                    excluded.files 1
                    refused.writes 0
                    purged.files 0
                    purged.bytes 0
                    app.terminated 0
                    host.refused 0
                    announcements.late 0

                    """)
            #expect(live.volume.controlFiles.text(of: .storagePressure) == "normal\n")
        }
    }

    @Test func statusIsJSON() throws {
        try withFiles { live in
            let text = live.volume.controlFiles.text(of: .status)
            let status = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            #expect(status["version"] as? Int == 1 && status["profile"] as? String == "documented")
            #expect(status["pressure"] as? String == "normal" && status["purging"] as? Bool == false)
            #expect(status["mountpoint"] as? String == "/nowhere")
            let storage = try #require(status["storage"] as? [String: Int])
            #expect(storage["important"] == 45 * 4096 && storage["othersPurgeable"] == 20480)
            let tiers = try #require(status["tiers"] as? [String: [String: Int]])
            #expect(tiers["caches"] == ["bytes": 8192, "files": 1])
            let marked = try #require(status["marked"] as? [String: [String: Int]])
            #expect(
                marked == [
                    "purgeable": ["bytes": 4096, "files": 1], "excludedFromBackup": ["bytes": 16384, "files": 1],
                ])
            #expect(
                status["thresholds"] as? [String: Int] == [
                    "veryLow": 4096, "low": 8192, "nearLow": 12288, "desired": 16384,
                ])
        }
    }

    @Test func filesThatAreNotReadAreEmpty() throws {
        try withFiles { live in
            for file in [ControlFile.storageReclaim, .storagePlan, .events] {
                #expect(live.volume.controlFiles.text(of: file) == "")
            }
        }
    }

    @Test func theContentIsMadeAnewAtItsBeginning() throws {
        try withVolume { live in
            let node = try live.node(".purgefs/storage.used")
            let handle = try live.volume.controlFiles.open(node)
            defer { live.volume.controlFiles.close(handle) }
            #expect(live.volume.controlFiles.read(handle, offset: 0, limit: 100) == Array("0\n".utf8))
            try live.make("tmp/a", blocks: 3)
            #expect(live.volume.controlFiles.read(handle, offset: 1, limit: 100) == Array("\n".utf8))
            #expect(live.volume.controlFiles.read(handle, offset: 0, limit: 3) == Array("122".utf8))
            #expect(live.volume.controlFiles.read(handle, offset: 3, limit: 100) == Array("88\n".utf8))
            #expect(live.volume.controlFiles.read(handle, offset: 100, limit: 100) == [])
        }
    }

    @Test func pressureIsAnException() throws {
        try withVolume { live in
            try live.command(.storageThresholds, "low 50%\nnearlow 50%\ndesired 50%")
            let handle = try live.volume.controlFiles.open(try live.node(".purgefs/storage.pressure"))
            let woken = Tally()
            handle.onChange { woken.add() }
            var isUrgent: Bool { live.volume.controlFiles.poll(handle) & 2 != 0 }  // POLLPRI
            #expect(!isUrgent)
            try live.make("Documents/f", blocks: 40)
            #expect(isUrgent && woken.value == 1)
            #expect(live.volume.controlFiles.read(handle, offset: 0, limit: 100) == Array("low\n".utf8))
            #expect(!isUrgent)
            // The level goes to normal and back.
            try live.unlink("Documents/f")
            try live.make("Documents/f", blocks: 40)
            #expect(isUrgent && woken.value == 3)
            live.volume.controlFiles.close(handle)
            try live.unlink("Documents/f")
            #expect(woken.value == 3)
        }
    }

    @Test func theDirectoryIsFoundAndNotListed() throws {
        try withVolume { live in
            #expect(
                live.exists(".purgefs/storage.total") && !live.exists(".purgefs/none") && !live.exists("tmp/.purgefs"))
            let handle = try live.volume.directories.open(live.volume.root)
            var names: [String] = []
            try live.volume.directories.read(handle, offset: 0, withAttributes: false) { entry in
                names.append(String(cString: entry.name))
                return true
            }
            #expect(names.sorted() == [".", "..", "Documents", "Library", "tmp"])
            #expect(throws: Errno.exists) { try live.makeDirectory(".purgefs") }
            #expect(throws: Errno.exists) { try live.create(".purgefs") }
            #expect(throws: Errno.notPermitted) { try live.rename("tmp", ".purgefs") }
            #expect(throws: Errno.notPermitted) { try live.unlink(".purgefs/events") }
        }
    }
}
