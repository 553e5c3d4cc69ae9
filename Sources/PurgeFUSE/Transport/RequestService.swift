/// All that a transport knows of the volume that it serves.
protocol RequestService: Sendable {
    /// The calling thread is about to serve requests.
    func prepareThread()
    /// Takes note of a request. A transport calls this for each request that it receives, before any that the kernel has sent
    /// later is served, so that a close which has returned is known to every later call (docs/INTERNALS.md, The order of
    /// RELEASE).
    func note(_ request: RawRequest)
    /// Reports a failure of the connection.
    func report(_ failure: String)
}
