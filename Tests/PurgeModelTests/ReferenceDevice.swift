/// A device in plain numbers of blocks: the rules of docs/RULES.md restated as simply as possible, without PurgeModel.
struct ReferenceDevice {
    struct File {
        enum Place: Int { case temporary, caches, persistent }
        var place: Place
        /// The effective mark: nil for none, 0 for not purgeable, 1...3 for purgeable with rising urgency.
        var mark: Int?
        var isOpen: Bool
        var names: Int
        var lastUse: Int
        var blocks: Int
        /// A unique number in place of the path.
        var path: Int

        var isPurgeable: Bool { place != .persistent || (mark ?? 0) > 0 }
        var isOutOfReach: Bool { isOpen || names > 1 || blocks == 0 }
        var mayGo: Bool { isPurgeable && !isOutOfReach }

        /// The sort key, lowest first: step, urgency, last use, size (larger first), path.
        var turn: [Int] { [place.rawValue, max(1, mark ?? 0), lastUse, -blocks, path] }
    }

    var total: Int
    var others: Int
    var othersPurgeable: Int
    /// Very low, low, near low, desired.
    var thresholds: [Int]
    var files: [File]

    var used: Int { files.reduce(0) { $0 + $1.blocks } }
    var free: Int { total - others - used }
    var reclaimableFiles: Int { files.reduce(0) { $1.mayGo ? $0 + $1.blocks : $0 } }

    /// The space for important writes after everything purgeable is gone.
    var mostThatEverFits: Int {
        let staying = files.reduce(0) { $1.mayGo ? $0 : $0 + $1.blocks }
        return max(0, total - (others - othersPurgeable) - staying)
    }

    /// The victims in purge order.
    var inTurn: [File] {
        files.filter(\.mayGo).map { ($0.turn, $0) }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    /// Returns the victims for a shortfall. Takes blocks of others.purgeable one at a time, and then files one at a time, until
    /// nothing is missing.
    func victims(short bytes: Int) -> (others: Int, files: [File]) {
        var missing = bytes
        var blocks = 0
        while missing > 0, blocks < othersPurgeable {
            blocks += 1
            missing -= 4096
        }
        var taken: [File] = []
        for file in inTurn where missing > 0 {
            taken.append(file)
            missing -= file.blocks * 4096
        }
        return (blocks, taken)
    }

    mutating func remove(othersBlocks: Int, paths: [Int]) {
        others -= othersBlocks
        othersPurgeable -= othersBlocks
        files.removeAll { paths.contains($0.path) }
    }
}

extension ReferenceDevice {
    /// Returns a random state: full or empty, overcommitted or not, with or without thresholds.
    static func random(_ random: inout SeededGenerator) -> ReferenceDevice {
        let largest = [3, 12, 12, 200][random.below(4)]
        let files = (0..<random.below(9)).map { path in
            File(
                place: File.Place(rawValue: random.below(3)) ?? .persistent,
                mark: random.oneIn(2) ? nil : random.below(4), isOpen: random.oneIn(5),
                names: random.oneIn(6) ? 2 : 1, lastUse: random.below(4), blocks: random.below(largest), path: path)
        }
        let others = random.oneIn(4) ? 0 : random.below(40)
        var device = ReferenceDevice(
            total: 0, others: others, othersPurgeable: random.oneIn(3) ? 0 : random.below(others + 1), thresholds: [],
            files: files)
        // The total is usually close to full, above or below; otherwise it is arbitrary.
        device.total = random.oneIn(6) ? random.below(300) : max(0, device.used + others + random.below(60) - 25)
        device.thresholds = randomThresholds(total: device.total, &random)
        return device
    }

    private static func randomThresholds(total: Int, _ random: inout SeededGenerator) -> [Int] {
        switch random.below(3) {
        case 0: [0, 0, 0, 0]
        case 1: [50, 100, 105, 110].map { (total * $0 + 999) / 1000 }
        default: (0..<4).map { _ in random.below(25) }.sorted()
        }
    }
}
