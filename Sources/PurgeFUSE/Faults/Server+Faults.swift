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
        let (outcome, number) = volume.faultyCalls.meet(call)
        record?.setMoment(number, of: request)
        switch outcome {
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
    func kind(of request: RawRequest) -> MomentKind? {
        let kind: MomentKind? =
            switch request.opcode {
            case .write where request.isWriteBack: nil
            case .copyFileRange: .write
            case .syncfs: .sync
            default: RecordedCall.Name(request)?.kind
            }
        guard let kind, !isOwn(request) else { return nil }
        return kind
    }

    /// Whether a request is about a control file, or comes from one of our own threads.
    func isOwn(_ request: RawRequest) -> Bool {
        node(request.node).isControl || kernel.pages.isWaiting(by: request.thread)
            || volume.faultyCalls.isOwn(request.thread)
    }

    func noteEnd() { volume.faultyCalls.endDelays() }
}
