import Glibc
import PurgeSystem
import Support

extension LedgerRun {
    /// Performs a random operation, or none if the chosen one is impossible at the moment.
    func step() throws {
        switch random.below(100) {
        case ..<12: try create()
        case ..<18: try open()
        case ..<30: try close()
        case ..<55: try write()
        case ..<63: try truncate()
        case ..<75: try allocate()
        case ..<78: try copy()
        case ..<80: try writeMapped()
        case ..<84: try unlink()
        case ..<87: try link()
        case ..<91: try renameFile()
        case ..<94: try renameFolder()
        case ..<96: try exchange()
        case ..<98: try mark()
        default: try changeDevice()
        }
        settle()
    }

    private func note(_ text: String) { lastOperation = text }
    private var someHandle: Handle? { handles.randomElement(using: &random) }
    private func someLength() -> Int64 {
        switch random.below(4) {
        case 0: Int64(1 + random.below(3))
        case 1: Int64(4096 * (1 + random.below(12)))
        default: Int64(1 + random.below(50_000))
        }
    }

    private func create() throws {
        guard model.statBlocksOfAllFiles.count < 40, handles.count < 12 else { return try unlink() }
        let path = newPath()
        note("create \(path)")
        let file = try OpenFile(mount.path(path), O_RDWR | O_CREAT | O_EXCL)
        let id = model.create(path)
        handles.append(Handle(id: id, file: file))
        try addShadow(of: id)
    }

    private func open() throws {
        guard handles.count < 12, let path = somePath() else { return }
        let truncating = random.chance(20)
        note("open \(path), truncating: \(truncating)")
        let file = try OpenFile(mount.path(path), O_RDWR | (truncating ? O_TRUNC : 0))
        let id = model.open(path, truncating: truncating)
        handles.append(Handle(id: id, file: file))
        if truncating { try shadows[id]?.truncate(0) }
    }

    private func close() throws {
        guard !handles.isEmpty else { return }
        let handle = handles.remove(at: random.below(handles.count))
        note("close")
        handle.file.close()
        model.close(handle.id)
    }

    private func write() throws {
        guard let handle = someHandle else { return }
        let bytes = [UInt8](repeating: UInt8(1 + random.below(255)), count: Int(someLength()))
        let offset = someOffset()
        note("write of \(bytes.count) at \(offset) to \(model.names(handle.id))")
        let expected = model.write(handle.id, at: offset, count: Int64(bytes.count))
        let done = try noSpaceIsZero { () throws(Errno) in try handle.file.write(bytes, at: offset) }
        try compare(done, expected)
        if done > 0 { _ = try shadows[handle.id]?.write(Array(bytes[..<done]), at: offset) }
    }

    private func truncate() throws {
        guard let handle = someHandle else { return }
        let size = random.chance(50) ? someOffset() : Int64(random.below(Int(model.size(handle.id)) + 1))
        note("truncate of \(model.names(handle.id)) to \(size) from \(model.size(handle.id))")
        if let path = model.names(handle.id).first, random.chance(50) {
            try Files.truncate(mount.path(path), size)
        } else {
            try handle.file.truncate(size)
        }
        model.truncate(handle.id, to: size)
        try shadows[handle.id]?.truncate(size)
    }

    private func allocate() throws {
        guard let handle = someHandle else { return }
        let (mode, flags) = someAllocation()
        let (offset, length) = (someOffset(), someLength())
        note("fallocate \(mode) \(offset) \(length) of \(model.names(handle.id)), size \(model.size(handle.id))")
        let expected = model.allocate(handle.id, mode, at: offset, count: length)
        let done = try noSpaceIsZero { () throws(Errno) in
            try handle.file.allocate(flags, offset, length)
            return Int(length)
        }
        try compare(done, expected)
        if done > 0 { try shadows[handle.id]?.allocate(flags, offset, length) }
    }

    private func copy() throws {
        guard let from = someHandle, let to = someHandle, from.id != to.id else { return }
        let (offset, target) = (someOffset(), someOffset())
        let length = min(someLength(), model.size(from.id) - offset)
        guard length > 0 else { return }
        note(
            "copy_file_range of \(length) from \(offset) of \(model.names(from.id)) to \(target) of \(model.names(to.id))"
        )
        let expected = model.write(to.id, at: target, count: length)
        let done = try noSpaceIsZero { () throws(Errno) in
            try System.copyRange(
                from: from.file.descriptor, offset: offset, to: to.file.descriptor, offset: target, length: Int(length))
        }
        try compare(done, expected)
        guard done > 0, let content = try shadows[from.id]?.read(done, at: offset) else { return }
        _ = try shadows[to.id]?.write(content, at: target)
    }

    /// Writes to a page that fits into the free space. MappingTests covers the other cases.
    private func writeMapped() throws {
        guard let handle = someHandle, model.size(handle.id) > 0, model.opportunistic > 1 << 20 else { return }
        let page = Int64(random.below(Int(model.size(handle.id)))) / 4096 * 4096
        note("mapped write of the page at \(page) of \(model.names(handle.id))")
        guard let map = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, handle.file.descriptor, off_t(page)),
            map != MAP_FAILED
        else { throw Errno(errno) }
        map.storeBytes(of: 0x5A, as: UInt8.self)
        let result = msync(map, 4096, MS_SYNC)
        munmap(map, 4096)
        guard result == 0 else { throw TestFailure("\(lastOperation): msync failed") }
        model.write(handle.id, at: page, count: min(4096, model.size(handle.id) - page), isMapped: true)
        _ = try shadows[handle.id]?.write([0x5A], at: page)
    }
}
