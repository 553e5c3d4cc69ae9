import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Every call sees the effects of each close(2) and each purge that returned before the call began.
    @Suite struct CloseOrderTests {
        /// Worker W's file has 2^W blocks, so the reclaimable blocks are a bit mask of the workers whose file is closed.
        @Test(arguments: Transport.available) func closedFilesCountAsReclaimableAtOnce(by transport: Transport) throws {
            try withMount(by: transport) { mount in
                try mount.turnThresholdsOff()
                let workers = 4
                for worker in 0..<workers { try mount.make("Library/Caches/w\(worker)", size: 4096 << worker) }
                let unreclaimed = try mount.capacity(at: "").available
                let rounds = Scale.of(10_000) / workers
                try Workers.run(workers) { worker in
                    let bit = Int64(1) << worker
                    for round in 0..<rounds {
                        let flags = round % 3 == 0 ? O_RDWR : O_RDONLY
                        let file = try OpenFile(mount.path("Library/Caches/w\(worker)"), flags)
                        if round % 3 == 0 { _ = try file.write(4096) }
                        let open = try Self.closedMask(mount, unreclaimed, round)
                        guard open & bit == 0 else { throw TestFailure("round \(round): an open file counted") }
                        file.close()
                        let closed = try Self.closedMask(mount, unreclaimed, round)
                        guard closed & bit != 0 else {
                            throw TestFailure("round \(round): a closed file did not count")
                        }
                    }
                }
            }
        }

        private static func closedMask(_ mount: TestMount, _ unreclaimed: Int64, _ round: Int) throws -> Int64 {
            round % 2 == 0
                ? (try mount.capacity(at: "Documents").available - unreclaimed) / 4096
                : try mount.number("storage.reclaimable") / 4096
        }

        /// Each write takes one block, so it purges exactly the least recently used file.
        @Test(arguments: Transport.available) func purgedNamesAreGoneWhenTheWriteReturns(by transport: Transport) throws
        {
            try withMount(by: transport) { mount in
                let count = Scale.of(1000)
                try mount.turnThresholdsOff()
                for number in 0..<count { try mount.make("Library/Caches/f\(number)", size: 4096) }
                try mount.write("+\(mount.number("storage.available"))", to: "storage.others")
                let isDone = Tally()
                let watcher = Self.keepLooking(mount, count, until: { isDone.value > 0 })
                let big = try OpenFile(mount.path("Documents/big"))
                for number in 0..<count {
                    #expect(try big.write(4096) == 4096)
                    let name = "Library/Caches/f\(number)"
                    #expect(throws: Errno.noEntry, "\(name)") { try Files.status(mount.path(name)) }
                }
                isDone.add()
                try watcher.join()
                #expect(try Files.names(in: mount.path("Library/Caches")) == [])
            }
        }

        /// Starts a thread whose lookups keep filling the kernel's cache of names.
        private static func keepLooking(
            _ mount: TestMount, _ count: Int, until isDone: @escaping @Sendable () -> Bool
        ) -> Workers.Group {
            Workers.start(1) { _ in
                while !isDone() {
                    for number in 0..<count { _ = mount.exists("Library/Caches/f\(number)") }
                    _ = try Files.names(in: mount.path("Library/Caches"))
                }
            }
        }

        /// As soon as a file in Library/Caches is closed, the next write can use its space.
        @Test(arguments: Transport.available) func closedFilesCanBePurgedByTheNextWrite(by transport: Transport) throws
        {
            try withMount(by: transport) { mount in
                try mount.turnThresholdsOff()
                for round in 0..<Scale.of(300) {
                    try mount.write("0", to: "storage.others")
                    try mount.make("Library/Caches/f", size: 40960)
                    try mount.write("+\(mount.number("storage.available"))", to: "storage.others")
                    let file = try OpenFile(mount.path("Documents/f"))
                    #expect(try file.write(40960) == 40960, "round \(round)")
                    #expect(!mount.exists("Library/Caches/f"), "round \(round)")
                    try Files.unlink(mount.path("Documents/f"))
                }
            }
        }
    }
}
