import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

// Writes, copies and syncs of data.
extension FaultyOperation {
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

    static let writes: [FaultyOperation] = [
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
        write("write to a file without a name", at: 2, 3) { stage in
            let handle = try stage.file(blocks: 2)
            try stage.live.unlink("Documents/f")
            return handle
        },
        write("write of a page into a hole", at: 4, 1, isMapped: true) { try $0.sparse() },
        write("write to a marked file", at: 2, 3) { stage in
            let handle = try stage.file(blocks: 2)
            try stage.live.mark("Documents/f", "low")
            return handle
        },
        .init("copy") { stage in
            let (from, to) = (try stage.file(blocks: 4), try stage.file("g", blocks: 1))
            return { try stage.live.copy(from, 0, to: to, 4096, 4 * 4096) }
        },
        .init("copy that purges") { stage in
            let (from, to) = (try stage.file(blocks: 40), try stage.file("g"))
            try stage.short(of: 10)
            return { try stage.live.copy(from, 0, to: to, 0, 40 * 4096) }
        },
        .init("fsync") { stage in
            let handle = try stage.file(blocks: 1)
            return { try stage.live.volume.sync(handle, dataOnly: false) }
        },
        .init("fdatasync of a sparse file") { stage in
            let handle = try stage.sparse()
            return { try stage.live.volume.sync(handle, dataOnly: true) }
        },
    ]
}
