import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support

@testable import PurgeVolume

/// The state in which one operation starts, and the checks after it.
final class FaultStage {
    /// An empty volume, and the names in its store.
    struct Baseline {
        let live: LiveVolume
        let names: Set<String>

        init(_ live: LiveVolume) throws {
            self.live = live
            // Creating the first file also creates entries in the store that stay.
            let handle = try live.create("Documents/f")
            live.volume.close(handle)
            try live.unlink("Documents/f")
            names = try FaultStage.names(live)
        }
    }
    private let baseline: Baseline
    /// The files in the store that are open before the operation.
    private let descriptors: Set<String>
    var live: LiveVolume { baseline.live }
    var handles: [Handle] = []
    private(set) var problems: [String] = []

    init(_ baseline: Baseline) {
        self.baseline = baseline
        descriptors = Self.descriptors(baseline.live)
    }

    func note(_ problem: String) { problems.append(problem) }

    @discardableResult
    func file(_ name: String = "f", in folder: String = "Documents", blocks: Int = 0) throws -> Handle {
        let handle = try live.create("\(folder)/\(name)")
        handles.append(handle)
        if blocks > 0 { try live.write(handle, at: 0, blocks * 4096) }
        return handle
    }
    /// Creates a file with data in blocks 0, 10 and 20, and with allocated blocks 30 to 39, past the end.
    func sparse() throws -> Handle {
        let handle = try file(blocks: 1)
        try live.write(handle, at: 10 * 4096, 4096)
        try live.write(handle, at: 20 * 4096, 4096)
        try live.allocate(handle, Allocate.keepSize, 30 * 4096, 10 * 4096)
        return handle
    }
    /// Creates a file with so many separate allocated blocks that their list needs a sidecar.
    func scattered() throws -> Handle {
        let handle = try file()
        for block in 0..<135 as Range<Int64> {
            try live.allocate(handle, Allocate.keepSize, block * 20_000 * 4096, 4096)
        }
        return handle
    }
    /// Creates a file that is passed through to the kernel, and returns a handle that writes to it.
    func passed() throws -> Handle {
        let writer = try file(blocks: 40)
        live.volume.close(handles.removeLast())
        _ = writer
        let reader = try live.volume.open(
            try live.node("Documents/f"), flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
        handles.append(reader)
        let handle = try live.open("Documents/f")
        handles.insert(handle, at: 0)
        return handle
    }
    /// Leaves `blocks` blocks of the device free; others and a purgeable file take the rest.
    func short(of blocks: Int64) throws {
        try live.make("tmp/victim", blocks: 100)
        let free = try live.blocks(.storageAvailable)
        try live.command(.storageOthers, "\((free - blocks) * 4096)")
    }
    /// Creates closed entries for each rule of a purge.
    func victims() throws {
        try live.makeDirectory("tmp/d")
        try live.make("tmp/a", blocks: 2)
        try live.make("tmp/d/b", blocks: 3)
        try live.make("tmp/empty", blocks: 0)
        try live.symlink("tmp/l")
        try live.make("Library/Caches/c", blocks: 4)
        try live.make("Documents/p", blocks: 5)
        try live.mark("Documents/p", "high")
    }

    func closeAll() {
        // Each handle is released before the next, because a descriptor that stays open looks like a mapping.
        while !handles.isEmpty { live.volume.close(handles.removeFirst()) }
    }
}

// Checks after the faults.
extension FaultStage {
    func check() throws {
        // After a reboot nothing can be written before the unlock.
        try live.enter(.unlocked)
        if let handle = handles.first, handle.canWrite {
            attempt("the next write") { try live.write(handle, at: 0, 4096) }
        }
        closeAll()
        try restoreDevice()
        attempt("the next operations") {
            try live.make("Documents/next", blocks: 2)
            try live.rename("Documents/next", "tmp/next")
            try live.mark("tmp/next", "high")
            try live.unlink("tmp/next")
        }
        // The volume saves its device and removes leftovers each second.
        live.volume.keeper.saveDevice()
        live.volume.removeLeftovers()
        try live.awaitMappings(left: 0)
        let (used, scanned) = (numbers(of: live.volume), numbers(of: try live.scanned()))
        if used != scanned { note("the ledger says \(used), a scan \(scanned)") }
        checkTree()
        try clear()
        checkDescriptors()
    }

