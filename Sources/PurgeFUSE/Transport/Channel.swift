import CFuse
import CFuseShims
import PurgeSystem

/// The connection to the kernel: the only place where requests are received and answers are sent.
///
/// This folder and CFuseShims/transport receive requests, from /dev/fuse (`DeviceRequests`) and by io_uring (`RingWorkers`).
/// They report each to a `RequestService`, and have libfuse decode and answer it. libfuse encodes an answer on the thread that
/// gives it, and passes the bytes to `channel_send` or `channel_splice`.
struct Channel: @unchecked Sendable {
    // @unchecked: libfuse's session may be used by several threads at once, and is not changed here.
    let session: OpaquePointer

    /// Takes over the input and output of a mounted session.
    ///
    /// - Parameter stackDepth: how many levels the mount is above the store's lowest file system, for passthrough.
    init(_ session: OpaquePointer, stackDepth: UInt32) throws(Errno) {
        self.session = session
        let code = shim_take_over_io(session, stackDepth)
        if code < 0 { throw Errno(-code) }
    }

    /// Serves with at most `limit` threads until the mount has ended.
    func serve<Service: RequestService>(_ service: Service, _ rings: RingWorkers<Service>?, limit: Int) throws(Errno) {
        rings?.serve(self)
        defer { rings?.join() }
        try WorkerPool(source: DeviceRequests(channel: self, service: service), limit: limit).run()
    }

    /// Serves one request: carries out the faults that it meets, and answers it.
    func serve(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int, _ service: some RequestService) {
        if service.areFaultsSet {
            let request = RawRequest(buffer)
            if let error = service.meetFaults(request) { return refuse(request, error) }
        }
        process(buffer, length)
    }

    /// Receives one request and returns its length. Only one thread at a time may call this. Throws ENODEV after `stop`.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(Errno) -> Int {
        let count = channel_receive(buffer.baseAddress, buffer.count)
        if count < 0 { throw Errno(Int32(-count)) }
        return count
    }

    /// Has libfuse decode the request and call its callback, on this thread.
    func process(_ buffer: UnsafeMutableRawBufferPointer, _ length: Int) {
        shim_process(session, buffer.baseAddress, length)
    }

    /// Answers a request with an error, without serving it.
    func refuse(_ request: RawRequest, _ error: Errno) { shim_refuse(request.unique, error.code) }

    /// Stops receiving requests, which ends serving. Programs that still use the mount get errors from `cutOff` on.
    static func stop() { channel_stop() }
    /// Stops receiving requests after a persistent error of the connection.
    static func fail(_ error: Errno) { channel_fail(error.code) }
    /// The error passed to `fail`.
    static var failure: Errno? {
        let code = channel_failure()
        return code == 0 ? nil : Errno(code)
    }
    /// Fails all requests that have not been served, including calls of our own notifier. Called when no worker is left; does
    /// nothing unless `stop` or `fail` was called.
    func cutOff() { channel_cut_off() }
}
