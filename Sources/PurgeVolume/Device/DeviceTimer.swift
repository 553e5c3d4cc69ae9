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
            if !store.isForReading { age() }
            wait(while: seen)
        }
        core.deviceSettled.advance()
    }

    private func wait(while seen: UInt64) {
        let now = clock.now
        let (due, ageing) = read { ($0.device.nextDue, $0.device.ageing.next) }
        let longest = due == nil ? Self.longestWait : DeviceLock.lockingTime.seconds * 1000
        guard let next = [due, store.isForReading ? nil : ageing].compactMap({ $0 }).min() else {
            return core.deviceGate.wait(while: seen)
        }
        // The moment is not over before the next millisecond begins.
        let left = (next.nanoseconds &- now.nanoseconds) / 1_000_000 + 1
        core.deviceGate.wait(while: seen, milliseconds: max(1, min(longest, left)))
    }

    /// In milliseconds. The machine's clock may be set.
    private static let longestWait: Int64 = 600_000

    /// Has what is in `tmp` looked at for its age if a day has begun. No control file waits for that.
    private func age() {
        let now = clock.now
        guard read({ $0.device.ageing.isDue(at: now) }) else { return }
        do throws(Errno) { try deviceChanges.make(by: 0) { device, now in device.age(to: now) } } catch {}
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

    private var isEnding: Bool { core.isEnding.load(ordering: .acquiring) }
}
