import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeVolume

// READ, WRITE and the other calls on an open file's data.
extension fuse_lowlevel_ops {
    static func addData(_ operations: inout fuse_lowlevel_ops) {
        operations.read = { request, node, size, offset, info in
            guard let request else { return }
            let server = Server.of(request)
            if server.node(node).isControl {
                return server.readControl(request, info, size: size, offset: Int64(offset))
            }
            Reply.to(request) { () throws(Errno) in
                try server.handle(info)
            } _: { reply, handle in
                server.read(reply, handle.descriptor, size: size, offset: Int64(offset))
            }
        }
        operations.write = { request, node, bytes, size, offset, info in
            guard let request, let info else { return }
            let server = Server.of(request)
            let data = UnsafeRawBufferPointer(start: bytes, count: size)
            if server.node(node).isControl { return server.writeControl(request, info, data) }
            Reply.to(request) { (debt: inout AnnouncementDebt) throws(Errno) in
                let write = WriteRequest(
                    offset: Int64(offset), length: size, isMapped: info.pointee.writepage != 0,
                    dropsPrivileges: RawRequest.current.writeDropsPrivileges, pid: server.caller(request).pid)
                return try server.volume.write(server.handle(info), write, debt: &debt) {
                    (fd, bytes) throws(Errno) in
                    try System.pwriteAll(
                        fd, UnsafeRawBufferPointer(rebasing: data[bytes]),
                        offset: write.offset + Int64(bytes.lowerBound))
                }
            } _: {
                $0.written($1)
            }
        }
        operations.fsync = { request, node, dataOnly, info in
            guard let request else { return }
            let server = Server.of(request)
            if server.node(node).isControl { return Reply(request).done() }
            Reply.done(request) { () throws(Errno) in
                try server.volume.sync(server.handle(info), dataOnly: dataOnly != 0)
            }
        }
        operations.fallocate = { request, node, mode, offset, length, info in
            guard let request else { return }
            let server = Server.of(request)
            if server.node(node).isControl { return Reply(request).error(.notSupported) }
            Reply.to(request) { (debt: inout AnnouncementDebt) throws(Errno) in
                let allocation = AllocationRequest(
                    mode: mode, offset: Int64(offset), length: Int64(length), pid: server.caller(request).pid)
                try server.volume.allocate(server.handle(info), allocation, debt: &debt)
            } _: { reply, _ in
                reply.done()
            }
        }
        operations.lseek = { request, node, offset, whence, info in
            guard let request else { return }
            let server = Server.of(request)
            if server.node(node).isControl { return Reply(request).error(.invalid) }
            Reply.to(request) { () throws(Errno) in
                try server.volume.seek(server.handle(info), offset: Int64(offset), whence: whence)
            } _: {
                $0.offset($1)
            }
        }
        operations.copy_file_range = { request, node, offset, info, _, toOffset, toInfo, length, _ in
            guard let request else { return }
            let server = Server.of(request)
            if server.node(node).isControl { return Reply(request).error(.notSupported) }
            Reply.to(request) { (debt: inout AnnouncementDebt) throws(Errno) in
                let write = WriteRequest(
                    offset: Int64(toOffset), length: Int(clamping: UInt(bitPattern: length)), isMapped: false,
                    dropsPrivileges: false, pid: server.caller(request).pid)
                let source = try server.handle(info)
                let count = try server.volume.copy(
                    from: source, offset: Int64(offset), to: server.handle(toInfo), write, debt: &debt)
                server.notifier.forgetAttributes(of: source.node)
                return count
            } _: {
                $0.written($1)
            }
        }
        operations.poll = { request, node, info, poll in
            guard let request else { return }
            Server.of(request).poll(request, node, info, poll)
        }
    }
}

extension Server {
    /// Larger reads are spliced; for smaller ones a copy is cheaper.
    private static let spliceSize = 64 << 10

    func read(_ reply: consuming Reply, _ descriptor: Int32, size: Int, offset: Int64) {
        if size >= Self.spliceSize { return reply.file(descriptor, offset: offset, size: size) }
        let pending = reply.later()
        withUnsafeTemporaryAllocation(byteCount: size, alignment: 4096) { buffer in
            do throws(Errno) {
                let count = try System.pread(descriptor, buffer, offset: offset)
                pending.take()?.bytes(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } catch {
                pending.take()?.error(error)
            }
        }
    }
}

extension System {
    /// Writes until everything is written or a call fails; throws only if nothing was written.
    static func pwriteAll(_ fd: Int32, _ bytes: UnsafeRawBufferPointer, offset: Int64) throws(Errno) -> Int {
        var written = 0
        while written < bytes.count {
            do {
                let count = try pwrite(
                    fd, UnsafeRawBufferPointer(rebasing: bytes[written...]), offset: offset + Int64(written))
                if count == 0 { break }
                written += count
            } catch {
                if written == 0 { throw error }
                break
            }
        }
        return written
    }
}
