import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

extension LedgerRun {
    /// One operation, chosen at random; one that makes no sense at the moment does nothing.
    func step() throws {
        switch random.below(100) {
        case ..<12: try create()
        case ..<18: try open()
        case ..<30: close()
        case ..<52: try write()
        case ..<56: try writeBadly()
        case ..<64: try truncate()
        case ..<76: try allocate()
        case ..<80: try unlink()
        case ..<84: try link()
        case ..<89: try renameFile()
        case ..<92: try renameFolder()
        case ..<94: try exchange()
        case ..<97: try mark()
        default: try changeDevice()
        }
        settle()
    }

    private var someOpen: Open? { opened.randomElement(using: &random) }
    private func someOffset() -> Int64 {
        let offset = Int64(random.below(400_000))
        return random.chance(40) ? offset / 4096 * 4096 : offset
    }
    private func someLength() -> Int64 {
        switch random.below(4) {
        case 0: Int64(1 + random.below(3))
        case 1: Int64(4096 * (1 + random.below(12)))
        case 2: Int64(random.below(1 << 20))
        default: Int64(1 + random.below(50_000))
        }
    }

    private func create() throws {
        guard model.statBlocksOfAllFiles.count < 40, opened.count < 12 else { return try unlink() }
        let path = newPath()
        lastOperation = "create \(path)"
        let handle = try live.create(path)
        opened.append(Open(id: model.create(path), handle: handle))
    }
    private func open() throws {
        guard opened.count < 12, let path = somePath() else { return }
        let truncating = random.chance(20)
        lastOperation = "open \(path), truncating: \(truncating)"
        let handle = try live.open(path, O_RDWR | (truncating ? O_TRUNC : 0))
        opened.append(Open(id: model.open(path, truncating: truncating), handle: handle))
    }
    private func close() {
        guard !opened.isEmpty else { return }
        let open = opened.remove(at: random.below(opened.count))
        lastOperation = "close"
        live.volume.close(open.handle)
        model.close(open.id)
    }

    private func compare(_ done: Int, _ expected: ReferenceLedger.Outcome) throws {
        guard Int64(done) == expected.bytes else {
            throw TestFailure("\(lastOperation): took \(done), not \(expected.bytes)")
        }
    }

    private func write() throws {
        guard let open = someOpen else { return }
        let (offset, isMapped) = (someOffset(), random.chance(10))
        // If a larger write-back is refused, the pages in place are still written.
        let length = isMapped ? Int64(1 + random.below(4096)) : someLength()
        lastOperation = "write of \(length) at \(offset) to \(model.names(open.id)), mapped: \(isMapped)"
        let expected = model.write(open.id, at: offset, count: length, isMapped: isMapped)
        let done = try noSpaceIsZero { () throws(Errno) in
            try live.write(open.handle, at: offset, Int(length), isMapped: isMapped)
        }
        try compare(done, expected)
    }

    /// One that fails, or does less than it may, where nothing has to be purged for it: the room
    /// that it did not use is free again.
    private func writeBadly() throws {
        guard let open = someOpen else { return }
        let (offset, length) = (someOffset(), someLength())
        guard length > 0, model.opportunistic > length + 8192 else { return }
        let done = 1 + random.below(Int(length))
        let fails = random.chance(50)
        lastOperation = "write of \(done) of \(length) at \(offset) to \(model.names(open.id)), failing: \(fails)"
        let taken = try inputErrorIsNil { () throws(Errno) in
            try live.write(open.handle, at: offset, Int(length)) { (fd, _) throws(Errno) in
                let count = try LiveVolume.put(fd, done, offset)
                if fails { throw .ioError }
                return count
            }
        }
        guard taken == (fails ? nil : done) else { throw TestFailure("\(lastOperation): took \(taken ?? -1)") }
        model.write(open.id, at: offset, count: Int64(done))
    }

