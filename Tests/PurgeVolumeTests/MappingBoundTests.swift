import Glibc
import PurgeModel
import PurgeSystem
import Support
import Testing

@testable import PurgeVolume

/// The number of files that are passed through, or kept because they may still be mapped.
struct MappingBoundTests {
    private static let bound = 1024
    private static let size = 32 * 4096

    /// Opens a file, runs `body`, closes the file, and returns its mode. The handle owns the descriptor, so the handle must not
    /// leave this function.
    private func opening(_ live: LiveVolume, _ name: String, _ body: () throws -> Void = {}) throws -> InputOutputMode {
        let handle = try live.volume.open(
            try live.node(name), flags: O_RDONLY, caller: LiveVolume.caller, offersPassthrough: true)
        defer { live.volume.close(handle) }
        try body()
        return handle.mode
    }

    /// Maps a file as the kernel does with passthrough: by a descriptor of its own.
    private func mapped(_ live: LiveVolume, _ name: String) throws -> UnsafeMutableRawPointer {
        let file = try OpenFile(live.stored(name), O_RDONLY)
        defer { file.close() }
        let address = mmap(nil, Self.size, PROT_READ, MAP_SHARED, file.descriptor, 0)
        return try #require(address == MAP_FAILED ? nil : address)
    }

    /// Raises the limit to enough descriptors for all files.
    private func raiseDescriptorLimit() throws {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limits = rlimit()
        try #require(getrlimit(resource, &limits) == 0)
        limits.rlim_cur = min(limits.rlim_max, max(limits.rlim_cur, 8192))
        try #require(setrlimit(resource, &limits) == 0)
    }

    @Test func mappingsAreRememberedUpToABound() throws {
        try raiseDescriptorLimit()
        try withVolume(settings: {
            $0.total = ByteCount(1 << 30)
            $0.thresholds = .off
        }) { live in
            let names = (0...Self.bound).map { "Library/Caches/f\($0)" }
            for name in names { try live.make(name, blocks: 32) }
            var mappings: [UnsafeMutableRawPointer] = []
            defer { for address in mappings { munmap(address, Self.size) } }
            for name in names.prefix(Self.bound) {
                let mode = try opening(live, name) { mappings.append(try mapped(live, name)) }
                #expect(mode == .passthrough)
            }
            live.volume.settleMappings()
            #expect(try opening(live, names[Self.bound]) == .cached)
            // A file that is already remembered needs no more room.
            #expect(try opening(live, names[0]) == .passthrough)
            // All remembered files count as open; the last file does not.
            #expect(try live.blocks(.storageReclaimable) == 32)
            munmap(mappings.removeLast(), Self.size)
            try live.awaitMappings(left: Self.bound - 1)
            #expect(try live.blocks(.storageReclaimable) == 64)
            #expect(try opening(live, names[Self.bound]) == .passthrough)
            for address in mappings { munmap(address, Self.size) }
            mappings = []
            try live.awaitMappings(left: 0)
            let reclaimable = try live.bytes(.storageReclaimable)
            #expect(reclaimable == Int64(names.count * Self.size))
        }
    }
}
