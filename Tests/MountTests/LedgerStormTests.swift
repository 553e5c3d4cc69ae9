import Glibc
import PurgeSystem
import Support
import Testing

extension Mounts {
    /// Many threads perform operations that change charges, all on the same few files. No model can follow them, but afterwards
    /// the ledger must equal a fresh scan.
    @Suite struct LedgerStormTests {
        static let places = ["Documents", "Library/Caches", "tmp", "Library"]

        @Test(arguments: Backing.allCases) func everythingAtOnce(backing: Backing) throws {
            try withMount(["--total", "16M", "--others", "1M"], on: backing, deadline: 600) { mount in
                try mount.turnThresholdsOff()
                let rounds = Scale.of(400)
                let stale = Tally()
                for storm in 0..<2 {
                    try Workers.run(8) { worker in
                        var random = SeededGenerator(seed: UInt64(storm * 100 + worker))
                        for _ in 0..<rounds { try step(mount, &random, stale) }
                    }
                    try check(mount, "storm \(storm) on \(backing)")
                    let used = try mount.number("storage.used")
                    try mount.remount()
                    #expect(try mount.number("storage.used") == used, "storm \(storm) on \(backing), after a remount")
                    try check(mount, "storm \(storm) on \(backing), after a remount")
                }
                #expect(stale.value == 0, "no program expects ESTALE of a local file system")
            }
        }

        private func check(_ mount: TestMount, _ label: Comment) throws {
            let storage = try mount.status().storage
            let tree = try Files.chargedTree(mount.root)
            #expect(tree == storage.used, label)
            #expect(storage.total - storage.others - storage.used == storage.available, label)
            let tiers = try mount.status().tiers
            #expect(tiers.temporary.bytes + tiers.caches.bytes + tiers.persistent.bytes == storage.used, label)
        }

        private func path(_ mount: TestMount, _ random: inout SeededGenerator) -> String {
            mount.path("\(Self.places[random.below(Self.places.count)])/f\(random.below(4))")
        }

        /// Performs a random operation. It may fail because there is no room, or because another worker took or removed the
        /// name.
        private func step(_ mount: TestMount, _ random: inout SeededGenerator, _ stale: Tally) throws {
            var operation = ""
            do {
                try change(mount, &random, &operation)
            } catch {
                if error as? Errno == .stale { return stale.add() }
                guard [Errno.noSpace, .noEntry, .exists].contains(error as? Errno) else {
                    throw TestFailure("\(operation): \(error)")
                }
            }
        }

        private func change(_ mount: TestMount, _ random: inout SeededGenerator, _ operation: inout String) throws {
            let (a, b) = (path(mount, &random), path(mount, &random))
            let offset = Int64(random.below(500_000))
            let length = Int64(1 + random.below(100_000))
            let number = random.below(14)
            operation = "operation \(number) on \(a) and \(b)"
            switch number {
            case 0: try Files.rename(a, b)
            case 1: try Files.rename(a, b, flags: RenameFlag.exchange)
            case 2: try Files.link(a, b)
            case 3: try Files.unlink(a)
            case 4: try Files.truncate(a, offset)
            case 5: try Attributes.mark(a, "isPurgeable", ["0", "low", "high"][random.below(3)])
            case 6:
                try mount.write(random.chance(50) ? "+256K" : "-256K", to: "storage.others")
            case 7: try mount.write(random.chance(50) ? "tmp" : "caches", to: "storage.reclaim")
            default: try changeData(try OpenFile(a), offset, length, &random, &operation)
            }
        }

        private func changeData(
            _ file: OpenFile, _ offset: Int64, _ length: Int64, _ random: inout SeededGenerator,
            _ operation: inout String
        ) throws {
            for _ in 0..<(1 + random.below(4)) {
                let number = random.below(8)
                operation = "operation \(number) on data, \(length) at \(offset)"
                switch number {
                case 0: try file.allocate(Allocate.punchHole, offset, length)
                case 1: try file.allocate(Allocate.plain, offset, length)
                case 2: try file.allocate(Allocate.keepSize, offset, length)
                case 3: try file.allocate(Allocate.zeroRange, offset, length)
                case 4: try file.truncate(offset)
                case 5: _ = try file.read(4096, at: offset)
                default: _ = try file.write(Int(length), at: offset)
                }
            }
        }
    }
}
