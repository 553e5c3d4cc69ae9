import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

extension StoreAccess {
    /// Returns the error to report for an error of the store's disk. ENOSPC always means that the simulated device is full. So
    /// a full disk under the store is reported as EIO, with an event.
    func hostError(_ error: Errno, _ node: Node) -> Errno {
        guard error.code == ENOSPC || error.code == EDQUOT else { return error }
        core.hostRefusals.wrappingAdd(1, ordering: .relaxed)
        events.append([Event(type: .hostFull, path: read { $0[node].path().text })])
        return .ioError
    }

    /// Reports a problem with a file in the log.
    func report(_ what: String, _ node: Node) {
        let path = read { $0[node].path().text }
        port.report(
            StoreError(what, path: "\(store.path)/container/\(path)", advice: "Run: purgefs check \(store.path)"))
    }
}
