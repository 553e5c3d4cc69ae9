import Glibc
import PurgeSystem
import Support

/// A random state of a container, with the capacities that docs/RULES.md, Capacity, gives it, computed by the test itself.
struct CapacityState {
    struct Entry {
        var path: String
        var charged: Int64
        var isPurgeable: Bool
        /// Whether the file is open or hard-linked, so that purging skips it.
        var isHeld: Bool
        var isUnlinked = false
    }
    let mount: TestMount
    var random: SeededGenerator
    var entries: [Entry] = []
    private var held: [OpenFile] = []
    private var total: Int64 = 0
    private var low: Int64 = 0

    static let block: Int64 = 4096
    /// Places, and whether purging may take a file there that has no mark of its own.
    static let places = [
        ("Documents", false), ("Documents/sub", false), ("Library/Application Support", false),
        ("Documents/marked", true), ("Library/Caches", true), ("Library/Caches/sub", true), ("tmp", true),
        ("tmp/sub", true),
    ]

    init(_ mount: TestMount, seed: UInt64) throws {
        self.mount = mount
        random = SeededGenerator(seed: seed)
        try clear()
        try chooseTotal()
        try makeFiles()
        try chooseOthers()
        try chooseThresholds()
        try mount.settle()
    }

    private mutating func clear() throws {
        try Program.shell("rm -rf Documents/* Library/Caches/* 'Library/Application Support'/* tmp/*", in: mount.root)
            .succeeded()
        try mount.turnThresholdsOff()
        try mount.write("0", to: "storage.others")
        for folder in ["Documents/sub", "Documents/marked", "Library/Caches/sub", "tmp/sub"] {
            try mount.makeDirectory(folder)
        }
        try mount.mark("Documents/marked", ["low", "medium", "high", "1"][random.below(4)])
    }

    /// Chooses a total that is usually not a whole number of blocks, because it must be rounded down.
    private mutating func chooseTotal() throws {
        let blocks = Int64(random.below(4096) + 256)
        total = blocks * Self.block
        try mount.write("\(total + Int64(random.below(4096)))", to: "storage.total")
    }

    private mutating func makeFiles() throws {
        var room = total * Int64(random.below(80)) / 100
        for number in 0..<random.below(30) {
            let sizes = [0, 1, 4095, 4096, 4097, random.below(Int(total / 8)), random.below(Int(total / 8))]
            let size = sizes[random.below(sizes.count)]
            let charged = Self.rounded(Int64(size))
            guard charged <= room else { continue }
            room -= charged
            try makeFile(number, size: size, charged: charged)
        }
    }

    private mutating func makeFile(_ number: Int, size: Int, charged: Int64) throws {
        let (place, isPurgeableThere) = Self.places[random.below(Self.places.count)]
        var entry = Entry(path: "\(place)/f\(number)", charged: charged, isPurgeable: isPurgeableThere, isHeld: false)
        let file = try OpenFile(mount.path(entry.path), O_RDWR | O_CREAT | O_EXCL)
        try file.fill(size, piece: 1 + random.below(200_000))
        if random.chance(20) { try file.truncate(Int64(size) + Self.block * 7) }  // holes are free
        if random.chance(25) { try setOwnMark(&entry, place: place) }
        if random.chance(10) {
            try Files.link(mount.path(entry.path), mount.path("Documents/link\(number)"))
            entry.isHeld = true
        }
        if random.chance(20) {
            held.append(file)
            entry.isHeld = true
            if random.chance(30) {
                try Files.unlink(mount.path(entry.path))
                entry.isUnlinked = true
            }
        }
        entries.append(entry)
    }

    /// Marks the file itself. The nearest mark wins, except that `0` does not protect files in tmp and Caches.
    private mutating func setOwnMark(_ entry: inout Entry, place: String) throws {
        let value = ["0", "1", "low", "medium", "high"][random.below(5)]
        try mount.mark(entry.path, value)
        let inPurgeableTier = place.hasPrefix("Library/Caches") || place.hasPrefix("tmp")
        entry.isPurgeable = inPurgeableTier || value != "0"
    }

    /// Sets others to anything from 0 to more than the free space. If others exceed the free space, the change itself purges.
    private mutating func chooseOthers() throws {
        let free = total - entries.reduce(0) { $0 + $1.charged }
        let choices = [0, free, max(0, free - Self.block), free / 2, Int64(random.below(Int(total)))]
        let others = choices[random.below(choices.count)]
        try mount.write("\(others)", to: "storage.others")
        if random.chance(50) {
            let now = try mount.number("storage.others")
            try mount.write("\(Int64.random(in: 0...now, using: &random))", to: "storage.others.purgeable")
        }
    }

    /// Sets thresholds and computes the value of `low` independently of the code under test.
    private mutating func chooseThresholds() throws {
        switch random.below(3) {
        case 0: low = 0
        case 1:
            try mount.write("verylow 5%\nlow 10%\nnearlow 10.5%\ndesired 11%\n", to: "storage.thresholds")
            low = Self.rounded((total + 9) / 10)
        default:
            let size = Int64(random.below(Int(total / 2)))
            let lines = "verylow \(size / 2)\nlow \(size)\nnearlow \(size + 1)\ndesired \(size + 10_000)"
            try mount.write(lines, to: "storage.thresholds")
            low = Self.rounded(size)
        }
    }

    func release() { held.forEach { $0.close() } }
    static func rounded(_ size: Int64) -> Int64 { (size + block - 1) / block * block }
}

extension CapacityState {
    struct Expected: Equatable {
        var free, important, opportunistic: Int64
    }

    /// Computes the capacities from the remaining files and from others by the formulas of docs/RULES.md, Capacity.
    func expected() throws -> Expected {
        let here = entries.filter { $0.isUnlinked || mount.exists($0.path) }
        let used = here.reduce(0) { $0 + $1.charged }
        let files = here.filter { $0.isPurgeable && !$0.isHeld }.reduce(0) { $0 + $1.charged }
        let reclaimable = try files + mount.number("storage.others.purgeable")
        let difference = try total - mount.number("storage.others") - used
        let free = max(0, difference)
        return Expected(
            free: free, important: min(total, max(0, difference + reclaimable)), opportunistic: max(0, free - low))
    }

    /// Paths of the files that no write may purge.
    var untouchable: [String] {
        entries.filter { !$0.isUnlinked && (!$0.isPurgeable || $0.isHeld) }.map(\.path)
    }
}
