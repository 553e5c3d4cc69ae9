import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import Support
import Testing

@testable import PurgeTree
@testable import PurgeVolume

/// Blocks that are charged although the backing file shows no data in them, and offsets at and past the largest file size.
struct VolumeExtentTests {
    private static let keepSize = System.allocateKeepSize

    private func expectScanned(_ live: LiveVolume, _ blocks: Int64, _ location: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(live.used == blocks, sourceLocation: location)
        let scanned = try live.scannedBlocks()
        #expect(scanned == blocks, sourceLocation: location)
    }

    /// A refused allocation makes no call that changes the file in the store. Even a new change time would show as soon as the
    /// kernel asks again.
    @Test func aRefusedAllocationLeavesTheFileAsItWas() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 2 * 4096)
            for mode in [Self.keepSize, System.allocateZeroRange, System.allocateZeroRange | Self.keepSize] {
                let refused = SystemCallFaults.none.during { try live.allocate(handle, mode, 0, 65 * 4096) }
                #expect(throws: Errno.noSpace) { try refused.result.get() }
                let changes: Set<SystemCall.Name> = [.setxattr, .fallocate, .ftruncate, .fchmod]
                #expect(changes.isDisjoint(with: refused.calls), "\(refused.calls)")
                #expect(try Support.Attributes.names(live.stored("Documents/f")) == [])
                #expect(handle.node.isDense)
                try expectScanned(live, 2)
            }
            try live.allocate(handle, Self.keepSize, 0, 64 * 4096)
            try expectScanned(live, 64)
        }
    }

    /// The kernel reads the file without the daemon, so a mapping could fill a hole unseen (docs/RULES.md, Charged bytes).
    @Test func aHoleIsChargedAsLongAsAReaderMayMapIt() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 40)
            // Handles own their descriptors, so the open ones are in this table and nowhere else.
            var handles: [Int32: Handle] = [:]
            func open(_ flags: Int32) throws {
                handles[flags] = try live.volume.open(
                    try live.node("Documents/f"), flags: flags, caller: LiveVolume.caller, offersPassthrough: true)
            }
            func close(_ flags: Int32) { handles.removeValue(forKey: flags).map(live.volume.close) }
            func punch(leaves blocks: Int64) throws {
                let handle = try #require(handles[O_WRONLY])
                try live.allocate(handle, Allocate.punchHole, 0, 8 * 4096)
                try expectScanned(live, blocks)
            }
            try open(O_RDONLY)
            try #require(handles[O_RDONLY]?.mode == .passthrough)
            try open(O_WRONLY)
            try punch(leaves: 40)
            close(O_RDONLY)
            try punch(leaves: 40)
            close(O_WRONLY)
            try open(O_WRONLY)
            try punch(leaves: 32)
            close(O_WRONLY)
        }
    }

    @Test(arguments: ["truncate", "last byte", "allocate a part", "data and truncate"])
    func allocatedBlocksThatTheFileHasGrownUpTo(way: String) throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.allocate(handle, Self.keepSize, 0, 16 * 4096)
            switch way {
            case "truncate": try live.truncate(handle.node, handle, 16 * 4096)
            case "last byte": try live.write(handle, at: 16 * 4096 - 1, 1)
            case "allocate a part": try live.allocate(handle, 0, 8 * 4096, 8 * 4096)
            default:
                try live.write(handle, at: 0, 8 * 4096)
                try live.truncate(handle.node, handle, 16 * 4096)
            }
            try expectScanned(live, 16)
            // A file full of data no longer needs a record.
            try live.write(handle, at: 0, 16 * 4096)
            try expectScanned(live, 16)
            #expect(handle.node.isDense)
            try live.truncate(handle.node, handle, 4096)
            try expectScanned(live, 1)
        }
    }

    @Test func whatIsNotTheDevicesIsRefused() throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            let end = ByteCount.largestFile.bytes
            for offset in [end, end + 1, 1 << 62, .max - 4096, .max - 1, .max] {
                #expect(throws: Errno.fileTooLarge) { try live.write(handle, at: offset, 4096) }
                for mode in [0, 1, 3, 16, 17] as [Int32] {
                    for length in [1, 4096, 1 << 44, .max] as [Int64] {
                        #expect(throws: Errno.fileTooLarge) { try live.allocate(handle, mode, offset, length) }
                    }
                }
                if offset > end {
                    #expect(throws: Errno.fileTooLarge) { try live.truncate(handle.node, handle, offset) }
                }
            }
            #expect(throws: Errno.invalid) { try live.write(handle, at: -1, 4096) }
            #expect(throws: Errno.invalid) { try live.truncate(handle.node, handle, .min) }
            try expectScanned(live, 0)
            // Calls up to the end work: a short write, and the last block.
            #expect(try live.write(handle, at: end - 100, 4096) { (_, granted) throws(Errno) in granted } == 100)
            try live.allocate(handle, Self.keepSize, end - 4096, 4096)
            #expect(throws: Errno.fileTooLarge) { try live.write(handle, at: end - 100, 4096, isMapped: true) }
        }
    }

    /// A hole and the data behind it are one demand: nothing is purged for a demand that cannot be met.
    @Test(arguments: ["write", "truncate", "allocate"])
    func holesOfAFilePassedThroughAreAllOrNothing(call: String) throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 32)
            try live.make("tmp/victim", blocks: 20)
            let reader = try live.volume.open(
                try live.node("Documents/f"), flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
            let handle = try live.open("Documents/f")
            func run(to block: Int64) throws(Errno) {
                switch call {
                case "write": try live.write(handle, at: (block - 1) * 4096, 4096)
                case "truncate": try live.truncate(handle.node, handle, block * 4096)
                default: try live.allocate(handle, 0, (block - 1) * 4096, 4096)
                }
            }
            #expect(throws: Errno.noSpace) { try run(to: 65) }
            #expect(try System.status(handle.descriptor).st_size == 32 * 4096)
            #expect(live.exists("tmp/victim"))
            try expectScanned(live, 52)
            try run(to: 64)
            #expect(!live.exists("tmp/victim"))
            try expectScanned(live, 64)
            for open in [reader, handle] { live.volume.close(open) }
        }
    }

    /// The file still ends where it did, not at the end of its last block.
    @Test func aWriteFarPastTheEndThatFailsLeavesTheSize() throws {
        try withVolume { live in
            try live.make("Documents/f", blocks: 32)
            let size: Int64 = 31 * 4096 + 5
            try live.truncate("Documents/f", size)
            let reader = try live.volume.open(
                try live.node("Documents/f"), flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
            let handle = try live.open("Documents/f")
            #expect(throws: Errno.ioError) {
                try live.write(handle, at: 40 * 4096, 4096) { (_, _) throws(Errno) in throw .ioError }
            }
            #expect(try System.status(handle.descriptor).st_size == size)
            try expectScanned(live, 32)
            for open in [reader, handle] { live.volume.close(open) }
        }
    }

    /// A write that the store refused is not a use of the file.
    @Test func aFailedWriteIsNoUse() throws {
        try withVolume { live in
            let handle = try live.create("tmp/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 0, 4096)
            let before = handle.node.lastUse
            for offset in [0, 4096, 81920] as [Int64] {
                #expect(throws: Errno.ioError) {
                    try live.write(handle, at: offset, 4096) { (_, _) throws(Errno) in throw .ioError }
                }
                #expect(handle.node.lastUse == before)
            }
            try live.write(handle, at: 0, 4096)
            #expect(handle.node.lastUse > before)
        }
    }

    /// While the store cannot be read, unused blocks stay charged, and an error is reported. A later write or the close
    /// releases the blocks.
    @Test func whatCannotBeSettledIsSaidAndSettledLater() throws {
        let kernel = FakeKernel()
        try withVolume(port: kernel) { live in
            let handle = try live.create("Documents/f")
            try live.write(handle, at: 0, 4096)
            let faults = SystemCallFaults(after: 0, code: EIO, count: .max)
            _ = faults.during { try live.write(handle, at: 4096, 10 * 4096) }
            #expect(live.used == 11 && kernel.reports.count == 1)
            try live.write(handle, at: 0, 1)
            try expectScanned(live, 1)
            _ = faults.during { try live.write(handle, at: 4096, 10 * 4096) }
            #expect(live.used == 11)
            live.volume.close(handle)
            try expectScanned(live, 1)
        }
    }

    /// If the store refuses an allocation in holes, neither blocks nor a longer record remain.
    @Test(arguments: [ENOSPC, EDQUOT, EIO, EOPNOTSUPP])
    func aFailedAllocationIsTakenBack(code: Int32) throws {
        try withVolume { live in
            let handle = try live.create("Documents/f")
            defer { live.volume.close(handle) }
            try live.write(handle, at: 30 * 4096, 4096)
            // The attribute is written before the blocks are allocated, so a refused allocation must also undo the attribute.
            var wasRefused = false
            for after in 0..<20 {
                let faults = SystemCallFaults(after: after, code: code)
                let outcome = faults.during { try live.allocate(handle, 0, 4096, 10 * 4096) }
                if outcome.hits == 0 { break }
                if case .failure(let error as Errno) = outcome.result {
                    wasRefused = true
                    #expect(error.answer == (code == EOPNOTSUPP ? EOPNOTSUPP : EIO))
                    try expectScanned(live, 1)
                } else {
                    try live.truncate(handle.node, handle, 0)
                    try live.write(handle, at: 30 * 4096, 4096)
                }
            }
            #expect(wasRefused)
        }
    }
}
