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

    public init(_ kind: MomentKind, path: String, thread: pid_t) {
        (self.kind, self.path, self.thread) = (kind, path, thread)
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

    /// Whether a thread is one of ours, which call through the mount too.
    public func isOwn(_ thread: pid_t) -> Bool { purgedNames.isAnnouncer(thread) }

    /// Carries out the faults that a call meets, before the call. They may take as long as a purge.
    /// Returns also the number of the call among those of its kind.
    public func meet(_ call: FaultyCall) -> (outcome: FaultyOutcome, number: Int64) {
        let (number, rules) = core.faults.meet(call.kind, call.path)
        var outcome = FaultyOutcome.served
        for rule in rules {
            events.append([Event(rule, of: call, number)])
            let next = carryOut(rule, call)
            // The first error counts, and an error more than a short transfer.
            if outcome == .served || (outcome == .shortened && next != .served) { outcome = next }
            if next == .refused(.interrupted), rule.endsCall { break }  // nobody waits for the call any more
        }
        return (outcome, number)
    }

    /// Lets all reads reach the daemon, because they are recorded.
    public func watchReads() { core.faults.watchReads() }

    /// Ends the delays of calls, because no more requests are served.
    public func endDelays() { core.faults.endDelays() }

    private func carryOut(_ rule: FaultRule, _ call: FaultyCall) -> FaultyOutcome {
        switch rule.fault {
        case .error(let name): return .refused(Errno(fault: name) ?? .ioError)
        case .short: return .shortened
        case .delay(let milliseconds):
            port.expectSlowWork()
            let isOver = core.faults.delay(
                call, milliseconds: milliseconds, limit: max(1, budget.workers - 2))
            return isOver ? .served : .refused(.interrupted)
        case .full:
            // `off` removes the rules first, so a late call cannot fill the device again.
            core.change { [core] state in
                if core.faults.isWatching { state.tree.accounts.change { $0.isFull = true } }
            }
        case .purge: purgeAll(call)
        case .lock:
            change(until: { $0.device.state.restrictsData }) { (changes) throws(Errno) in
                try changes.apply(.lockAtOnce, as: "faults=\(rule.text)", by: call.thread)
            }
        case .reboot:
            // Work on the files that is under way, such as the deletion of the app, ends the same processes.
            if core.read({ $0.device.unfinished != nil }) { return .served }
            let boots = core.read { $0.device.boots }
            change(until: { $0.device.boots != boots }) { (changes) throws(Errno) in
                try changes.apply(.reboot, as: "faults=\(rule.text)", by: call.thread)
            }
        case .kill, .power:
            port.expectSlowWork()
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
        runBeside(core.purges, until: { false }) {
            openFiles.settleMappings()
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
        runBeside(core.deviceSettled, until: { [core] in core.read { isInForce($0) } }) { [deviceChanges] in
            // An error means that the change is in force and not saved, or that the store refuses all changes.
            do throws(Errno) { try change(deviceChanges) } catch {}
        }
    }

    private func runBeside(
        _ gate: Gate, until isEnough: @escaping () -> Bool, _ body: @escaping @Sendable () -> Void
    ) {
        do throws(Errno) { try core.faults.runBeside(gate, until: isEnough, body) } catch {
            port.report(
                StoreError(
                    "no thread for a fault: \(error)", path: store.path, advice: "The call was served without it."))
        }
    }
}

extension FaultRule {
    /// Whether the fault ends the call if its caller is killed.
    fileprivate var endsCall: Bool {
        switch fault {
        case .delay, .kill, .power: true
        case .error, .short, .full, .purge, .lock, .reboot: false
        }
    }
}

extension Errno {
    /// Finds the error of a fault by its name. The kernel would not ask again after ENOSYS.
    public init?(fault name: String) {
        guard name != "ENOSYS" else { return nil }
        self.init(name: Self.aliases[name] ?? name)
    }

    private static let aliases = ["ENOTSUP": "EOPNOTSUPP", "EWOULDBLOCK": "EAGAIN", "EDEADLOCK": "EDEADLK"]
}

extension Event {
    fileprivate init(_ rule: FaultRule, of call: FaultyCall, _ number: Int64) {
        self.init(
            type: .fault, path: call.path, reason: rule.text, pid: call.thread,
            cause: "\(call.kind.rawValue)#\(number)")
    }
}
