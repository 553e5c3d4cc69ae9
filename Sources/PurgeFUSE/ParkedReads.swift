import CFuse
import PurgeSystem
import PurgeVolume
import Synchronization

/// Reads of `events` that wait for an event without occupying a worker.
final class ParkedReads: Sendable {
    private final class Parked: Sendable {
        let pending: PendingReply
        let reader: EventReader
        let size: Int
        init(_ pending: PendingReply, _ reader: EventReader, _ size: Int) {
            self.pending = pending
            self.reader = reader
            self.size = size
        }
    }
    private let parked = Mutex<[ObjectIdentifier: [Parked]]>([:])

    func park(_ pending: PendingReply, _ request: fuse_req_t, _ reader: EventReader, size: Int) {
        let entry = Parked(pending, reader, size)
        // libfuse may call this callback at any time until the answer is sent. So the callback only compares the address of
        // `entry` with those of the parked reads; a read that it finds is answered with EINTR.
        fuse_req_interrupt_func(
            request,
            { request, data in
                guard let request, let data else { return }
                Server.of(request).streams.interrupt(data)
                // Unmanaged: no reference is taken, since only the address is compared.
            }, Unmanaged.passUnretained(entry).toOpaque())
        guard keep(entry, isFirst: false) else { return }
        reader.onData { [weak self, weak reader] in
            if let reader { self?.resume(reader) }
        }
        if reader.isReadable { resume(reader) }
    }

    /// Adds a read to the waiting reads of its reader, or answers EINTR if the read was interrupted before the interrupt
    /// callback could find it. Returns whether the read waits.
    private func keep(_ entry: Parked, isFirst: Bool) -> Bool {
        let isKept = parked.withLock { parked in
            if entry.pending.isInterrupted { return false }
            let reader = ObjectIdentifier(entry.reader)
            var waiting = parked[reader] ?? []
            waiting.insert(entry, at: isFirst ? 0 : waiting.count)
            parked[reader] = waiting
            return true
        }
        if !isKept { entry.pending.take()?.error(.interrupted) }
        return isKept
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
                // Another read took the event. Events that have come since then found no read to answer, so the loop checks
                // once more.
                _ = keep(entry, isFirst: true)
            }
        }
    }

    private func interrupt(_ data: UnsafeMutableRawPointer) {
        let entry = parked.withLock { parked -> Parked? in
            for (reader, waiting) in parked {
                // Unmanaged: no reference is taken, since only the address is compared.
                guard let entry = waiting.first(where: { Unmanaged.passUnretained($0).toOpaque() == data })
                else { continue }
                parked[reader] = waiting.count == 1 ? nil : waiting.filter { $0 !== entry }
                return entry
            }
            return nil
        }
        entry?.pending.take()?.error(.interrupted)
    }
}