    private func attempt(_ what: String, _ body: () throws -> Void) {
        do { try body() } catch { note("\(what): \(error)") }
    }

    /// Returns the numbers that a scan also finds.
    private func numbers(of volume: Volume) -> String {
        let status = volume.status()
        let usages = [
            status.tiers.temporary, status.tiers.caches, status.tiers.persistent, status.marked.purgeable,
            status.marked.excludedFromBackup,
        ]
        return "\(status.storage.used.bytes / 4096) "
            + usages.map { "\($0.bytes.bytes / 4096):\($0.files)" }.joined(separator: " ")
    }

    /// Checks that nothing is held, being purged, open, or still to be announced.
    private func checkTree() {
        let state = live.volume.read { state in
            "held \(state.device.held.bytes), purges \(state.untoldPurges.underWay.count), ghosts \(state.ghosts.count), "
                + "open \(state.openFiles)"
        }
        if state != "held 0, purges 0, ghosts 0, open 0" { note(state) }
        var rest = [live.volume.root]
        while let node = rest.popLast() {
            if node.holds != 0 || node.opens != 0 || node.flags.contains(.purging) {
                note("\(node.path().text): holds \(node.holds), opens \(node.opens), \(node.flags)")
            }
            rest += node.entries.values.filter { $0 !== node }
        }
    }

    private static func names(_ live: LiveVolume) throws -> Set<String> {
        Set(try Files.tree(live.storePath).filter { !$0.hasPrefix("journal.sqlite") && $0 != "extents" })
    }

    /// Returns the open files in the store, except the journal and directories, of which the volume keeps some open.
    private static func descriptors(_ live: LiveVolume) -> Set<String> {
        var found: Set<String> = []
        for path in Files.open(in: "self") {
            guard path.hasPrefix(live.storePath + "/"), !path.contains("/journal.sqlite") else { continue }
            if let status = try? Files.status(path), status.st_mode & S_IFMT == S_IFDIR { continue }
            found.insert(path)
        }
        return found
    }

    private func checkDescriptors() {
        let left = Self.descriptors(live).subtracting(descriptors)
        if !left.isEmpty { note("still open: \(left.sorted())") }
    }

    /// Restores the device: unlocked, with its folders, as large as at the beginning, and without others and thresholds.
    private func restoreDevice() throws {
        if live.volume.device.state != .unlocked { try live.command(.deviceState, "unlock") }
        if live.volume.device.app.isRunning { try live.command(.appState, "terminate") }
        try live.command(.appState, "launch")
        try live.command(.appState, "terminate")
        if try live.blocks(.storageOthers) != 0 { try live.command(.storageOthers, "0") }
        if try live.blocks(.storageTotal) != 4096 { try live.command(.storageTotal, "\(4096 * 4096)") }
        if live.volume.controlFiles.text(of: .storageThresholds) != "verylow 0\nlow 0\nnearlow 0\ndesired 0\n" {
            try live.command(.storageThresholds, "off")
        }
    }

    /// Removes everything, and checks that nothing is left.
    private func clear() throws {
        for path in try Self.names(live).subtracting(baseline.names).sorted(by: >) {
            if let path = Self.inside(path) { remove(path) }
        }
        let charged = try live.blocks(.storageUsed)
        guard charged == 0 else { throw TestFailure("\(charged) blocks are still charged") }
        for path in try Self.names(live).subtracting(baseline.names).sorted(by: >) {
            note("\(path) is left in the store")
            try Program.run("rm", "-rf", "\(live.storePath)/\(path)").succeeded()
        }
    }

    /// Converts a path in the store to a path in the container; nil if it lies elsewhere.
    private static func inside(_ path: String) -> String? {
        path.hasPrefix("container/") ? String(path.dropFirst("container/".count)) : nil
    }

    private func remove(_ path: String) {
        attempt("the removal of \(path)") {
            if try live.node(path).isDirectory {
                try live.removeDirectory(path)
            } else {
                try live.unlink(path)
            }
        }
    }
}
