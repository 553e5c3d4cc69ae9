import CFuse
import CFuseShims
import Glibc
import PurgeSystem
import PurgeTree
import PurgeVolume

// OPEN, READ, WRITE, POLL and RELEASE of the control files.
extension Request {
    func openControl(_ node: Node, flags: Int32) {
        answer { () throws(Errno) in
            try volume.controlFiles.open(node, flags: flags)
        } _: { reply, handle in
            let flags = UInt32(SHIM_FOPEN_DIRECT_IO) | UInt32(SHIM_FOPEN_NOFLUSH)
            if !reply.open(Server.retained(handle), flags: flags) { closeControl(handle) }
        }
    }

    func closeControl(_ handle: ControlHandle) {
        volume.controlFiles.close(handle)
        Server.release(handle)
    }

    func readControl(_ info: FileInfo?, size: Int, offset: Int64) {
        let handle: ControlHandle
        do throws(Errno) { handle = try object(info) } catch { return fail(error) }
        let files = volume.controlFiles
        guard let reader = handle.reader else {
            if let bytes = files.readAtOnce(handle, offset: offset, limit: size) { return reply().bytes(bytes) }
            let pending = later()
            return server.commands.add {
                let bytes = files.read(handle, offset: offset, limit: size)
                pending.end(.success(bytes)) { reply, bytes in reply.bytes(bytes) }
            }
        }
        if let ready = reader.take(limit: size) { return reply().bytes(ready) }
        if let info, info.pointee.flags & O_NONBLOCK != 0 { return fail(.tryAgain) }
        server.streams.park(later(), raw, reader, size: size)
    }

    /// Carries out a command. Each write(2) is one command, whatever its offset. Commands run on a separate thread, because
    /// they may wait for purges that need the workers.
    func writeControl(_ info: FileInfo?, _ data: UnsafeRawBufferPointer) {
        let handle: ControlHandle
        do throws(Errno) { handle = try object(info) } catch { return fail(error) }
        let (bytes, tid, files, pending) = ([UInt8](data), tid, volume.controlFiles, later())
        server.commands.add {
            let result = Result { () throws(Errno) in try files.write(handle, bytes, pid: tid) }
            pending.end(result) { reply, _ in reply.written(bytes.count) }
        }
    }

    /// Answers POLL, also for other files: ENOSYS would end all polling in this mount, including polls of control files.
    func poll(_ node: fuse_ino_t, _ info: FileInfo?, _ poll: OpaquePointer?) {
        let waiter = poll.map { PollWaiter($0) }
        guard self.node(node).isControl else { return reply().poll(UInt32(POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM)) }
        answer { () throws(Errno) in
            try object(info, ControlHandle.self)
        } _: { reply, handle in
            if let waiter { handle.onChange { waiter.wake() } }
            reply.poll(volume.controlFiles.poll(handle))
        }
    }
}
