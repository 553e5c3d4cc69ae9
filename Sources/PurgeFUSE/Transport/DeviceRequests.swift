import Glibc
import PurgeSystem

/// Requests as they come from /dev/fuse.
final class DeviceRequests<Service: RequestService>: RequestSource, @unchecked Sendable {
    // @unchecked: only the leader uses `failures`; the other properties are constant.
    private let channel: Channel
    private let service: Service
    /// How many reads have failed in a row.
    private var failures = 0
    /// The mount ends when more reads than this fail in a row, which takes about two seconds.
    private static var maximumFailures: Int { 200 }

    /// The size of libfuse's own buffer. The kernel refuses a read into a buffer too small for the largest WRITE.
    private static var bufferSize: Int { (1 << 20) + 4096 }
    private static var headerSize: Int { 40 }
    /// The size of fuse_in_header and fuse_write_in together.
    private static var writeHeaderSize: Int { 80 }
    private static var pageSize: Int { 4096 }
    /// Copying more data than this takes longer than waking another reader.
    private static var largeData: Int { 128 << 10 }

    init(channel: Channel, service: Service) {
        self.channel = channel
        self.service = service
    }

    func prepareThread() { service.prepareThread() }

    func makeBuffer() -> UnsafeMutableRawBufferPointer? {
        .allocate(byteCount: Self.pageSize + Self.bufferSize, alignment: Self.pageSize)
    }

    /// Returns the part of the buffer for a request. It is placed so that the data of a WRITE begins at a page. Each page is
    /// then copied in one piece, into the buffer and from there into the file.
    private func request(in buffer: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: buffer[(Self.pageSize - Self.writeHeaderSize)...])
    }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let buffer = request(in: buffer)
        do throws(Errno) {
            let count = try channel.receive(into: buffer)
            guard count >= Self.headerSize else { throw .ioError }
            failures = 0
            service.note(RawRequest(buffer))
            return count
        } catch {
            switch error {
            case .interrupted, .tryAgain, .noEntry: return 0  // ENOENT: the caller was interrupted first
            case .noDevice, .connectionAbort:  // unmounted; aborted
                service.noteEnd()
                return nil
            default: return retry(after: error)
            }
        }
    }

    /// Handles a read error while the mount still exists and programs wait in it. Returns 0 to try again, or nil if
    /// that has not helped.
    private func retry(after error: Errno) -> Int? {
        if failures == 0 { service.report("cannot read from the kernel: \(error); trying again") }
        failures += 1
        guard failures > Self.maximumFailures else {
            usleep(10_000)
            return 0
        }
        Channel.fail(error)
        service.noteEnd()
        return nil
    }

    func isSlow(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) -> Bool {
        let request = RawRequest(request(in: buffer))
        switch request.opcode {
        case .fsync, .fsyncdir, .fallocate, .copyFileRange, .syncfs: return true
        case .write: return length > Self.largeData
        case .read: return request.readSize > Self.largeData
        default: return false
        }
    }

    func serve(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        channel.serve(request(in: buffer), length, service)
    }
}
