/// The device's clock as it affects files: how apps see stamps, and how the store keeps the times that apps set.
public struct FileClock: Sendable {
    /// Seconds that the clock is ahead of real time.
    public let ahead: Int64
    private let history: ClockHistory

    init(ahead: Int64, history: ClockHistory) {
        self.ahead = ahead
        self.history = history
    }

    /// Returns the time that an app sees for a stamp, which the file system gave in real time.
    public func shown(_ stamp: FileTime) -> FileTime { history.shown(stamp) }

    /// Returns the time that an app sees for a stamp of this kind, on a file with these set times.
    public func shown(_ stamp: FileTime, _ kind: SetTimes.Kind, of set: SetTimes) -> FileTime {
        guard let then = set.clock(of: stamp, kind) else { return shown(stamp) }
        return stamp.earlier(by: max(0, ahead - then))
    }

    /// Returns the moment in the device's time that an app now sees as `time`.
    public func time(shownAs time: FileTime) -> Instant {
        let time = time.earlier(by: -ahead)
        return Instant(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    /// Returns the moment in the device's time of a stamp.
    public func time(of stamp: FileTime) -> Instant { time(shownAs: shown(stamp)) }

    /// Returns how the store keeps a time that an app sets at `now` in real time: the stamp for the file system, and whether
    /// `SetTimes` must remember the stamp. That is necessary if the stamp alone would not show the time that the app set, or
    /// would not age.
    public func stamp(for time: FileTime, at now: FileTime) -> (stamp: FileTime, isRemembered: Bool) {
        guard time <= now, history.isEmpty || time >= Self.earliest, let stamp = history.stamp(shownAs: time) else {
            return (time, true)
        }
        return (stamp, false)
    }

    /// The earliest stamp that every file system supports, in 1901. A file system may store another stamp instead of an earlier
    /// one. `SetTimes` must remember that stamp, so that advances before the time was set do not age it.
    private static let earliest = FileTime(seconds: 1 - (1 << 31), nanoseconds: 0)
}

extension Device {
    public var fileClock: FileClock { FileClock(ahead: clock, history: history) }
}
