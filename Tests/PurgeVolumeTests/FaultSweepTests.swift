import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Each system call of each operation that changes something fails in turn: once, or from then on.
struct FaultSweepTests {
    private static let kinds: [(code: Int32, count: Int)] = [
        (EIO, 1), (ENOSPC, 1), (EMFILE, 1), (EINTR, 2), (EIO, .max), (ENOSPC, .max), (EMFILE, .max),
    ]

    private static func roomy(_ settings: inout Device) {
        settings.total = ByteCount(blocks: 4096)
        settings.thresholds = .off
    }

    @Test func anyCallMayFail() throws {
        var faults = 0
        for operation in FaultyOperation.all {
            try withVolume(settings: Self.roomy) { live in
                for kind in Self.kinds {
                    var after = 0
                    while try fail(operation, in: live, after: after, kind.code, kind.count) { after += 1 }
                    #expect(after > 0, "\(operation.name) makes no system call")
                    faults += after
                }
            }
        }
        print("\(faults) faults in \(FaultyOperation.all.count) operations")
        #expect(faults >= 600)
    }

    /// Whether a call was left to fail. What must hold after it is checked here.
    private func fail(
        _ operation: FaultyOperation, in live: LiveVolume, after: Int, _ code: Int32, _ count: Int
    ) throws -> Bool {
        let label = "\(operation.name), call \(after + 1), errno \(code)\(count == 1 ? "" : " times \(count)")"
        let stage = FaultStage(live)
        let faults = SystemCallFaults(after: after, code: code, count: count)
        // The call has the handles, and is gone before they are closed.
        let outcome = faults.during(try operation.prepare(stage))
        let hits = outcome.hits
        switch outcome.result {
        case .success: break
        case .failure(let error as Errno):
            #expect(hits > 0, "\(label): \(error) without a fault")
            #expect(error.answer != ENOSPC, "\(label): the device has room")
            #expect(code != EINTR, "\(label): \(error)")
        case .failure(let error): throw error
        }
        if !stage.handles.isEmpty, let handle = stage.handles.first, handle.canWrite {
            #expect(throws: Never.self, "\(label): the next write") { try live.write(handle, at: 0, 4096) }
        }
        stage.closeAll()
        let (used, scanned) = (live.used, try live.scannedBlocks())
        #expect(used == scanned, "\(label): \(used) are charged, a scan finds \(scanned)")
        try stage.clear(label)
        return hits > 0
    }
}

/// What one operation is made ready with, in a folder of its own.
final class FaultStage {
    let live: LiveVolume
    var handles: [Handle] = []

    init(_ live: LiveVolume) { self.live = live }

    @discardableResult
    func file(_ name: String = "f", blocks: Int = 0) throws -> Handle {
        let handle = try live.create("Documents/\(name)")
        handles.append(handle)
        if blocks > 0 { try live.write(handle, at: 0, blocks * 4096) }
        return handle
    }
    /// Data in blocks 0, 10 and 20, allocated blocks from 30 to 40, past the end.
    func sparse() throws -> Handle {
        let handle = try file(blocks: 1)
        try live.write(handle, at: 10 * 4096, 4096)
        try live.write(handle, at: 20 * 4096, 4096)
        try live.allocate(handle, AllocationRequest.keepSize, 30 * 4096, 10 * 4096)
        return handle
    }
    /// So many single allocated blocks that their list has a file of its own.
    func scattered() throws -> Handle {
        let handle = try file()
        for block in 0..<135 as Range<Int64> {
            try live.allocate(handle, AllocationRequest.keepSize, block * 20_000 * 4096, 4096)
        }
        return handle
    }
    /// A file that the kernel reads past us, and a descriptor that writes to it.
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
    /// All but `blocks` of the device is taken by the others, and by a file that can be purged.
    func short(of blocks: Int64) throws {
        try live.make("tmp/victim", blocks: 100)
        let free = try live.blocks(.storageAvailable)
        try live.command(.storageOthers, "\((free - blocks) * 4096)")
    }

    func closeAll() {
        // Each is let go of before the next: a descriptor that stays open looks like a mapping.
        while !handles.isEmpty { live.volume.close(handles.removeFirst()) }
    }
    /// Everything can be removed, and then nothing is left.
    func clear(_ label: String) throws {
        if try live.blocks(.storageOthers) != 0 { try live.command(.storageOthers, "0") }
        for folder in ["Documents", "tmp"] {
            for name in try Files.names(in: live.stored(folder)) {
                // What the store has and the tree does not know is found by the next mount.
                guard live.exists("\(folder)/\(name)") else {
                    try Program.run("rm", "-rf", live.stored("\(folder)/\(name)")).succeeded()
                    continue
                }
                if try live.node("\(folder)/\(name)").isDirectory {
                    try live.removeDirectory("\(folder)/\(name)")
                } else {
                    try live.unlink("\(folder)/\(name)")
                }
            }
        }
        // What a child of this process has between its fork and its exec looks mapped for so long.
        try eventually(within: 5, "\(label): nothing is charged") { try live.blocks(.storageUsed) == 0 }
    }
}

