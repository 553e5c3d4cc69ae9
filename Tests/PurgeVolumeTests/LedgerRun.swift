import Glibc
import PurgeModel
import PurgeSystem
import Support

@testable import PurgeVolume

/// A run of random operations on a volume and on a model that shares no code with it, with comparisons of the two.
final class LedgerRun: LedgerWalk {
    struct Open {
        let id: ReferenceLedger.FileID
        let handle: Handle
    }
    private(set) var live: LiveVolume
    var subject: any LedgerSubject { live }
    var model: ReferenceLedger
    var random: SeededGenerator
    var opened: [Open] = []
    var made = 0
    var folderParents = LedgerRun.firstParents
    var lastOperation = "none"
    let hasPressure: Bool

    /// Creates a run. With pressure the volume's threads run and thresholds are set; without it, neither.
    init(_ storePath: String, seed: UInt64, hasPressure: Bool) throws {
        self.hasPressure = hasPressure
        random = SeededGenerator(seed: seed)
        live = try LiveVolume(storePath) { settings in
            settings.total = ByteCount(12 << 20)
            settings.thresholds = .off
        }
        model = ReferenceLedger(total: 12 << 20)
        try makeFolders()
        guard hasPressure else { return }
        try live.volume.startThreads()
        try live.command(.storageThresholds, "verylow 1M\nlow 2M\nnearlow 2500K\ndesired 3M")
        model.setThresholds(
            .init(veryLow: .bytes(1 << 20), low: .bytes(2 << 20), nearLow: .bytes(2500 << 10), desired: .bytes(3 << 20))
        )
    }

    /// Waits for purging in the background, and does the same purge in the model.
    func settle() {
        guard hasPressure else { return }
        live.volume.reclaimer.awaitPressure()
        model.purgeUnderPressure()
    }

    func end() {
        for open in opened { live.volume.close(open.handle) }
        opened = []
        live.volume.end()
    }

    /// Mounts again, and checks that the next mount finds the same.
    func remount(_ step: Int) throws {
        lastOperation = "a remount"
        for open in opened {
            live.volume.close(open.handle)
            model.close(open.id)
        }
        opened = []
        settle()
        try check(step)
        live.volume.end()
        model.remount()
        live = try LiveVolume(after: live)
        if hasPressure { try live.volume.startThreads() }
        settle()
        try check(step)
        try checkOrder(step)
    }
}

// Checks after each operation.
extension LedgerRun {
    private func fail(_ step: Int, _ what: String) -> TestFailure {
        TestFailure("step \(step), after \(lastOperation): \(what)")
    }

    func check(_ step: Int) throws {
        guard live.numbers == model.numbers else {
            throw fail(step, "\(live.numbers) is not \(model.numbers)")
        }
        for (path, blocks) in model.statBlocksOfAllFiles {
            guard let node = try? live.node(path) else { throw fail(step, "\(path) is not there") }
            let found = try live.charged(node) / 512
            guard found == blocks else { throw fail(step, "\(path) has st_blocks \(found), not \(blocks)") }
        }
        for open in opened {
            let found = try live.charged(open.handle.node)
            guard found == model.charged(open.id) else {
                throw fail(step, "an open file has \(found), not \(model.charged(open.id))")
            }
        }
        if live.volume.status().pressure.rawValue != model.pressure.rawValue {
            throw fail(step, "pressure \(live.volume.status().pressure), not \(model.pressure)")
        }
    }

    /// Checks that a scan of the store finds the model's files, and its used bytes without unlinked files.
    func checkScan(_ step: Int) throws {
        let scanned = try live.scanned().status()
        let expected = model.used - model.unlinkedBytes
        guard scanned.storage.used.bytes == expected else {
            throw fail(step, "a scan finds \(scanned.storage.used.bytes), not \(expected)")
        }
        let files = try Files.tree(live.stored("")).filter {
            try Files.status(live.stored($0)).st_mode & S_IFMT == S_IFREG
        }
        guard files.sorted() == model.statBlocksOfAllFiles.keys.sorted() else {
            throw fail(step, "the store has \(files)")
        }
    }

    /// Compares a purge plan with the model's, in purge order: place, urgency, last use, size, path.
    func checkOrder(_ step: Int) throws {
        let plan = live.volume.selections.plan(.all).victims.map {
            "\(String(decoding: $0.file.path, as: UTF8.self)) \($0.reason) \($0.bytes.bytes)"
        }
        let expected = model.purgeOrder.map { "\($0.path) \($0.reason) \($0.bytes)" }
        guard plan == expected else { throw fail(step, "the order is \(plan), not \(expected)") }
    }
}

extension LedgerRun {
    func inputErrorIsNil(_ body: () throws(Errno) -> Int) throws(Errno) -> Int? {
        do {
            return try body()
        } catch {
            guard error == .ioError else { throw error }
            return nil
        }
    }
}
