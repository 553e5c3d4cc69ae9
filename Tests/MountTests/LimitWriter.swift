import Glibc
import PurgeSystem
import Support

/// A writer that deletes some of its persistent files when the device is full, or when it has more than 40.
struct LimitWriter {
    let mount: TestMount
    let worker: Int
    var random: SeededGenerator
    var refused = 0
    private var open: [OpenFile] = []
    private var kept: [String] = []
    private var number = 0

    init(mount: TestMount, worker: Int) {
        self.mount = mount
        self.worker = worker
        random = SeededGenerator(seed: UInt64(worker))
    }

    mutating func step() throws {
        number += 1
        let place = Mounts.LimitTests.places[random.below(Mounts.LimitTests.places.count)]
        let path = mount.path("\(place)/w\(worker)-\(number)")
        let file = try OpenFile(path, O_RDWR | O_CREAT | O_EXCL)
        let isFull = try write(file)
        // Files in persistent places are never purged, so this writer may expect to find and remove them.
        if place == "Documents" || place.hasSuffix("Support") { kept.append(path) }
        if random.chance(20) { open.append(file) }
        if isFull || kept.count > 40 { try makeRoom() }
    }

    /// Returns whether a write hit the limit.
    private mutating func write(_ file: OpenFile) throws -> Bool {
        for _ in 0..<(1 + random.below(8)) {
            do {
                _ = try file.write(1 + random.below(150_000))
            } catch {
                guard error == .noSpace else { throw error }
                refused += 1
                return true
            }
        }
        return false
    }

    private mutating func makeRoom() throws {
        closeAll()
        for path in kept.prefix(1 + random.below(kept.count + 1)) { try Files.unlink(path) }
        kept = kept.filter { Files.exists($0) }
    }

    mutating func closeAll() {
        open.forEach { $0.close() }
        open = []
    }
}
