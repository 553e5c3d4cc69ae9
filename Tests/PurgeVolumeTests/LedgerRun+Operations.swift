import Glibc
import PurgeSystem
import Support

@testable import PurgeVolume

extension LedgerRun {
    /// Performs one random operation, or nothing if the operation makes no sense at the moment.
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

    private func write() throws {
        guard let open = someOpen else { return }
        let (offset, isMapped) = (someOffset(), random.chance(10))
        // A refused write-back of several pages still writes the pages that have blocks. The model writes none of them, so
        // here a write-back is at most a page long.
        let length = isMapped ? Int64(1 + random.below(4096)) : someLength()
        lastOperation = "write of \(length) at \(offset) to \(model.names(open.id)), mapped: \(isMapped)"
        let expected = model.write(open.id, at: offset, count: length, isMapped: isMapped)
        let done = try noSpaceIsZero { () throws(Errno) in
            try live.write(open.handle, at: offset, Int(length), isMapped: isMapped)
        }
        try compare(done, expected)
    }

    /// Makes a write that needs no purge, and that fails or writes less than it may. The room that it did not use is free
    /// again.
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

    private func allocate() throws {
        guard let open = someOpen else { return }
        let (mode, flags) = someAllocation()
        let (offset, length) = (someOffset(), max(1, someLength()))
        lastOperation = "fallocate \(mode) \(offset) \(length) of \(model.names(open.id)), size \(model.size(open.id))"
        let expected = model.allocate(open.id, mode, at: offset, count: length)
        let done = try noSpaceIsZero { () throws(Errno) in
            try live.allocate(open.handle, flags, offset, length)
            return Int(length)
        }
        try compare(done, expected)
    }
}

extension LiveVolume: LedgerSubject {
    func makeFolder(_ path: String) throws { try makeDirectory(path) }
    func remove(_ path: String) throws { try unlink(path) }
    func addName(_ path: String, _ new: String) throws { try link(path, new) }
    func move(_ path: String, to new: String, flags: UInt32) throws { try rename(path, new, flags: flags) }
    func setMark(_ path: String, _ text: String?) throws {
        do throws(Errno) { try mark(path, text) } catch .noData {}
    }
    func setOthers(_ bytes: Int64, purgeable: Bool) throws {
        try command(purgeable ? .storageOthersPurgeable : .storageOthers, "\(bytes)")
    }
}
