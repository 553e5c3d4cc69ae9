import CFuse
import CFuseShims
import PurgeSystem

/// The connection to the kernel: the only place where requests are received and answers are sent.
///
/// Another transport would replace this type and its other half, CFuseShims/channel.c: libfuse encodes an answer on the
/// thread that gives it, and passes the bytes to `channel_send` or `channel_splice`.
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

    /// One request; its length. Only one thread at a time may call this. ENODEV after `stop`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let count = shim_receive(buffer.baseAddress, buffer.count)
        if count < 0 { throw Errno(Int32(-count)) }
        return count
    }

    /// Has libfuse decode the request and call its callback, on this thread.
    func process(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        shim_process(session, buffer.baseAddress, length)
    }

    /// From now on nothing is received: what still uses the mount is cut off.
    static func stop() { shim_stop() }
    /// The same, because of an error of the connection that does not go away.
    static func fail(_ error: Errno) { shim_fail(error.code) }
    /// That error.
    static var failure: Errno? {
        let code = shim_failure()
        return code == 0 ? nil : Errno(code)
    }
    /// After `stop`, when no worker is left: what has not been served fails, including calls of our own notifier.
    func cutOff() { shim_cut_off() }
}
