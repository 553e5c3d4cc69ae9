import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// OPEN, CREATE, RELEASE.
extension fuse_lowlevel_ops {
    static func addFiles(_ operations: inout fuse_lowlevel_ops) {
        operations.open = { request, node, info in
            guard let request, let info else { return }
            let server = Server.of(request)
            let node = server.node(node)
            if node.isControl {
                if info.pointee.flags & O_ACCMODE == O_WRONLY {
                    server.retries.finishOld()
                } else {
                    server.retries.finishNameless()
                }
                return server.openControl(request, node, flags: info.pointee.flags)
            }
            Reply.to(request) { () throws(Errno) in
                let features = shim_features()
                let caller = server.caller(request)
                let handle = try server.volume.open(
                    node, flags: info.pointee.flags, caller: caller, offersPassthrough: features.passthrough != 0)
                if RawRequest.current.openDropsPrivileges {
                    do throws(Errno) { try server.volume.dropPrivileges(handle, pid: caller.pid) } catch {
                        server.volume.close(handle)
                        throw error
                    }
                }
                return handle
            } _: { reply, handle in
                let (flags, backing) = server.flags(of: handle, request)
                if !reply.open(handle.address, flags: flags, backing: backing) { server.release(handle, nil) }
            }
        }
        operations.create = { request, parent, name, mode, info in
            guard let request, let info else { return }
            let server = Server.of(request)
            Reply.to(request) { () throws(Errno) in
                let caller = server.caller(request)
                if RawRequest.current.isTemporary {
                    return try server.volume.makeTemporary(
                        in: server.node(parent), mode: mode, flags: info.pointee.flags, caller: caller)
                }
                return try server.volume.create(
                    Server.name(name), in: server.node(parent), mode: mode, flags: info.pointee.flags,
                    caller: caller, offersPassthrough: false)
            } _: { reply, made in
                info.pointee.fh = made.1.address
                let (flags, _) = server.flags(of: made.1, request)
                info.pointee.direct_io = flags & UInt32(SHIM_FOPEN_DIRECT_IO) != 0 ? 1 : 0
                info.pointee.keep_cache = flags & UInt32(SHIM_FOPEN_KEEP_CACHE) != 0 ? 1 : 0
                info.pointee.noflush = 1
                if !reply.created(made.0, &info.pointee) {
                    server.release(made.1, nil)
                    server.volume.forget(made.0.node, count: 1)
                }
            }
        }
        operations.release = { request, node, info in
            guard let request else { return }
            let server = Server.of(request)
            let isControl = server.node(node).isControl
            Reply.done(request) { () throws(Errno) in
                if isControl {
                    let handle = try server.control(info)
                    server.volume.controlFiles.close(handle)
                    Unmanaged.passUnretained(handle).release()
                } else {
                    server.release(try server.handle(info), request)
                }
            }
        }
    }
}

extension Server {
    /// - Parameter request: nil if it has been answered (BackingFiles.release).
    func release(_ handle: Handle, _ request: fuse_req_t?) {
        if handle.mode.isPassed { backings.release(handle, request) }
        if handle.mode == .passthroughDirect { notifier.forgetAttributes(of: handle.node) }
        volume.close(handle)
    }

    /// FOPEN flags and backing id of a new descriptor. No flush: nothing waits for close(2), and
    /// locks are the kernel's own.
    func flags(of handle: Handle, _ request: fuse_req_t) -> (UInt32, Int32) {
        let noFlush = UInt32(SHIM_FOPEN_NOFLUSH)
        let keep = handle.keepsCache ? UInt32(SHIM_FOPEN_KEEP_CACHE) : 0
        // Without direct_io_mmap direct writes would leave others' pages as they are, so writers are cached too.
        let direct = shim_features().direct_io_mmap != 0 ? UInt32(SHIM_FOPEN_DIRECT_IO) : keep
        switch handle.mode {
        case .cached, .own: return (noFlush | keep, 0)
        case .direct: return (noFlush | direct, 0)
        case .passthrough, .passthroughDirect:
            guard let id = backings.acquire(handle, request) else {
                volume.withdrawPassthrough(handle)
                return (noFlush | keep, 0)
            }
            // Writes through a mapping of this descriptor change the file without us, and without the cached
            // attributes.
            if handle.mode == .passthroughDirect { notifier.forgetAttributes(of: handle.node) }
            let passthrough = UInt32(SHIM_FOPEN_PASSTHROUGH) | noFlush
            return (handle.mode == .passthrough ? passthrough : passthrough | UInt32(SHIM_FOPEN_DIRECT_IO), id)
        }
    }

    func openControl(_ request: fuse_req_t, _ node: Node, flags: Int32) {
        Reply.to(request) { () throws(Errno) in
            try volume.controlFiles.open(node, flags: flags)
        } _: { reply, handle in
            _ = Unmanaged.passRetained(handle)
            if !reply.open(handle.address, flags: UInt32(SHIM_FOPEN_DIRECT_IO)) {
                volume.controlFiles.close(handle)
                Unmanaged.passUnretained(handle).release()
            }
        }
    }
}
