import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

extension StoreAccess {
    /// Returns the error to answer for an error from the store's file system. To an app, ENOSPC always means that the simulated
    /// device is full. So a full disk under the store, or an exhausted quota, becomes EIO and an event.
    func hostError(_ error: Errno, _ node: Node) -> Errno {
        guard error.code == ENOSPC || error.code == EDQUOT else { return error }
        core.hostRefusals.wrappingAdd(1, ordering: .relaxed)
        events.append([Event(type: .hostFull, path: read { $0[node].path().text })])
        return .ioError
    }

    /// Logs a problem with a file.
    func report(_ what: String, _ node: Node) {
        let path = read { $0[node].path().text }
        port.report(
            StoreError(
                what, path: "\(store.path)/container/\(path)", advice: "Run: purgefs check \(ShellWord.of(store.path))")
        )
    }
}
