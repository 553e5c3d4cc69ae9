import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// OPEN, CREATE, RELEASE.
extension fuse_lowlevel_ops {
    static func addFiles(_ operations: inout fuse_lowlevel_ops) {
        operations.open = { Request($0)?.open($1, $2) }
        operations.create = { Request($0)?.create($2, in: $1, mode: $3, $4) }
        operations.release = { Request($0)?.release($1, $2) }
    }
}

extension Request {
    fileprivate func open(_ node: fuse_ino_t, _ info: FileInfo?) {
        guard let info else { return fail(.badFileDescriptor) }
        if self.node(node).isControl { return openControl(self.node(node), flags: info.pointee.flags) }
        if server.kernel.pages.isWaiting(by: tid) { return _ = reply().open(0, flags: PageWaiter.openFlags) }
        answer { () throws(Errno) in
            server.describe(try open(self.node(node), flags: info.pointee.flags), raw)
        } _: { reply, file in
            server.send(file, reply)
        }
    }

    private func open(_ node: Node, flags: Int32) throws(Errno) -> Handle {
        let handle = try volume.open(
            node, flags: flags, caller: caller, offersPassthrough: shim_features().passthrough != 0)
        guard RawRequest.current.openDropsPrivileges else { return handle }
        do throws(Errno) { try volume.dropPrivileges(handle, tid: tid) } catch {
            volume.close(consume handle)
            throw error
        }
        return handle
    }

    fileprivate func create(_ name: UnsafePointer<CChar>?, in parent: fuse_ino_t, mode: mode_t, _ info: FileInfo?) {
        guard let info else { return fail(.badFileDescriptor) }
        answer { () throws(Errno) in
            let (entry, handle) = try create(name, in: node(parent), mode: mode, flags: info.pointee.flags)
            return (entry, server.describe(handle, raw))
        } _: { reply, made in
            server.send(made.0, made.1, info, reply)
        }
    }

    private func create(
        _ name: UnsafePointer<CChar>?, in parent: Node, mode: mode_t, flags: Int32
    ) throws(Errno) -> (Entry, Handle) {
        if RawRequest.current.isTemporary {
            return try volume.makeTemporary(in: parent, mode: mode, flags: flags, caller: caller)
        }
        return try volume.create(
            self.name(name), in: parent, mode: mode, flags: flags, caller: caller, offersPassthrough: false)
    }

    fileprivate func release(_ node: fuse_ino_t, _ info: FileInfo?) {
        // The page waiter's descriptor.
        if info?.pointee.fh == 0 { return reply().done() }
        let isControl = self.node(node).isControl
        done { () throws(Errno) in
            if isControl { try closeControl(object(info)) } else { server.release(try handle(info), raw) }
        }
    }
}

/// What the kernel is told of a new descriptor. Holds no reference to the handle, because the app may close the file while the
/// thread that has answered OPEN still waits for a CPU, and the last reference closes the descriptor.
private struct OpenedFile {
    var handle: UInt64
    var flags: UInt32
    var backing: Int32

    /// Fills in the descriptor's part of the answer to CREATE.
    func describe(to info: FileInfo) {
        info.pointee.fh = handle
        info.pointee.direct_io = flags & UInt32(SHIM_FOPEN_DIRECT_IO) != 0 ? 1 : 0
        info.pointee.keep_cache = flags & UInt32(SHIM_FOPEN_KEEP_CACHE) != 0 ? 1 : 0
        info.pointee.noflush = 1
    }
}

extension Server {
    fileprivate func describe(_ handle: Handle, _ request: fuse_req_t) -> OpenedFile {
        let (flags, backing) = flags(of: handle, request)
        return OpenedFile(handle: handle.address, flags: flags, backing: backing)
    }

    /// Answers OPEN.
    fileprivate func send(_ file: OpenedFile, _ reply: consuming Reply) {
        if !reply.open(file.handle, flags: file.flags, backing: file.backing) { withdraw(file) }
    }

    /// Answers CREATE. If the kernel does not accept the answer, it will not release the file either.
    fileprivate func send(_ entry: Entry, _ file: OpenedFile, _ info: FileInfo, _ reply: consuming Reply) {
        file.describe(to: info)
        guard !reply.created(entry, &info.pointee) else { return }
        withdraw(file)
        volume.forget(entry.node, count: 1)
    }

    /// Closes a descriptor of which the kernel has not heard.
    private func withdraw(_ file: OpenedFile) {
        if let handle = Self.object(file.handle, Handle.self) { release(handle, nil) }
    }

    /// Closes a descriptor, unless another thread is using it.
    ///
    /// - Parameter request: nil if it has been answered (BackingFiles.release).
    func release(_ handle: consuming Handle, _ request: fuse_req_t?) {
        if handle.mode.isPassed { backings.release(handle, request) }
        if handle.mode == .passthroughDirect { kernel.forgetAttributes(of: [handle.node.address]) }
        volume.close(consume handle)
    }

    /// Returns the FOPEN flags and backing id of a new descriptor. There is no flush, because nothing waits for close(2), and
    /// the kernel itself handles locks.
    private func flags(of handle: Handle, _ request: fuse_req_t) -> (UInt32, Int32) {
        let noFlush = UInt32(SHIM_FOPEN_NOFLUSH)
        let keep = handle.keepsCache ? UInt32(SHIM_FOPEN_KEEP_CACHE) : 0
        // Without direct_io_mmap, direct writes would make the pages cached by other opens stale, so writers are cached too.
        let direct = shim_features().direct_io_mmap != 0 ? UInt32(SHIM_FOPEN_DIRECT_IO) : keep
        switch handle.mode {
        case .cached, .own: return (noFlush | keep, 0)
        case .direct: return (noFlush | direct, 0)
        case .passthrough, .passthroughDirect:
            guard let id = backings.acquire(handle, request) else {
                volume.withdrawPassthrough(handle)
                return (noFlush | keep, 0)
            }
            // Writes through a mapping of this descriptor change the file unseen, and leave the cached attributes stale.
            if handle.mode == .passthroughDirect { kernel.forgetAttributes(of: [handle.node.address]) }
            let passthrough = UInt32(SHIM_FOPEN_PASSTHROUGH) | noFlush
            return (handle.mode == .passthrough ? passthrough : passthrough | UInt32(SHIM_FOPEN_DIRECT_IO), id)
        }
    }
}
