import Glibc
import PurgeModel
import PurgeSystem
import PurgeVolume

// Faults of calls (docs/FAULTS.md).
extension Server {
    var areFaultsSet: Bool { volume.areFaultsSet }

    func meetFaults(_ request: RawRequest) -> Errno? {
        guard let kind = kind(of: request) else { return nil }
        let call = FaultyCall(kind, path: TracedCall.path(of: request, self), thread: request.thread)
        switch volume.faultyCalls.meet(call) {
        case .served: return nil
        case .shortened:
            // The kernel does not start a program of which it has read less than it asked for.
            if !System.isStartingProgram(thread: request.thread) { request.shorten() }
            return nil
        case .refused(let error): return error
        }
    }

    /// Returns the kind of a call that can meet a fault. Nil for every other request, for a request about a control file, and
    /// for one of our own threads.
    private func kind(of request: RawRequest) -> MomentKind? {
        let kind: MomentKind
        switch request.number {
        case 14: kind = .open
        case 6, 8, 13, 35, 51: kind = .create
        case 15: kind = .read
        case 16 where !request.isWriteBack: kind = .write
        case 43, 47: kind = .write
        case 20, 30, 50: kind = .sync
        case 12, 45: kind = .rename
        case 10, 11: kind = .unlink
        case 9: kind = .mkdir
        case 4 where request.changesSize: kind = .truncate
        case 21, 24: kind = .setxattr
        default: return nil
        }
        return isOwn(request) ? nil : kind
    }

    /// Whether a request is about a control file, or comes from one of our own threads.
    func isOwn(_ request: RawRequest) -> Bool {
        node(request.node).isControl || kernel.pages.isWaiting(by: request.thread)
            || volume.faultyCalls.isOwn(request.thread)
    }

    func noteEnd() { volume.faultyCalls.endDelays() }
}
