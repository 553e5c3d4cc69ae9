import Glibc
import PurgeModel
import PurgeStore
import PurgeSystem
import PurgeTree

/// A call that can meet a fault.
public struct FaultyCall: Sendable {
    let kind: MomentKind
    /// The path relative to the container; of a rename, the old one.
    let path: String
    let thread: pid_t
    /// Identifies the request while it waits.
    let request: UInt64

    public init(_ kind: MomentKind, path: String, thread: pid_t, request: UInt64) {
        (self.kind, self.path, self.thread, self.request) = (kind, path, thread, request)
    }
}

/// How a call goes on after its faults.
public enum FaultyOutcome: Equatable, Sendable {
    case served
    /// The call is asked for half of its bytes.
    case shortened
    case refused(Errno)
}

/// Faults of calls (docs/FAULTS.md).
public struct FaultyCalls: VolumeFamily {
    let core: VolumeCore
    let deviceChanges: DeviceChanges

    /// Carries out the faults that a call meets, before the call. They may take as long as a purge. Our own threads, which call
    /// through the mount too, meet none.
    public func meet(_ call: FaultyCall) -> FaultyOutcome {
        guard !purgedNames.isAnnouncer(call.thread) else { return .served }
        let (number, rules) = core.faults.meet(call.kind, call.path)
        var outcome = FaultyOutcome.served
        for rule in rules {
            events.append([Event(rule, of: call, number)])
            let next = carryOut(rule, call)
            // The first error counts, and an error more than a short transfer.
            if outcome == .served || (outcome == .shortened && next != .served) { outcome = next }
        }
        return outcome
    }

    /// Ends the delay of a request if its caller has been killed.
    public func noteInterruption(of request: UInt64) { core.faults.noteInterruption(of: request) }

    private func carryOut(_ rule: FaultRule, _ call: FaultyCall) -> FaultyOutcome {
        switch rule.fault {
        case .error(let name): return .refused(Errno(name: name) ?? .ioError)
        case .short: return .shortened
        case .delay(let milliseconds):
            port.expectSlowWork()
            let isOver = core.faults.delay(call, milliseconds: milliseconds) { [core] in
                core.isEnding.load(ordering: .sequentiallyConsistent)
            }
            return isOver ? .served : .refused(.interrupted)
        case .full: core.change { state in state.tree.accounts.change { $0.isFull = true } }
        case .purge: purgeAll(call)
        case .lock:
            change(until: { $0.device.state.restrictsData }) { (changes) throws(Errno) in
                try changes.apply(.lockAtOnce, as: "faults=\(rule.text)", by: call.thread)
            }
        case .reboot:
            let boots = core.read { $0.device.boots }
            change(until: { $0.device.boots != boots }) { (changes) throws(Errno) in
                try changes.apply(.reboot, as: "faults=\(rule.text)", by: call.thread)
            }
        case .kill:
            core.app.killApp(or: call.thread)
            return .refused(.interrupted)
        }
        return .served
    }

    /// Purges all that may be purged. Another thread does it, because it may have to move folders through the mount. The kernel
    /// may hold the lock of a directory for this call, so that the purge is not announced there before the call returns
    /// (`PurgedNames.awaitAnnouncements` waits for a moment only).
    private func purgeAll(_ call: FaultyCall) {
        port.expectSlowWork()
        runApart(core.purges, until: { false }) {
            purgedNames.awaitingAnnouncements { debt in
                // Only a request about a place that does not exist is an error.
                do throws(Errno) {
                    _ = try selections.purge(.byRule(.all), tid: call.thread, &debt, isKept: false)
                } catch {}
            }
        }
    }

    /// Changes the device, and returns when the change is in force. What follows it, such as the dropping of pages, may have to
    /// wait for this very call.
    private func change(
        until isInForce: @escaping (borrowing VolumeState) -> Bool,
        _ change: @escaping @Sendable (DeviceChanges) throws(Errno) -> Void
    ) {
        port.expectSlowWork()
        runApart(core.deviceSettled, until: { [core] in core.read { isInForce($0) } }) { [deviceChanges] in
            // An error means that the change is in force and not saved, or that the store refuses all changes.
            do throws(Errno) { try change(deviceChanges) } catch {}
        }
    }

    private func runApart(
        _ gate: Gate, until isEnough: @escaping () -> Bool, _ body: @escaping @Sendable () -> Void
    ) {
        do throws(Errno) { try core.faults.runApart(gate, until: isEnough, body) } catch {
            port.report(
                StoreError(
                    "no thread for a fault: \(error)", path: store.path, advice: "The call was served without it."))
        }
    }
}

extension Event {
    fileprivate init(_ rule: FaultRule, of call: FaultyCall, _ number: Int64) {
        self.init(
            type: .fault, path: call.path, reason: rule.text, pid: call.thread,
            cause: "\(call.kind.rawValue)#\(number)")
    }
}
