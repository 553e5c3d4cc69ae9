import Glibc
import PurgeSystem
import Support

/// Random operations on a mount and on an independent model, and comparisons of the two.
final class LedgerRun: LedgerWalk {
    struct Handle {
        let id: ReferenceLedger.FileID
        let file: OpenFile
    }
    let mount: TestMount
    var subject: any LedgerSubject { MountSubject(mount) }
    var model: ReferenceLedger
    var random: SeededGenerator
    var handles: [Handle] = []
    /// A plain file for each file of the mount, with the same operations applied, and so with the expected content.
    var shadows: [ReferenceLedger.FileID: OpenFile] = [:]
    private let shadowFolder: String
    var made = 0
    var folderParents = LedgerRun.firstParents
    var lastOperation = "none"

    init(_ mount: TestMount, seed: UInt64, total: Int64) throws {
        self.mount = mount
        random = SeededGenerator(seed: seed)
        model = ReferenceLedger(total: total)
        shadowFolder = "\(mount.scratch)/shadows"
        try Files.makeDirectory(shadowFolder)
        try mount.turnThresholdsOff()
        try makeFolders()
    }

    func addShadow(of id: ReferenceLedger.FileID) throws {
        let path = "\(shadowFolder)/\(made)-\(shadows.count)"
        shadows[id] = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL)
        try Files.unlink(path)
    }
}

// Checks after operations, and the remount.
extension LedgerRun {
    func check(_ step: Int) throws {
        func fail(_ what: String) -> TestFailure { TestFailure("step \(step), after \(lastOperation): \(what)") }
        var seen: [UInt64: Int64] = [:]
        for (path, blocks) in model.statBlocksOfAllFiles {
            guard let status = try? Files.status(mount.path(path)) else { throw fail("\(path) is not there") }
            guard Int64(status.st_blocks) == blocks else {
                throw fail("\(path) has st_blocks \(status.st_blocks), not \(blocks)")
            }
            seen[UInt64(status.st_ino)] = Int64(status.st_blocks) * 512
        }
        for handle in handles {
            let blocks = try Int64(handle.file.status().st_blocks) * 512
            guard blocks == model.charged(handle.id) else {
                throw fail("an open file has \(blocks), not \(model.charged(handle.id))")
            }
        }
        let sum = seen.values.reduce(0, +) + model.unlinkedBytes
        let storage = try mount.status().storage
        let root = try mount.capacity(at: "")
        guard sum == storage.used else { throw fail("st_blocks make \(sum), storage.used is \(storage.used)") }
        guard root.available == max(0, root.total - storage.others - sum) else {
            throw fail("statvfs: \(root), used \(sum)")
        }
        guard try numbers() == model.numbers else { throw fail("\(try numbers()) is not \(model.numbers)") }
    }

    private func numbers() throws -> ReferenceLedger.Numbers {
        let status = try mount.status()
        func usage(_ usage: MountStatus.Usage) -> ReferenceLedger.Usage {
            .init(bytes: usage.bytes, files: usage.files)
        }
        var numbers = model.numbers
        let storage = status.storage
        (numbers.total, numbers.others, numbers.othersPurgeable) = (
            storage.total, storage.others, storage.othersPurgeable
        )
        (numbers.used, numbers.available) = (storage.used, storage.available)
        (numbers.important, numbers.opportunistic) = (storage.important, storage.opportunistic)
        numbers.reclaimable = storage.reclaimable
        numbers.temporary = usage(status.tiers.temporary)
        numbers.caches = usage(status.tiers.caches)
        numbers.persistent = usage(status.tiers.persistent)
        return numbers
    }

    /// Compares names, contents and `du`, which would cost too much after each operation.
    func checkThoroughly(_ step: Int) throws {
        let files = try Files.tree(mount.root).filter {
            try Files.status(mount.path($0)).st_mode & S_IFMT == S_IFREG
        }
        guard files.sorted() == model.statBlocksOfAllFiles.keys.sorted() else {
            throw TestFailure("step \(step): other files than in the model: \(files)")
        }
        for path in files {
            guard let id = model.fileID(at: path), let shadow = shadows[id] else { continue }
            let size = try shadow.status().st_size
            guard try Files.content(mount.path(path)) == shadow.read(Int(size)) else {
                throw TestFailure("step \(step): the content of \(path) is wrong, after \(lastOperation)")
            }
        }
        let du = try Program.run("du", "-s", "-B1", mount.root).succeeded()
        guard du.split(separator: "\t").first.flatMap({ Int64($0) }) == model.used - model.unlinkedBytes else {
            throw TestFailure("step \(step): du says \(du) of \(model.used) - \(model.unlinkedBytes)")
        }
    }

    func remount(_ step: Int) throws {
        handles.forEach { $0.file.close() }
        handles = []
        try mount.remount()
        model.remount()
        lastOperation = "a remount"
        try check(step)
        try checkThoroughly(step)
    }

    /// Drops the shadows of files that are gone.
    func settle() {
        let named = Set(model.statBlocksOfAllFiles.keys.compactMap { model.fileID(at: $0) })
        let kept = named.union(handles.map(\.id))
        shadows = shadows.filter { kept.contains($0.key) }
    }
}
