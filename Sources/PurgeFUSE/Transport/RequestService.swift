import PurgeSystem

/// The interface of the served volume to a transport.
protocol RequestService: Sendable {
    /// Prepares the calling thread for serving requests.
    func prepareThread()
    /// Takes note of a request, before it is served. Requests of /dev/fuse are noted in their order. So a call knows of every
    /// close(2) that returned before the call began (docs/INTERNALS.md, The order of RELEASE).
    func note(_ request: RawRequest)
    /// Whether calls can meet a fault. Asked for each request.
    var areFaultsSet: Bool { get }
    /// Carries out the faults that a request meets, before it is served. May shorten the request. Returns the error with which
    /// the request ends, or nil if it is served.
    func meetFaults(_ request: RawRequest) -> Errno?
    /// Called once no more requests are received, while earlier ones may still be served.
    func noteEnd()
    /// Has another thread make a call through the mount on a CPU, soon.
    func makeCall(onCPU number: UInt32)
    /// Reports a failure of the connection.
    func report(_ failure: String)
}
