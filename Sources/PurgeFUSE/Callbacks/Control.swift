import CFuse
import Glibc
import PurgeSystem
import PurgeVolume
import Synchronization

// Reads, writes and polls of the control files.
extension Server {
    func readControl(
        _ request: fuse_req_t, _ info: UnsafeMutablePointer<fuse_file_info>?, size: Int, offset: Int64
    ) {
        Reply.to(request) { () throws(Errno) in
            try control(info)
        } _: { reply, handle in
            guard let reader = handle.reader else {
                return reply.bytes(volume.controlFiles.read(handle, offset: offset, limit: size))
            }
            if let ready = reader.take(limit: size) { return reply.bytes(ready) }
            if let info, info.pointee.flags & O_NONBLOCK != 0 { return reply.error(.tryAgain) }
            streams.park(reply.later(), request, reader, size: size)
        }
    }

    /// One write(2) is one command, wherever in the file. It runs on a thread of its own, since it may
    /// have to wait for purges that need the workers.
    func writeControl(
        _ request: fuse_req_t, _ info: UnsafeMutablePointer<fuse_file_info>, _ data: UnsafeRawBufferPointer
    ) {
        let bytes = [UInt8](data)
        let pid = caller(request).pid
        Reply.to(request) { () throws(Errno) in
            try control(info)
        } _: { reply, handle in
            let pending = reply.later()
            commands.add { [self] in
                do throws(Errno) {
                    try volume.controlFiles.write(handle, bytes, pid: pid)
                    pending.take()?.written(bytes.count)
                } catch {
                    pending.take()?.error(error)
                }
            }
        }
    }

    func poll(
        _ request: fuse_req_t, _ node: fuse_ino_t, _ info: UnsafeMutablePointer<fuse_file_info>?, _ poll: OpaquePointer?
    ) {
        guard self.node(node).isControl else {
            if let poll { fuse_pollhandle_destroy(poll) }
            // ENOSYS would end all polling of this mount, including that of the control files.
            return Reply(request).poll(UInt32(POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM))
        }
        Reply.to(request) { () throws(Errno) in
            try control(info)
        } _: { reply, handle in
            if let poll {
                let waiter = PollWaiter(poll)
                handle.onChange { waiter.wake() }
            }
            reply.poll(volume.controlFiles.poll(handle))
        }
    }
}

/// A caller of poll(2): it is woken once, and then the kernel asks again.
private final class PollWaiter: @unchecked Sendable {
    // @unchecked: the handle is taken under the mutex.
    private let handle: Mutex<UInt>
    init(_ handle: OpaquePointer) { self.handle = Mutex(UInt(bitPattern: handle)) }

    func wake() {
        let taken = handle.withLock { handle in
            defer { handle = 0 }
            return handle
        }
        guard let poll = OpaquePointer(bitPattern: taken) else { return }
        fuse_lowlevel_notify_poll(poll)
        fuse_pollhandle_destroy(poll)
    }
    deinit {
        if let poll = OpaquePointer(bitPattern: handle.withLock { $0 }) { fuse_pollhandle_destroy(poll) }
    }
}

/// Reads of `events` that wait for an event. None of them occupies a worker.
final class ParkedReads: Sendable {
    private final class Parked: @unchecked Sendable {
        // @unchecked: `pending` is itself taken once; the rest is not changed.
        let pending: PendingReply
        let reader: EventReader
        let size: Int
        let request: UInt
        init(_ pending: PendingReply, _ request: fuse_req_t, _ reader: EventReader, _ size: Int) {
            self.pending = pending
            self.reader = reader
            self.size = size
            self.request = UInt(bitPattern: request)
        }
    }
    private let parked = Mutex<[ObjectIdentifier: [Parked]]>([:])

    func park(_ pending: PendingReply, _ request: fuse_req_t, _ reader: EventReader, size: Int) {
        let entry = Parked(pending, request, reader, size)
        // libfuse's interrupt callback, which may come at any time until the answer, only compares it.
        fuse_req_interrupt_func(
            request,
            { request, data in
                guard let request, let data else { return }
                Server.of(request).streams.interrupt(data)
            }, Unmanaged.passUnretained(entry).toOpaque())
        let isInterrupted = parked.withLock { parked in
            if fuse_req_interrupted(request) != 0 { return true }
            parked[ObjectIdentifier(reader), default: []].append(entry)
            return false
        }
        if isInterrupted { return entry.pending.take()?.error(.interrupted) ?? () }
        reader.onData { [weak self] in self?.resume(reader) }
        if reader.isReadable { resume(reader) }
    }

    private func resume(_ reader: EventReader) {
        while true {
            let entry = parked.withLock { parked -> Parked? in
                guard reader.isReadable, var waiting = parked[ObjectIdentifier(reader)], !waiting.isEmpty else {
                    return nil
                }
                let first = waiting.removeFirst()
                parked[ObjectIdentifier(reader)] = waiting.isEmpty ? nil : waiting
                return first
            }
            guard let entry else { return }
            if let bytes = reader.take(limit: entry.size) {
                entry.pending.take()?.bytes(bytes)
            } else {
                parked.withLock { $0[ObjectIdentifier(reader), default: []].insert(entry, at: 0) }
                return
            }
        }
    }

    private func interrupt(_ data: UnsafeMutableRawPointer) {
        let entry = parked.withLock { parked -> Parked? in
            for (reader, waiting) in parked {
                guard let at = waiting.firstIndex(where: { Unmanaged.passUnretained($0).toOpaque() == data })
                else { continue }
                let entry = waiting[at]
                parked[reader]?.remove(at: at)
                return entry
            }
            return nil
        }
        entry?.pending.take()?.error(.interrupted)
    }
}
