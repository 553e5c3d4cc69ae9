import Glibc
import PurgeSystem

/// The data of a write: one value from the request to the file, whatever has to be reserved, purged or split on the way.
protocol WriteData {
    /// Writes these bytes of the data into a file, from `offset` on, and returns how many were written. Throws only if none
    /// were written.
    func put(_ bytes: Range<Int>, into descriptor: Int32, at offset: Int64) throws(Errno) -> Int
}

/// Bytes that came with the request.
struct SentBytes: WriteData {
    let sent: UnsafeRawBufferPointer

    @inline(__always)
    func put(_ bytes: Range<Int>, into descriptor: Int32, at offset: Int64) throws(Errno) -> Int {
        let part = UnsafeRawBufferPointer(rebasing: sent[bytes])
        return try all(part.count) { (done) throws(Errno) in
            try System.pwrite(
                descriptor, UnsafeRawBufferPointer(rebasing: part[done...]), offset: offset + Int64(done))
        }
    }
}

/// Bytes of another file, from `start` on, for copy_file_range(2).
struct CopiedBytes: WriteData {
    let source: Handle
    let start: Int64
    let tid: pid_t

    func put(_ bytes: Range<Int>, into descriptor: Int32, at offset: Int64) throws(Errno) -> Int {
        try Privileges.dropUnlessCapable(from: descriptor, tid: tid)
        return try all(bytes.count) { (done) throws(Errno) in
            try System.copyRange(
                from: source.descriptor, offset: start + Int64(bytes.lowerBound + done), to: descriptor,
                offset: offset + Int64(done), length: bytes.count - done)
        }
    }
}

/// Repeats a call until `count` bytes are done, or the call fails or makes no progress. The call gets the number of bytes done
/// so far. Throws only if the first call fails.
@inline(__always)
private func all(_ count: Int, _ call: (Int) throws(Errno) -> Int) throws(Errno) -> Int {
    var done = 0
    while done < count {
        do throws(Errno) {
            let more = try call(done)
            if more == 0 { break }
            done += more
        } catch {
            if done == 0 { throw error }
            break
        }
    }
    return done
}
