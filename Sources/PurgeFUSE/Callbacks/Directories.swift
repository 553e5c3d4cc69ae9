import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// OPENDIR, READDIR, READDIRPLUS, RELEASEDIR, FSYNCDIR.
extension fuse_lowlevel_ops {
    static func addDirectories(_ operations: inout fuse_lowlevel_ops) {
        operations.opendir = { request, node, _ in
            guard let request = Request(request) else { return }
            request.answer { () throws(Errno) in
                try request.volume.directories.open(request.node(node))
            } _: {
                let flags = UInt32(SHIM_FOPEN_KEEP_CACHE | SHIM_FOPEN_CACHE_DIR)
                if !$0.open(Server.retained($1), flags: flags) { Server.release($1) }
            }
        }
        operations.readdir = { Request($0)?.readDirectory($4, size: $2, offset: Int64($3), isPlus: false) }
        operations.readdirplus = { Request($0)?.readDirectory($4, size: $2, offset: Int64($3), isPlus: true) }
        operations.releasedir = { request, _, info in
            guard let request = Request(request) else { return }
            request.done { () throws(Errno) in Server.release(try request.object(info, DirectoryHandle.self)) }
        }
        operations.fsyncdir = { request, node, _, _ in
            guard let request = Request(request) else { return }
            request.done { () throws(Errno) in try request.volume.directories.sync(request.node(node)) }
        }
    }
}

extension Request {
    fileprivate func readDirectory(_ info: FileInfo?, size: Int, offset: Int64, isPlus: Bool) {
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var listing = Listing(request: raw, buffer: buffer, isPlus: isPlus)
            answer { () throws(Errno) in
                try listing.fill(from: object(info), at: offset, server)
            } _: { reply, handle in
                listing.send(of: handle, reply, server)
            }
        }
    }
}

/// The answer to READDIR or READDIRPLUS while entries are added to it.
private struct Listing {
    let request: fuse_req_t
    let buffer: UnsafeMutableRawBufferPointer
    let isPlus: Bool
    private var used = 0
    private(set) var count = 0

    init(request: fuse_req_t, buffer: UnsafeMutableRawBufferPointer, isPlus: Bool) {
        self.request = request
        self.buffer = buffer
        self.isPlus = isPlus
    }

    var entries: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<used]) }

    mutating func fill(
        from handle: DirectoryHandle, at offset: Int64, _ server: Server
    ) throws(Errno) -> DirectoryHandle {
        do throws(Errno) {
            try server.volume.directories.read(handle, offset: offset, withAttributes: isPlus) { add($0) }
        } catch {
            if isPlus { forget(server) }
            throw error
        }
        return handle
    }

    func send(of handle: DirectoryHandle, _ reply: consuming Reply, _ server: Server) {
        let isTaken = reply.bytes(entries)
        guard isPlus else { return }
        if isTaken { return server.volume.directories.warmUp(handle, after: count) }
        forget(server)
    }

    /// Drops the references to the entries if their answer was not sent or was not accepted by the kernel.
    private func forget(_ server: Server) {
        forEachNode { server.volume.forget(server.node($0), count: 1) }
    }

    /// Adds an entry; returns false if there is no room for it.
    mutating func add(_ entry: DirectoryEntry) -> Bool {
        let length = put(entry)
        guard used + length <= buffer.count else { return false }
        used += length
        count += 1
        return true
    }

    /// Puts one entry into the buffer if there is room. Returns its length either way.
    private func put(_ entry: DirectoryEntry) -> Int {
        let place = buffer.baseAddress.map { ($0 + used).assumingMemoryBound(to: CChar.self) }
        let room = buffer.count - used
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

    /// Calls `body` with the nodeid of each entry to which this READDIRPLUS answer gives the kernel a reference.
    func forEachNode(_ body: (fuse_ino_t) -> Void) {
        // struct fuse_direntplus: a fuse_entry_out, which begins with the nodeid, then a fuse_dirent and its name.
        let (entry, header) = (128, 24)
        var at = 0
        while at + entry + header <= used {
            let id = entries.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            let length = Int(entries.loadUnaligned(fromByteOffset: at + entry + 16, as: UInt32.self))
            if id != 0 { body(fuse_ino_t(id)) }
            at += (entry + header + length + 7) / 8 * 8
        }
    }
}
