import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem

/// Makes recorded calls again in a directory.
struct Replayer {
    private let root: FileDescriptor
    /// Open files that have no name yet, by their number in the record.
    private var nameless: [UInt64: FileDescriptor] = [:]

    /// - Parameter directory: the place of the container.
    init(_ directory: String) throws(Errno) {
        root = try FileDescriptor.open(directory, O_RDONLY | O_DIRECTORY)
        System.setUmask(0)
    }

    /// Whether the replay skips a call: one on a file that was removed while it was open, or one that failed with ESTALE
    /// because its name was being removed at that moment.
    func leavesOut(_ call: RecordedCall) -> Bool {
        call.error == "ESTALE" || (call.isAboutNameless && nameless[call.node ?? 0] == nil)
    }

    /// Makes a call again. Returns how many bytes it has transferred, if it is a read or write.
    mutating func replay(_ call: RecordedCall) throws(Errno) -> Int64? {
        switch call.call {
        case .open, .read, .write, .fallocate, .truncate, .fsync, .fsyncdir: return try replayData(call)
        case .setattr, .setxattr, .removexattr:
            try replayAttributes(call)
            return nil
        default:
            try replayNames(call)
            return nil
        }
    }

    /// A name in a folder. The way to the folder leads through no link, so that a record cannot lead out of the container.
    private struct Place {
        let folder: FileDescriptor
        let name: String
        var dir: Int32 { folder.raw }
    }

    private func place(_ path: String) throws(Errno) -> Place {
        if path == ".." || path.hasSuffix("/..") { throw Errno(EXDEV) }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return Place(folder: root, name: path.isEmpty ? "." : path)
        }
        let folder = Array(String(path[..<slash]).utf8CString)
        return Place(
            folder: FileDescriptor(
                adopting: try System.openInMount(root.raw, folder, System.openPath | O_DIRECTORY)),
            name: String(Substring(path.utf8[path.utf8.index(after: slash)...])))
    }

    private mutating func replayNames(_ call: RecordedCall) throws(Errno) {
        let mode = mode_t(call.mode ?? 0)
        if call.call == .tmpfile {
            let file = try System.open(at: root.raw, ".", O_RDWR | System.openTemporary, mode: mode)
            if let node = call.node { nameless[node] = FileDescriptor(adopting: file) }
            return
        }
        let place = try place(call.path)
        let (dir, name) = (place.dir, place.name)
        defer { withExtendedLifetime(place.folder) {} }
        if call.makesFile, let node = call.node { nameless[node] = nil }  // the number is used again
        switch call.call {
        case .create:
            _ = try FileDescriptor(adopting: System.open(at: dir, name, O_WRONLY | O_CREAT | O_EXCL, mode: mode))
        case .symlink: try System.makeSymbolicLink(to: call.text ?? "", at: dir, name)
        // A record from elsewhere could make any device of the machine.
        case .mknod where [S_IFCHR, S_IFBLK].contains(mode & S_IFMT): throw .notPermitted
        case .mknod: try System.makeNode(at: dir, name, mode: mode, device: dev_t(call.device ?? 0))
        case .mkdir: try System.makeDirectory(at: dir, name, mode: mode)
        case .link:
            if let file = namelessFile(of: call, named: call.other) {
                try System.link(file.raw, to: dir, name)
                nameless[call.node ?? 0] = nil
            } else {
                let source = try self.place(call.other ?? "")
                defer { withExtendedLifetime(source.folder) {} }
                try System.link(at: source.dir, source.name, to: dir, name)
            }
        case .unlink: try System.unlink(at: dir, name)
        case .rmdir: try System.removeDirectory(at: dir, name)
        case .rename:
            let target = try self.place(call.other ?? "")
            defer { withExtendedLifetime(target.folder) {} }
            // RENAME_WHITEOUT, which the container refuses, would make a device.
            guard (call.flags ?? 0) & ~3 == 0 else { throw .invalid }
            try System.rename(at: dir, name, to: target.dir, target.name, flags: call.flags ?? 0)
        default: break
        }
    }

    private func namelessFile(of call: RecordedCall, named path: String?) -> FileDescriptor? {
        path?.isEmpty == true ? call.node.flatMap { nameless[$0] } : nil
    }

    private func open(_ call: RecordedCall, _ flags: Int32) throws(Errno) -> FileDescriptor {
        if let file = namelessFile(of: call, named: call.path) { return file }
        let path = call.path.isEmpty ? "." : call.path
        // A FIFO must not wait; openat2(2) refuses O_PATH with O_NONBLOCK.
        let flags = flags & System.openPath == 0 ? flags | O_NONBLOCK : flags
        return FileDescriptor(adopting: try System.openInMount(root.raw, Array(path.utf8CString), flags))
    }

    private func replayData(_ call: RecordedCall) throws(Errno) -> Int64? {
        let (offset, size) = (call.offset ?? 0, call.size ?? 0)
        let access: Int32 =
            switch call.call {
            case .open: call.rawFlags & (O_ACCMODE | O_TRUNC)
            case .write, .fallocate, .truncate: O_WRONLY
            default: O_RDONLY
            }
        let file = try open(call, access)
        defer { withExtendedLifetime(file) {} }
        switch call.call {
        case .read: return Int64(try file.readSome(Int(clamping: size), at: offset).count)
        case .write: return Int64(try System.pwrite(file.raw, call.bytes, offset: offset))
        case .fallocate:
            try System.allocate(file.raw, mode: call.rawFlags, offset: offset, length: size)
        case .truncate where call.onlyExtends:
            if try System.status(file.raw).st_size < size { try System.truncate(file.raw, size) }
        case .truncate: try System.truncate(file.raw, size)
        case .fsync, .fsyncdir: try System.sync(file.raw)
        default: break
        }
        return nil
    }

    private func replayAttributes(_ call: RecordedCall) throws(Errno) {
        if let file = namelessFile(of: call, named: call.path) { return try replayAttributes(call, file) }
        let named = try place(call.path)
        defer { withExtendedLifetime(named.folder) {} }
        let (dir, name) = (named.dir, named.name)
        switch call.call {
        case .setxattr: try System.setAttribute(at: dir, name, call.text ?? "", call.bytes, flags: call.rawFlags)
        case .removexattr: try System.removeAttribute(at: dir, name, call.text ?? "")
        default:
            if let mode = call.mode {
                let file = try open(call, System.openPath)
                try System.changeMode(file.raw, mode_t(mode & 0o7777))
                withExtendedLifetime(file) {}
            }
            if call.changesOwner {
                try System.changeOwner(at: dir, name, call.owner ?? .max, call.group ?? .max)
            }
            if call.changesTimes {
                try System.setTimes(
                    at: dir, name, access: Self.time(call.accessTime), modification: Self.time(call.modificationTime))
            }
        }
    }

    private func replayAttributes(_ call: RecordedCall, _ file: FileDescriptor) throws(Errno) {
        switch call.call {
        case .setxattr: try System.setAttribute(at: file.raw, nil, call.text ?? "", call.bytes, flags: call.rawFlags)
        case .removexattr: try System.removeAttribute(at: file.raw, nil, call.text ?? "")
        default:
            if let mode = call.mode { try System.changeMode(file.raw, mode_t(mode & 0o7777)) }
            if call.changesOwner { try System.changeOwner(file.raw, call.owner ?? .max, call.group ?? .max) }
            if call.changesTimes {
                try System.setTimes(
                    file.raw, access: Self.time(call.accessTime), modification: Self.time(call.modificationTime))
            }
        }
    }

    private static func time(_ nanoseconds: Int64?) -> timespec {
        guard let nanoseconds else { return timespec(tv_sec: 0, tv_nsec: System.timeOmit) }
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // Times before 1970 have a fraction that counts forward, too.
        return timespec(
            tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_nsec: Int(rest < 0 ? rest + 1_000_000_000 : rest))
    }
}

