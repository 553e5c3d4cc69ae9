/// The clock of the device as it concerns files: what an app sees of their stamps, and what the store has of times that an
/// app sets.
public struct FileClock: Sendable {
    /// Seconds that it is ahead of real time.
    public let ahead: Int64
    private let history: ClockHistory

    init(ahead: Int64, history: ClockHistory) {
        self.ahead = ahead
        self.history = history
    }

    /// What an app sees of a stamp that its file system gave, in real time.
    public func shown(_ stamp: FileTime) -> FileTime { history.shown(stamp) }

    /// The same of the time of one kind of a file of which these times were set.
    public func shown(_ stamp: FileTime, _ kind: SetTimes.Kind, of set: SetTimes) -> FileTime {
        guard let then = set.clock(of: stamp, kind) else { return shown(stamp) }
        return stamp.earlier(by: max(0, ahead - then))
    }

    /// The device's own time at what an app sees now as this time.
    public func time(shownAs time: FileTime) -> Instant {
        let time = time.earlier(by: -ahead)
        return Instant(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    /// The device's own time at a stamp.
    public func time(of stamp: FileTime) -> Instant { time(shownAs: shown(stamp)) }

    /// How the store keeps a time that an app sets now, at a moment of real time: the stamp for its file system, and
    /// whether `SetTimes` must remember it, since the stamp alone would not look as set, or not age.
    public func stamp(for time: FileTime, at now: FileTime) -> (stamp: FileTime, isRemembered: Bool) {
        guard time <= now, history.isEmpty || time >= Self.earliest, let stamp = history.stamp(shownAs: time) else {
            return (time, true)
        }
        return (stamp, false)
    }

    /// 1901; not every file system has earlier stamps, and what it has instead is to look like what was set.
    private static let earliest = FileTime(seconds: 1 - (1 << 31), nanoseconds: 0)
}

extension Device {
    public var fileClock: FileClock { FileClock(ahead: clock, history: history) }
}
