import Glibc
import PurgeModel
import PurgeSystem
@testable import PurgeTree
import Support
import Testing

@testable import PurgeVolume

/// Random operations on files in groups, and in folders where purging leaves tombstones. The numbers and the victims match a
/// scan of the store.
struct BehaviourStormTests {
    @Test(arguments: 1...6) func theNumbersAreThoseOfAScan(seed: UInt64) throws {
        try withVolume(settings: { settings in
            settings.total = ByteCount(blocks: 300)
            settings.thresholds = .off
        }) { live in
            var storm = Storm(live: live, random: SeededGenerator(seed: seed))
            for number in 0..<max(240, Scale.of(240)) {
                do throws(Errno) { try storm.step() } catch {
                    // The operation makes no sense for the entries that are there, or there is too little room.
                    let expected: [Errno] = [
                        .noEntry, .noData, .noSpace, .exists, .notEmpty, .tryAgain, .invalid, .isDirectory,
                        .notDirectory,
                    ]
                    #expect(expected.contains(error), "\(error)")
                }
                if number % 40 == 39 { try check(live) }
            }
            let events = try live.events(.purge)
            #expect(events.contains { $0.tombstone == true } && events.contains { $0.tombstone == nil })
        }
    }

    private func check(_ live: LiveVolume) throws {
        let scanned = try live.scanned()
        let (mine, theirs) = (live.volume.status(), scanned.status())
        #expect(mine.storage.used == theirs.storage.used)
        #expect(mine.storage.reclaimable == theirs.storage.reclaimable)
        #expect(mine.tiers.temporary == theirs.tiers.temporary && mine.tiers.caches == theirs.tiers.caches)
        #expect(mine.tiers.persistent == theirs.tiers.persistent && mine.marked.purgeable == theirs.marked.purgeable)
        #expect(victims(live.volume) == victims(scanned))
        #expect(live.volume.read { $0.untoldPurges.underWay.count } == 0)
    }

    /// Returns the victims, each with the directory of its unit and whether a purge leaves a tombstone of it.
    private func victims(_ volume: Volume) -> [String] {
        volume.read { state in
            state.tree.victims.flatMap { group in
                group.nodes.map { node in
                    let unit = group.unit.map { $0.directory.path().text } ?? "-"
                    return "\(node.path().text) \(unit) \(node.standing.leavesTombstone)"
                }
            }.sorted()
        }
    }
}

private struct Storm {
    let live: LiveVolume
    var random: SeededGenerator

    private static let folders = ["tmp", "Library/Caches", "Documents"]
    private static let names = ["a", "b", "c"]

    private mutating func any(_ texts: [String]) -> String { texts[random.below(texts.count)] }

    /// Returns a place, a folder in it, or a folder in that folder.
    private mutating func folder() -> String {
        (0..<random.below(3)).reduce(any(Self.folders)) { path, _ in path + "/" + any(Self.names) }
    }

    mutating func step() throws(Errno) {
        let folder = folder()
        let file = folder + "/f\(random.below(6))"
        switch random.below(20) {
        case 0...5: try write(file)
        case 6: try live.makeDirectory(folder)
        case 7: try live.rename(file, self.folder() + "/f\(random.below(6))")
        case 8: try live.rename(folder, self.folder())
        case 9: try live.unlink(file)
        case 10: try live.mark(folder, any(["0", "low", "high"]))
        case 11...13: try set("purgeGroup", of: folder)
        case 14...15: try set("purgeTombstone", of: folder)
        case 16: try live.command(.storageReclaim, "\(1 + random.below(40))K")
        case 17: try live.command(.storageReclaim, any(["tmp", "caches", "purgeable", "all"]))
        case 18: try live.link(file, folder + "/f9")
        default: try important()
        }
    }

    private mutating func set(_ name: String, of folder: String) throws(Errno) {
        if random.below(4) == 0 { return try live.remove(name, from: folder) }
        try live.set(name, of: folder, to: any(["0", "1", "1"]))
    }

    /// Writes at a random offset, so that files have holes.
    private mutating func write(_ path: String) throws(Errno) {
        let handle = try live.create(path, O_RDWR | O_CREAT)
        defer { live.volume.close(handle) }
        _ = try live.write(handle, at: Int64(random.below(4) * 8192), 1 + random.below(3 * 4096))
    }

    /// Allocates blocks to an unlinked persistent file, for which other files may be purged.
    private mutating func important() throws(Errno) {
        let handle = try live.create("Documents/large", O_RDWR | O_CREAT)
        defer { live.volume.close(handle) }
        try live.unlink("Documents/large")
        try live.allocate(handle, 0, 0, Int64(200 + random.below(90)) * 4096)
    }
}
