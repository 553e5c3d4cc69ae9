import CFuse
import CFuseShims
import PurgeSystem

/// The connection to the kernel: the only place where requests are received and answers are sent.
///
/// A transport is what this folder and CFuseShims/transport have: it receives requests, tells a `RequestService` of each in order,
/// and has libfuse decode and answer them. libfuse encodes an answer on the thread that gives it, and passes the bytes to
/// `channel_send` or `channel_splice`. A second transport has a type like this one, which `MountService` would choose.
struct Channel: @unchecked Sendable {
    // @unchecked: libfuse's session may be used by several threads at once, and is not changed here.
    let session: OpaquePointer

    /// Takes over the input and output of a session that is mounted.
    /// - Parameter stackDepth: of the mount over the store's file system, for passthrough.
    init(_ session: OpaquePointer, stackDepth: UInt32) throws(Errno) {
        self.session = session
        let code = shim_take_over_io(session, stackDepth)
        if code < 0 { throw Errno(-code) }
    }

    /// Serves with as many as `limit` threads until the mount has ended.
    func serve(_ service: some RequestService, limit: Int) throws(Errno) {
        try WorkerPool(source: DeviceRequests(channel: self, service: service), limit: limit).run()
    }

    /// One request; its length. Only one thread at a time may call this. ENODEV after `stop`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let count = channel_receive(buffer.baseAddress, buffer.count)
        if count < 0 { throw Errno(Int32(-count)) }
        return count
    }

    /// Has libfuse decode the request and call its callback, on this thread.
    func process(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        shim_process(session, buffer.baseAddress, length)
    }

    /// From now on nothing is received: what still uses the mount is cut off.
    static func stop() { channel_stop() }
    /// The same, because of an error of the connection that does not go away.
    static func fail(_ error: Errno) { channel_fail(error.code) }
    /// That error.
    static var failure: Errno? {
        let code = channel_failure()
        return code == 0 ? nil : Errno(code)
    }
    /// After `stop`, when no worker is left: what has not been served fails, including calls of our own notifier.
    func cutOff() { channel_cut_off() }
}
