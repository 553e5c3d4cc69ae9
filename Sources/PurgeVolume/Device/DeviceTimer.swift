import PurgeModel
import PurgeSystem

/// Carries out work that becomes due on the device, such as the end of `locking`, the expiry of access and the check of `tmp` for
/// old files.
struct DeviceTimer: VolumeFamily {
    let core: VolumeCore
    let deviceChanges: DeviceChanges

    /// The body of the device's thread.
    func run() {
        while let seen = core.deviceGate.generation(unless: { isEnding }) {
            if isDue { proceed() }
            core.deviceSettled.advance()
            wait(while: seen, until: read { $0.device.nextDue }, atMost: DeviceLock.lockingTime.seconds * 1000)
        }
        core.deviceSettled.advance()
    }

    /// The body of the thread that checks the age of files in `tmp` when a day begins. The check takes time in proportion to
    /// the number of files, and nothing waits for it.
    func runAgeing() {
        while let seen = core.deviceGate.generation(unless: { isEnding }) {
            age()
            wait(while: seen, until: read { $0.device.ageing.next }, atMost: 600_000)
        }
    }

    /// Waits until a moment, or until the device changes. The wait for a moment is at most `longest` milliseconds, because the
    /// machine's clock may be set. If `moment` is nil, only a change ends the wait.
    private func wait(while seen: UInt64, until moment: Instant?, atMost longest: Int64) {
        guard let moment else { return core.deviceGate.wait(while: seen) }
        // Rounded up, so that the wait does not end within the millisecond before the moment.
        let left = (moment.nanoseconds &- clock.now.nanoseconds) / 1_000_000 + 1
        core.deviceGate.wait(while: seen, milliseconds: max(1, min(longest, left)))
    }

    private func age() {
        let now = clock.now
        guard read({ $0.device.ageing.isDue(at: now) }) else { return }
        do throws(Errno) { try deviceChanges.make(by: 0) { device, now in device.age(to: now) } } catch {}
    }

    /// Waits until all due work has been carried out, so that a caller does not see a state of the device that should have
    /// ended. Like every change of the device, this must not be called on a thread that serves requests if something is
    /// unsettled.
    func awaitDue() {
        awaitTimer()
        deviceChanges.awaitLockState()
    }

    private func awaitTimer() {
        guard isDue else { return }
        guard core.deviceTimerRuns.load(ordering: .sequentiallyConsistent) else { return proceed() }
        while let seen = core.deviceSettled.generation(unless: { isEnding }) {
            guard isDue else { return }
            core.deviceGate.advance()
            core.deviceSettled.wait(while: seen)
        }
    }

    private func proceed() {
        // A failure to save is reported, and saving is retried every second.
        do throws(Errno) { try deviceChanges.make(by: 0) { device, now in device.proceed(to: now) } } catch {}
    }

    /// Whether something is due, or a change of the lock state is still being carried out.
    var isUnsettled: Bool { core.lockStateChanges.load(ordering: .sequentiallyConsistent) > 0 || isDue }

    private var isDue: Bool {
        let now = clock.now
        return read { $0.device.isDue(at: now) }
    }

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