/// One operation, on what `prepare` has made ready.
struct FaultyOperation: Sendable {
    let name: String
    let prepare: @Sendable (FaultStage) throws -> () throws -> Void

    init(_ name: String, _ prepare: @escaping @Sendable (FaultStage) throws -> () throws -> Void) {
        self.name = name
        self.prepare = prepare
    }

    static let all = names + writes + lengths + allocations + attributes

    private static let names: [FaultyOperation] = [
        .init("create") { stage in { stage.handles.append(try stage.live.create("Documents/f")) } },
        .init("mkdir") { stage in { try stage.live.makeDirectory("Documents/d") } },
        .init("symlink") { stage in { try stage.live.symlink("Documents/l") } },
        .init("link") { stage in
            try stage.file(blocks: 2)
            return { try stage.live.link("Documents/f", "Documents/g") }
        },
        .init("unlink") { stage in
            try stage.file(blocks: 2)
            stage.closeAll()
            return { try stage.live.unlink("Documents/f") }
        },
        .init("unlink a sparse file") { stage in
            _ = try stage.scattered()
            stage.closeAll()
            return { try stage.live.unlink("Documents/f") }
        },
        .init("rmdir") { stage in
            try stage.live.makeDirectory("Documents/d")
            return { try stage.live.removeDirectory("Documents/d") }
        },
        .init("rename to another tier") { stage in
            try stage.file(blocks: 2)
            stage.closeAll()
            return { try stage.live.rename("Documents/f", "tmp/f") }
        },
        .init("rename over") { stage in
            try stage.file(blocks: 2)
            try stage.file("g", blocks: 3)
            stage.closeAll()
            return { try stage.live.rename("Documents/f", "Documents/g") }
        },
        .init("exchange") { stage in
            try stage.file(blocks: 2)
            try stage.live.make("tmp/g", blocks: 3)
            return { try stage.live.rename("Documents/f", "tmp/g", flags: RenameFlag.exchange) }
        },
    ]

    private static func write(
        _ name: String, at block: Int64, _ count: Int, isMapped: Bool = false, dropsPrivileges: Bool = false,
        _ make: @escaping @Sendable (FaultStage) throws -> Handle
    ) -> FaultyOperation {
        .init(name) { stage in
            let handle = try make(stage)
            return {
                try stage.live.write(
                    handle, at: block * 4096, count * 4096, isMapped: isMapped, dropsPrivileges: dropsPrivileges
                ) { (fd, granted) throws(Errno) in try LiveVolume.put(fd, granted, block * 4096) }
            }
        }
    }

    private static let writes: [FaultyOperation] = [
        write("append", at: 2, 3) { try $0.file(blocks: 2) },
        write("overwrite", at: 0, 2) { try $0.file(blocks: 2) },
        write("write that begins a hole", at: 8, 3) { try $0.file(blocks: 2) },
        write("write of a page", at: 8, 1, isMapped: true) { try $0.file(blocks: 9) },
        write("write into a hole", at: 4, 3) { try $0.sparse() },
        write("write over allocated blocks", at: 28, 5) { try $0.sparse() },
        write("write that fills the last hole", at: 1, 4) { stage in
            let handle = try stage.file(blocks: 1)
            try stage.live.write(handle, at: 5 * 4096, 4096)
            return handle
        },
        write("write into a file of many runs", at: 4, 1) { try $0.scattered() },
        write("write past the end of a file passed through", at: 60, 2) { try $0.passed() },
        write("write that purges", at: 0, 40) { stage in
            let handle = try stage.file()
            try stage.short(of: 10)
            return handle
        },
        write("write that takes set-user-ID away", at: 0, 1, dropsPrivileges: true) { stage in
            let handle = try stage.file(blocks: 1)
            try Files.changeMode(stage.live.stored("Documents/f"), 0o4755)
            return handle
        },
        .init("copy") { stage in
            let (from, to) = (try stage.file(blocks: 4), try stage.file("g", blocks: 1))
            return {
                let request = WriteRequest(
                    offset: 4096, length: 4 * 4096, isMapped: false, dropsPrivileges: false, pid: LiveVolume.pid)
                _ = try stage.live.announcing { (debt) throws(Errno) in
                    try stage.live.volume.copy(from: from, offset: 0, to: to, request, debt: &debt)
                }
            }
        },
        .init("fsync") { stage in
            let handle = try stage.file(blocks: 1)
            return { try stage.live.volume.sync(handle, dataOnly: false) }
        },
    ]

