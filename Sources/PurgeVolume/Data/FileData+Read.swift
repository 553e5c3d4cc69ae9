import Glibc
import PurgeSystem

/// The parameters of a read.
public struct ReadRequest: Sendable {
    public var offset: Int64
    public var length: Int
    public var tid: pid_t

    /// Reads of at least this length are spliced; for smaller ones a copy is cheaper.
    private static let leastSplice = 64 << 10

    public init(offset: Int64, length: Int, tid: pid_t) {
        self.offset = offset
        self.length = length
        self.tid = tid
    }

    var isSpliced: Bool { length >= Self.leastSplice }

    /// How many bytes of buffer the answer needs; none if the data is spliced.
    public var bufferLength: Int { isSpliced ? 0 : length }
}

/// The data of a read, in the form in which it is sent.
public enum ReadData {
    /// Bytes in the reader's buffer.
    case copied(UnsafeRawBufferPointer)
    /// Data to be spliced from a descriptor, which stays open until the handle is released.
    case spliced(Int32, offset: Int64, length: Int)
}

extension FileData {
    /// Returns the data of a read. Only `copy`, and the kernel in passthrough, read an open file's content elsewhere. While no
    /// data is out of reach, this takes no lock.
    func read(
        _ handle: Handle, _ request: ReadRequest, into buffer: UnsafeMutableRawBufferPointer
    ) throws(Errno) -> ReadData {
        try protection.admit(.use, to: handle.node, by: request.tid)
        if request.isSpliced {
            return .spliced(handle.descriptor, offset: request.offset, length: request.length)
        }
        let count = try System.pread(handle.descriptor, buffer, offset: request.offset)
        return .copied(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
}
