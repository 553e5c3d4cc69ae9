import Glibc
import PurgeSystem
import Support
import Synchronization
import Testing

@testable import PurgeVolume

/// More directories are in use than the volume keeps descriptors for.
struct DirectoryDescriptorTests {
    @Test func aLookUpKeepsTheDescriptorThatItUses() throws {
        try withVolume { live in
            let names = (0..<20).map { "Documents/d\($0)" }
            for name in names {
                try live.makeDirectory(name)
                try live.makeDirectory("\(name)/inner")
            }
            live.volume.core.change { $0.descriptors.setLimit(8, in: &$0.tree) }
            let volume = live.volume
            let failures = Mutex<[String]>([])
            let threads = try (0..<4).map { number in
                try WorkThread(name: "look-up") {
                    for round in 0..<Scale.of(20_000) {
                        let name = "d\((round * 7 + number * 5) % 20)"
                        do throws(Errno) {
                            try Self.lookUp(["Documents", name, "inner"], in: volume)
                        } catch { failures.withLock { $0.append("\(name): \(error)") } }
                    }
                }
            }
            for thread in threads { thread.join() }
            #expect(failures.withLock { $0 } == [])
        }
    }

    private static func lookUp(_ path: [String], in volume: Volume) throws(Errno) {
        var node = volume.root
        for name in path {
            node = try volume.lookup(name, in: node, caller: LiveVolume.caller).node
            volume.forget(node, count: 1)
        }
    }
}
