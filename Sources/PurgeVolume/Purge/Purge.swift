import Glibc
import PurgeModel
import PurgeTree

/// A purge that has been decided: its bytes are free in the ledger, but its files are still to be removed. It cannot be copied,
/// so it ends exactly once: `Purger.carryOut` carries it out, or its files are put back.
struct Purge: ~Copyable {
    /// The purge's number in `UntoldPurges`.
    let number: UInt64
    var plan: PurgePlan<Node>
    let trigger: PurgeTrigger
    /// The thread on whose behalf the purge is done; 0 if there is none.
    let tid: pid_t
    /// The process and, if it wrote, the file that set off a purge for a write or under pressure. nil if unknown, and for any
    /// other trigger.
    let cause: PressureCause?
    /// The level when the purge was decided.
    let pressure: PressureLevel

    /// Returns an event with the facts that all events of this purge share.
    func event(_ reason: PurgeReason, bytes: ByteCount) -> Event {
        Event(
            type: .purge, bytes: bytes, reason: reason.rawValue, trigger: trigger, pid: tid == 0 ? cause?.pid : tid,
            cause: cause?.path, pressure: pressure)
    }

    func event(_ victim: Victim<Node>, _ removal: Removal) -> Event {
        var event = event(victim.reason, bytes: victim.bytes)
        (event.path, event.tier) = (removal.path.formerText, victim.tier)
        event.lastUse = victim.age.lastUse.iso8601
        if removal.purgedName.isEmptied { event.tombstone = true }
        return event
    }
}

extension [Event] {
    /// The bytes that the purges in these events have freed.
    var freed: ByteCount { reduce(.zero) { $0 + ($1.bytes ?? .zero) } }
}
