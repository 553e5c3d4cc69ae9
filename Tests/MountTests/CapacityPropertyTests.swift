import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// In every state, a place takes exactly its stated capacity, and one more block is ENOSPC (docs/RULES.md, The number is
    /// the truth).
    @Suite struct CapacityPropertyTests {
        /// Ways to fill a file with exactly `size` bytes. `fill` deletes the file again before the next check.
        enum Way: CaseIterable {
            case pieces, oneWrite, tooLongWrite, allocation
        }

        @Test(arguments: 0..<8) func exactlyTheStatedCapacityCanBeWritten(batch: Int) throws {
            try withMount { mount in
                for number in 0..<Scale.of(25) {
                    let seed = UInt64(batch * 1000 + number)
                    var state = try CapacityState(mount, seed: seed)
                    defer { state.release() }
                    try check(&state, seed: seed)
                }
            }
        }

        private func check(_ state: inout CapacityState, seed: UInt64) throws {
            let mount = state.mount
            for place in ["Library/Caches", "tmp/sub", "Documents/marked"] {
                let expected = try state.expected()
                #expect(try mount.capacity(at: place).available == expected.opportunistic, "seed \(seed), \(place)")
                try fill(place, expected.opportunistic, &state, seed)
            }
            let expected = try state.expected()
            #expect(try mount.capacity(at: "").available == expected.free, "seed \(seed), root")
            #expect(try mount.number("storage.available") == expected.free, "seed \(seed)")
            for place in ["Library/Application Support", "Documents"] {
                #expect(try mount.capacity(at: place).available == expected.important, "seed \(seed), \(place)")
            }
            try fill("Documents", expected.important, &state, seed)
            for path in state.untouchable where !mount.exists(path) {
                Issue.record("seed \(seed): \(path) was purged")
            }
        }

        private func fill(_ place: String, _ size: Int64, _ state: inout CapacityState, _ seed: UInt64) throws {
            let path = state.mount.path("\(place)/exact")
            let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL)
            let way = Way.allCases[state.random.below(Way.allCases.count)]
            let label: Comment = "seed \(seed), \(place), \(way)"
            do {
                try take(Int(size), way, file, &state.random)
            } catch {
                Issue.record(error, label)
            }
            #expect(try file.status().st_blocks * 512 == size, label)
            #expect(throws: Errno.noSpace, label) { try file.write(1, at: size) }
            #expect(throws: Errno.noSpace, label) { try file.allocate(Allocate.plain, size, 1) }
            if size > 0 { #expect(try file.write(Int(min(size, 1 << 20)), at: 0) > 0, label) }
            try Files.unlink(path)
        }

        private func take(_ size: Int, _ way: Way, _ file: OpenFile, _ random: inout SeededGenerator) throws {
            switch way {
            case .pieces: try file.fill(size, piece: 1 + random.below(300_000))
            case .oneWrite where size > 0: try file.fill(size, piece: size)
            case .oneWrite: break
            case .tooLongWrite:
                var done = 0
                while done < size { done += try file.write(size - done + 4096) }
                if done != size { throw TestFailure("\(done) of \(size) bytes written") }
            case .allocation where size > 0:
                #expect(throws: Errno.noSpace) { try file.allocate(Allocate.plain, 0, Int64(size) + 1) }
                #expect(try file.status().st_blocks == 0)
                try file.allocate(Allocate.plain, 0, Int64(size))
            case .allocation: break
            }
        }
    }
}