extension RecordedCall {
    fileprivate var rawFlags: Int32 { Int32(bitPattern: flags ?? 0) }
    fileprivate var changesOwner: Bool { owner != nil || group != nil }
    fileprivate var changesTimes: Bool { accessTime != nil || modificationTime != nil }

    /// Whether the call makes a file or folder with a name.
    fileprivate var makesFile: Bool { [.create, .mkdir, .symlink, .mknod].contains(call) && error == nil }

    /// Whether the call is about a file that has no name. The root, node 1, has the empty path.
    fileprivate var isAboutNameless: Bool {
        switch call {
        case .tmpfile, .link: false
        default: path.isEmpty && node != Self.rootNode
        }
    }

    /// The flags of a truncation that must not cut the file off. No record has them.
    private static let extending: UInt32 = 1
    fileprivate var onlyExtends: Bool { call == .truncate && flags == Self.extending }

    /// The bytes written, or the value of the attribute. Zeros if the record of a write has no data.
    var bytes: [UInt8] {
        data.flatMap { JSONText.bytes(base64: $0) }
            ?? [UInt8](repeating: 0, count: call == .write ? max(0, Int(clamping: size ?? 0)) : 0)
    }

    /// Whether the data can be decoded, if there is any.
    var hasReadableData: Bool { data.map { JSONText.bytes(base64: $0) != nil } ?? true }

    /// Returns the call as it is made again after a loss of power: with its new path, and once for each range of bytes.
    func surviving(_ survivor: SurvivingCall) -> [RecordedCall] {
        var call = self
        (call.path, call.other) = (survivor.path, survivor.other ?? (survivor.nameless == nil ? nil : ""))
        if let nameless = survivor.nameless { call.node = UInt64(nameless) + Self.rootNode }
        let (bytes, start) = (self.call == .write ? self.bytes : [], offset ?? 0)
        var parts = survivor.ranges.map { $0.map(part) } ?? [call.withoutUnwritten]
        func part(_ range: Range<Int64>) -> RecordedCall {
            var part = call
            part.call = .write
            (part.offset, part.size, part.result) = (range.lowerBound, Int64(range.count), Int64(range.count))
            // What a lost truncation has left are zeros.
            part.data =
                bytes.isEmpty
                ? nil : JSONText.base64(bytes.dropFirst(Int(range.lowerBound - start)).prefix(range.count))
            return part
        }
        if let size = survivor.size {
            var growth = call
            (growth.call, growth.offset, growth.size, growth.flags) = (.truncate, nil, size, Self.extending)
            (growth.data, growth.result) = (nil, nil)
            parts.append(growth)
        }
        return parts
    }

    /// The call, asked only for what it has written.
    private var withoutUnwritten: RecordedCall {
        guard call == .write, let result, result < size ?? 0 else { return self }
        var call = self
        call.size = result
        call.data = JSONText.base64(bytes.prefix(Int(result)))
        return call
    }
}
