import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

// Changes to a file's length, and fallocate.
extension FaultyOperation {
    private static func truncate(
        _ name: String, to size: Int64, _ make: @escaping @Sendable (FaultStage) throws -> Handle
    ) -> FaultyOperation {
        .init("truncate " + name) { stage in
            let handle = try make(stage)
            return { try stage.live.truncate(handle.node, handle, size) }
        }
    }

    static let lengths: [FaultyOperation] = [
        truncate("down", to: 5000) { try $0.file(blocks: 4) },
        truncate("up", to: 50_000) { try $0.file(blocks: 4) },
        truncate("to nothing", to: 0) { try $0.file(blocks: 4) },
        truncate("a sparse file down", to: 45_000) { try $0.sparse() },
        truncate("a sparse file up into allocated blocks", to: 35 * 4096) { try $0.sparse() },
        truncate("a sparse file to nothing", to: 0) { try $0.sparse() },
        truncate("a file of many runs down", to: 0) { try $0.scattered() },
        truncate("a file passed through up", to: 60 * 4096) { try $0.passed() },
        .init("truncate a file without a name") { stage in
            let handle = try stage.file(blocks: 4)
            try stage.live.unlink("Documents/f")
            return { try stage.live.truncate(handle.node, nil, 5000) }
        },
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

    static let allocations: [FaultyOperation] = [
        allocate("fallocate", 0, at: 0, 8) { try $0.file(blocks: 2) },
        allocate("fallocate that begins a hole", 0, at: 6, 8) { try $0.file(blocks: 2) },
        allocate("fallocate in holes", 0, at: 5, 10) { try $0.sparse() },
        allocate("fallocate that fills all holes", 0, at: 0, 21) { try $0.sparse() },
        allocate("fallocate past the end", Allocate.keepSize, at: 0, 8) { try $0.file(blocks: 2) },
        allocate("fallocate past the end of a sparse file", Allocate.keepSize, at: 18, 30) { try $0.sparse() },
        allocate("fallocate in a file of many runs", 0, at: 4, 1) { try $0.scattered() },
        allocate("fallocate past the end of a file passed through", 0, at: 60, 2) { try $0.passed() },
        allocate("fallocate that purges", 0, at: 0, 40) { stage in
            let handle = try stage.file()
            try stage.short(of: 10)
            return handle
        },
        allocate("zero", Allocate.zeroRange, at: 1, 3) { try $0.file(blocks: 2) },
        allocate("zero in holes", Allocate.zeroRange, at: 5, 10) { try $0.sparse() },
        allocate("punch", Allocate.punchHole, at: 1, 2) { try $0.file(blocks: 6) },
        allocate("punch to the end", Allocate.punchHole, at: 1, 100) { try $0.file(blocks: 6) },
        allocate("punch data of a sparse file", Allocate.punchHole, at: 10, 1) { try $0.sparse() },
        allocate("punch allocated blocks", Allocate.punchHole, at: 32, 2) { try $0.sparse() },
        allocate("punch a file of many runs", Allocate.punchHole, at: 3, 1) { try $0.scattered() },
    ]
}
