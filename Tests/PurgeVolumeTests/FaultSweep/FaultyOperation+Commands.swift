import Glibc
import PurgeModel
import PurgeSystem
import Support

@testable import PurgeVolume

// Writes to the control files, and the volume's own work.
extension FaultyOperation {
    private static func command(
        _ file: ControlFile, _ text: String, _ prepare: @escaping @Sendable (FaultStage) throws -> Void = { _ in }
    ) -> FaultyOperation {
        .init("\(file.rawValue) \(text.replacing("\0", with: " "))") { stage in
            try stage.victims()
            try prepare(stage)
            return { try stage.live.command(file, text) }
        }
    }

    static let commands: [FaultyOperation] = [
        command(.storageTotal, "\(5000 * 4096)"),
        command(.storageTotal, "\(10 * 4096)"),
        command(.storageOthers, "64K"),
        command(.storageOthers, "\(4090 * 4096)"),
        command(.storageOthersPurgeable, "32K") { try $0.live.command(.storageOthers, "64K") },
        command(.storageThresholds, "desired=1M,nearlow=512K,low=256K,verylow=128K"),
        command(.storageReclaim, "4096"),
        command(.storageReclaim, "48K") { stage in
            try stage.live.command(.storageOthers, "64K")
            try stage.live.command(.storageOthersPurgeable, "16K")
        },
        command(.storageReclaim, "tmp"),
        command(.storageReclaim, "caches"),
        command(.storageReclaim, "purgeable"),
        command(.storageReclaim, "all"),
        command(.storageReclaim, "all\0tmp/d"),
        command(.storageReclaim, "paths\0tmp/a\0Documents/p"),
        command(.storageReclaim, "globs\0tmp/*"),
        command(.storageReclaim, "tmp") { try $0.sparseVictim() },
        .init("a purge under pressure") { stage in
            try stage.victims()
            try stage.live.command(.storageThresholds, "desired=8M,nearlow=4M,low=2M,verylow=1M")
            let free = try stage.live.blocks(.storageAvailable)
            try stage.live.command(.storageOthers, "\((free - 300) * 4096)")
            return { while stage.live.volume.reclaimer.reclaimOnce() {} }
        },
        .init("a reboot") { stage in
            try stage.victims()
            try stage.sparseVictim()
            try stage.live.makeDirectory("tmp/e")
            try stage.live.makeDirectory("tmp/e/f")
            try stage.live.symlink("tmp/e/f/link")
            try stage.live.make("tmp/e/linked", blocks: 2)
            try stage.live.link("tmp/e/linked", "Documents/linked")
            try stage.live.make("tmp/e/open", blocks: 2)
            stage.handles.append(try stage.live.open("tmp/e/open"))
            return { try stage.live.command(.deviceState, "reboot") }
        },
        command(.deviceClock, "+1s"),
        command(.deviceState, "lock"),
        command(.deviceState, "unlock") { try $0.live.command(.deviceState, "lock") },
        command(.deviceClock, "+10s") { try $0.live.command(.deviceState, "lock") },
        command(.appState, "launch") { stage in
            for folder in ["Documents", "tmp"] { try stage.live.rename(folder, "Library/\(folder)") }
        },
        command(.appState, "update") { try $0.sparseVictim() },
        command(.appState, "delete") { stage in
            try stage.sparseVictim()
            try stage.live.link("Documents/p", "Library/linked")
            stage.handles.append(try stage.live.open("Library/Caches/c"))
        },
        .init("settings saved") { stage in
            try stage.victims()
            return { if !stage.live.volume.keeper.saveDevice(durably: true) { throw Errno(EIO) } }
        },
        .init("a close after which a file is not mapped any more") { stage in
            _ = try stage.passed()
            return {
                while !stage.handles.isEmpty { stage.live.volume.close(stage.handles.removeFirst()) }
                _ = stage.live.volume.status()
            }
        },
        .init("the last descriptor closed") { stage in
            let handle = try stage.scattered()
            try stage.live.unlink("Documents/f")
            return {
                stage.handles.removeAll { $0 === handle }
                stage.live.volume.close(handle)
            }
        },
    ]
}

extension FaultStage {
    /// Creates a file in tmp whose record has a sidecar.
    fileprivate func sparseVictim() throws {
        _ = try scattered()
        closeAll()
        try live.rename("Documents/f", "tmp/s")
    }
}
