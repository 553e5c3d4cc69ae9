import Glibc
import PurgeSystem
import Support

/// A writer of CrashTests that records which blocks of its file must be charged.
final class CrashWriter: @unchecked Sendable {
    // @unchecked: only the writer's thread uses it until that thread has been joined.
    let path: String
    private let isSparse: Bool
    private var random: SeededGenerator
    private var file: OpenFile?
    /// Blocks charged after all calls that have returned.
    private var charged: Set<Int64> = []
    /// Blocks charged if the pending call takes full effect.
    private var chargedNext: Set<Int64> = []
    private var synced: Int64 = 0
    private var size: Int64 = 0

    init(worker: Int, round: Int, mount: TestMount) {
        isSparse = worker % 2 == 1
        random = SeededGenerator(seed: UInt64(round * 100 + worker))
        path = mount.path("\(worker % 4 < 2 ? "Documents" : "Library/Caches")/r\(round)-w\(worker)")
    }

    /// Writes until a call fails because the daemon is gone. Throws any other error.
    func writeUntilItFails(progress: Tally) throws {
        do {
            file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL)
            while true {
                try isSparse ? changeSparsely() : append()
                charged = chargedNext
                progress.add()
            }
        } catch {
            file?.close()
            file = nil
            let code = (error as? Errno)?.code
            guard [ENOTCONN, ECONNABORTED, ECANCELED, EIO].contains(code) else { throw error }
        }
    }

    private func append() throws {
        let length = 1 + random.below(20_000)
        chargedNext = charged.union(Self.blocks(size, Int64(length)))
        let done = try file?.write(length) ?? 0
        size += Int64(done)
        if done < length {
            // The kernel splits a call at a page boundary, and the daemon may end in between. The next call then fails.
            _ = try file?.write(1)
            throw TestFailure("short write of \(done)")
        }
        if random.chance(25) {
            try file?.sync()
            synced = size
        }
    }

    private func changeSparsely() throws {
        let first = Int64(random.below(512))
        let count = Int64(1 + random.below(8))
        let range = Set(first..<(first + count))
        let (offset, length) = (first * 4096, count * 4096)
        switch random.below(6) {
        case 0:
            chargedNext = charged.subtracting(range)
            try file?.allocate(Allocate.punchHole, offset, length)
        case 1:
            chargedNext = charged.filter { $0 < first }
            try file?.truncate(offset)
        case 2:
            chargedNext = charged.union(range)
            try file?.allocate(Allocate.plain, offset, length)
        case 3: try file?.sync()
        default:
            chargedNext = charged.union(range)
            _ = try file?.write(Int(length), at: offset)
        }
    }

    private static func blocks(_ offset: Int64, _ length: Int64) -> Set<Int64> {
        Set((offset / 4096)...((offset + length - 1) / 4096))
    }

    /// Checks the file on the new mount. The pending call may have had any part of its effect.
    func check() throws {
        guard Files.exists(path) else {
            guard charged.isEmpty, synced == 0 else { throw TestFailure("\(path) is lost") }
            return
        }
        let blocks = try Files.charged(path) / 4096
        let (least, most) = (charged.intersection(chargedNext).count, charged.union(chargedNext).count)
        guard (Int64(least)...Int64(most)).contains(blocks) else {
            throw TestFailure("\(path) is charged \(blocks) blocks, expected \(least)...\(most)")
        }
        guard !isSparse else { return }
        let content = try Files.content(path)
        guard content.count >= synced, content.prefix(Int(size)).allSatisfy({ $0 == 0xA7 }) else {
            throw TestFailure("\(path) has \(content.count) bytes, \(synced) were synced")
        }
    }
}
