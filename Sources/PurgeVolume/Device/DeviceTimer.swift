import PurgeModel
import PurgeSystem

/// Carries out what is due on the device at its moment, as the end of `locking` is.
struct DeviceTimer: VolumeFamily {
    let core: VolumeCore
    let deviceChanges: DeviceChanges

    /// The body of its thread.
    func run() {
        while !isEnding {
            let seen = core.deviceGate.generation
            if isDue { proceed() }
            core.deviceSettled.advance()
            if let due = read({ $0.device.nextDue }) {
                core.deviceGate.wait(while: seen, milliseconds: milliseconds(until: due))
            } else {
                core.deviceGate.wait(while: seen)
            }
        }
        core.deviceSettled.advance()
    }

    /// Returns when all that is due has been carried out, so that whoever asks for the state of the device does not see
    /// one that should have ended. Like every change of the device, it must not be called on a thread that serves
    /// requests if something is unsettled.
    func awaitDue() {
        awaitTimer()
        deviceChanges.awaitLockState()
    }

    private func awaitTimer() {
        guard isDue else { return }
        guard core.deviceTimerRuns.load(ordering: .sequentiallyConsistent) else { return proceed() }
        while !isEnding {
            let seen = core.deviceSettled.generation
            guard isDue else { return }
            core.deviceGate.advance()
            core.deviceSettled.wait(while: seen)
        }
    }

    private func proceed() {
        // If it cannot be saved, that is reported and tried again every second.
        do throws(Errno) { try deviceChanges.make(by: 0) { device, now in device.proceed(to: now) } } catch {}
    }

    /// Whether something is due, or a change of the lock state is still being carried out.
    var isUnsettled: Bool { core.lockStateChanges.load(ordering: .sequentiallyConsistent) > 0 || isDue }

    private var isDue: Bool {
        let now = clock.now
        return read { $0.device.isDue(at: now) }
    }

    private func milliseconds(until due: Instant) -> Int64 {
        // The moment is not over before the next millisecond begins.
        min(DeviceLock.lockingTime.seconds * 1000, (due.nanoseconds &- clock.now.nanoseconds) / 1_000_000 + 1)
    }

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
