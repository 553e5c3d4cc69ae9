import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// OPENDIR, READDIR, READDIRPLUS, RELEASEDIR, FSYNCDIR.
extension fuse_lowlevel_ops {
    static func addDirectories(_ operations: inout fuse_lowlevel_ops) {
        operations.opendir = { request, node, info in
            guard let request else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                try server.volume.openDirectory(server.node(node))
            } _: { reply, handle in
                _ = Unmanaged.passRetained(handle)
                let flags = UInt32(SHIM_FOPEN_KEEP_CACHE | SHIM_FOPEN_CACHE_DIR)
                if !reply.open(handle.address, flags: flags) { Unmanaged.passUnretained(handle).release() }
            }
        }
        operations.readdir = { request, _, size, offset, info in
            guard let request else { return }
            Server.of(request).readDirectory(request, info, size: size, offset: Int64(offset), isPlus: false)
        }
        operations.readdirplus = { request, _, size, offset, info in
            guard let request else { return }
            Server.of(request).readDirectory(request, info, size: size, offset: Int64(offset), isPlus: true)
        }
        operations.releasedir = { request, _, info in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                Unmanaged.passUnretained(try server.directory(info)).release()
            }
        }
        operations.fsyncdir = { request, node, _, _ in
            guard let request else { return }
            let server = Server.of(request)
            Reply.done(request) { () throws(Errno) in
                try server.volume.syncDirectory(server.node(node))
            }
        }
    }
}

extension Server {
    func readDirectory(
        _ request: fuse_req_t, _ info: UnsafeMutablePointer<fuse_file_info>?, size: Int, offset: Int64, isPlus: Bool
    ) {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var used = 0
            var count = 0
            Reply.to(request) { () throws(Errno) in
                let handle = try directory(info)
                try volume.readDirectory(handle, offset: offset, withAttributes: isPlus) { entry in
                    let length = add(entry, to: buffer, at: used, request, isPlus: isPlus)
                    guard used + length <= size else { return false }
                    used += length
                    count += 1
                    return true
                }
                return handle
            } _: { reply, handle in
                let entries = UnsafeRawBufferPointer(rebasing: buffer[..<used])
                let isTaken = reply.bytes(entries)
                guard isPlus else { return }
                if isTaken { volume.warmUp(handle, after: count) } else { forget(entries) }
            }
        }
    }

    /// The kernel has no references to entries that it has not accepted.
    private func forget(_ entries: UnsafeRawBufferPointer) {
        // struct fuse_direntplus: a fuse_entry_out, which begins with the nodeid, then a fuse_dirent, whose name
        // follows.
        let (entry, header) = (128, 24)
        var at = 0
        while at + entry + header <= entries.count {
            let id = entries.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            let length = Int(entries.loadUnaligned(fromByteOffset: at + entry + 16, as: UInt32.self))
            if id != 0 { volume.forget(node(fuse_ino_t(id)), count: 1) }
            at += (entry + header + length + 7) / 8 * 8
        }
    }

    /// Puts one entry into the buffer if there is room. Returns its length either way.
    private func add(
        _ entry: DirectoryEntry, to buffer: UnsafeMutableRawBufferPointer, at offset: Int, _ request: fuse_req_t,
        isPlus: Bool
    ) -> Int {
        let place = buffer.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
        let room = buffer.count - offset
        var status = stat()
        status.st_ino = UInt(entry.inode)
        status.st_mode = mode_t(entry.type) << 12
        guard isPlus else {
            return fuse_add_direntry(request, place, room, entry.name, &status, Int(entry.next))
        }
        var parameters = fuse_entry_param()
        if let found = entry.entry {
            parameters = fuse_entry_param(found)
        } else {
            parameters.attr = status
        }
        return fuse_add_direntry_plus(request, place, room, entry.name, &parameters, Int(entry.next))
    }
}