    private func truncate() throws {
        guard let open = someOpen else { return }
        let size = random.chance(50) ? someOffset() : Int64(random.below(Int(model.size(open.id)) + 1))
        let byPath = random.chance(50) && !model.names(open.id).isEmpty
        lastOperation = "truncate of \(model.names(open.id)) to \(size) from \(model.size(open.id)), path: \(byPath)"
        try live.truncate(open.handle.node, byPath ? nil : open.handle, size)
        model.truncate(open.id, to: size)
    }

    static let modes: [(ReferenceLedger.Allocation, Int32)] = [
        (.plain, Allocate.plain), (.keepingSize, Allocate.keepSize), (.punchingHole, Allocate.punchHole),
        (.punchingHole, Allocate.punchHole), (.zeroing, Allocate.zeroRange),
        (.zeroingKeepingSize, Allocate.zeroRangeKeepSize),
    ]
    private func allocate() throws {
        guard let open = someOpen else { return }
        let (mode, flags) = Self.modes[random.below(Self.modes.count)]
        let (offset, length) = (someOffset(), max(1, someLength()))
        lastOperation = "fallocate \(mode) \(offset) \(length) of \(model.names(open.id)), size \(model.size(open.id))"
        let expected = model.allocate(open.id, mode, at: offset, count: length)
        let done = try noSpaceIsZero { () throws(Errno) in
            try live.allocate(open.handle, flags, offset, length)
            return Int(length)
        }
        try compare(done, expected)
    }

    private func unlink() throws {
        guard let path = somePath() else { return }
        lastOperation = "unlink \(path)"
        try live.unlink(path)
        model.unlink(path)
    }
    private func link() throws {
        guard let path = somePath() else { return }
        let new = newPath()
        lastOperation = "link \(path) \(new)"
        try live.link(path, new)
        model.link(path, new)
    }
    private func renameFile() throws {
        guard let path = somePath() else { return }
        let new = random.chance(25) ? somePath() ?? newPath() : newPath()
        lastOperation = "rename \(path) \(new)"
        try live.rename(path, new)
        model.rename(path, new)
    }
    private func renameFolder() throws {
        let folder = random.below(folderParents.count)
        let place = Self.places[random.below(Self.places.count - 1)]
        guard place != folderParents[folder] else { return }
        let old = path(ofFolder: folder)
        lastOperation = "rename tree \(old) to \(place)"
        try live.rename(old, "\(place)/t\(folder)")
        model.rename(old, "\(place)/t\(folder)")
        folderParents[folder] = place
    }
    private func exchange() throws {
        guard let first = somePath(), let second = somePath(), first != second else { return }
        lastOperation = "exchange \(first) \(second)"
        try live.rename(first, second, flags: RenameFlag.exchange)
        model.exchange(first, second)
    }
    private func mark() throws {
        let marks: [(ReferenceLedger.Mark?, String?)] = [
            (nil, nil), (.notPurgeable, "0"), (.low, "low"), (.medium, "medium"), (.high, "high"),
        ]
        let (mark, text) = marks[random.below(marks.count)]
        let target = random.chance(30) ? path(ofFolder: random.below(folderParents.count)) : somePath()
        guard let target else { return }
        lastOperation = "mark \(target) \(text ?? "removed")"
        do {
            try live.mark(target, text)
        } catch {
            guard error == .noData else { throw error }  // it had none
        }
        model.mark(target, mark)
    }
    private func changeDevice() throws {
        let others = Int64(random.below(Int(model.total / 2)))
        lastOperation = "others \(others)"
        try live.command(.storageOthers, "\(others)")
        model.setOthers(others)
        guard random.chance(50) else { return }
        settle()
        let purgeable = Int64(random.below(Int(model.others) + 1))
        lastOperation = "others.purgeable \(purgeable)"
        try live.command(.storageOthersPurgeable, "\(purgeable)")
        model.setOthersPurgeable(purgeable)
    }
}