    private static func truncate(
        _ name: String, to size: Int64, _ make: @escaping @Sendable (FaultStage) throws -> Handle
    ) -> FaultyOperation {
        .init("truncate " + name) { stage in
            let handle = try make(stage)
            return { try stage.live.truncate(handle.node, handle, size) }
        }
    }

    private static let lengths: [FaultyOperation] = [
        truncate("down", to: 5000) { try $0.file(blocks: 4) },
        truncate("up", to: 50_000) { try $0.file(blocks: 4) },
        truncate("to nothing", to: 0) { try $0.file(blocks: 4) },
        truncate("a sparse file down", to: 45_000) { try $0.sparse() },
        truncate("a sparse file up into allocated blocks", to: 35 * 4096) { try $0.sparse() },
        truncate("a sparse file to nothing", to: 0) { try $0.sparse() },
        truncate("a file of many runs down", to: 0) { try $0.scattered() },
        truncate("a file passed through up", to: 60 * 4096) { try $0.passed() },
        .init("truncate by name") { stage in
            try stage.file(blocks: 4)
            return { try stage.live.truncate("Documents/f", 1) }
        },
        .init("open with O_TRUNC") { stage in
            try stage.file(blocks: 4)
            return { stage.handles.append(try stage.live.open("Documents/f", O_RDWR | O_TRUNC)) }
        },
        .init("open a sparse file with O_TRUNC") { stage in
            _ = try stage.sparse()
            return { stage.handles.append(try stage.live.open("Documents/f", O_RDONLY | O_TRUNC)) }
        },
    ]

    private static func allocate(
        _ name: String, _ mode: Int32, at block: Int64, _ count: Int64,
        _ make: @escaping @Sendable (FaultStage) throws -> Handle
    ) -> FaultyOperation {
        .init(name) { stage in
            let handle = try make(stage)
            return { try stage.live.allocate(handle, mode, block * 4096, count * 4096) }
        }
    }

    private static let allocations: [FaultyOperation] = [
        allocate("fallocate", 0, at: 0, 8) { try $0.file(blocks: 2) },
        allocate("fallocate that begins a hole", 0, at: 6, 8) { try $0.file(blocks: 2) },
        allocate("fallocate in holes", 0, at: 5, 10) { try $0.sparse() },
        allocate("fallocate that fills all holes", 0, at: 0, 21) { try $0.sparse() },
        allocate("fallocate past the end", AllocationRequest.keepSize, at: 0, 8) { try $0.file(blocks: 2) },
        allocate("fallocate past the end of a sparse file", AllocationRequest.keepSize, at: 18, 30) { try $0.sparse() },
        allocate("fallocate in a file of many runs", 0, at: 4, 1) { try $0.scattered() },
        allocate("fallocate past the end of a file passed through", 0, at: 60, 2) { try $0.passed() },
        allocate("fallocate that purges", 0, at: 0, 40) { stage in
            let handle = try stage.file()
            try stage.short(of: 10)
            return handle
        },
        allocate("zero", AllocationRequest.zeroRange, at: 1, 3) { try $0.file(blocks: 2) },
        allocate("zero in holes", AllocationRequest.zeroRange, at: 5, 10) { try $0.sparse() },
        allocate("punch", 3, at: 1, 2) { try $0.file(blocks: 6) },
        allocate("punch to the end", 3, at: 1, 100) { try $0.file(blocks: 6) },
        allocate("punch data of a sparse file", 3, at: 10, 1) { try $0.sparse() },
        allocate("punch allocated blocks", 3, at: 32, 2) { try $0.sparse() },
        allocate("punch a file of many runs", 3, at: 3, 1) { try $0.scattered() },
    ]

    private static let attributes: [FaultyOperation] = [
        .init("mark") { stage in
            try stage.file(blocks: 2)
            return { try stage.live.mark("Documents/f", "high") }
        },
        .init("unmark") { stage in
            try stage.file(blocks: 2)
            try stage.live.mark("Documents/f", "1")
            return { try stage.live.mark("Documents/f", nil) }
        },
        .init("set an attribute") { stage in
            let handle = try stage.file(blocks: 2)
            return {
                try stage.live.volume.setExtendedAttribute(
                    of: handle.node, named: "user.x", to: [1], flags: 0, caller: LiveVolume.caller)
            }
        },
        .init("chmod, chown and utimens") { stage in
            let handle = try stage.file(blocks: 2)
            return {
                var change = AttributeChange(caller: LiveVolume.caller)
                change.mode = 0o600
                change.owner = geteuid()
                change.modificationTime = timespec(tv_sec: 5, tv_nsec: 6)
                let chosen = change
                _ = try stage.live.announcing { (debt) throws(Errno) in
                    try stage.live.volume.setAttributes(of: handle.node, handle: handle, chosen, debt: &debt)
                }
            }
        },
    ]
}
