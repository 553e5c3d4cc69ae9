// Times of files: what an app sees, and what the store has.
extension Device {
    /// What an app sees of a stamp that its file system gave, in real time.
    public func shown(_ stamp: FileTime) -> FileTime { history.shown(stamp) }

    /// The same of the time of one kind of a file of which these times were set.
    public func shown(_ stamp: FileTime, _ kind: SetTimes.Kind, of set: SetTimes) -> FileTime {
        guard let then = set.clock(of: stamp, kind) else { return shown(stamp) }
        return stamp.earlier(by: max(0, clock - then))
    }

    /// The device's own time at what an app sees now as this time.
    public func time(shownAs time: FileTime) -> Instant {
        let time = time.earlier(by: -clock)
        return Instant(seconds: time.seconds, nanoseconds: time.nanoseconds)
    }

    /// The device's own time at a stamp.
    public func time(of stamp: FileTime) -> Instant { time(shownAs: shown(stamp)) }

    /// How the store keeps a time that an app sets now, at a moment of real time: the stamp for its file system, and
    /// whether `SetTimes` must remember it, since the stamp alone would not look as set, or not age.
    public func stamp(for time: FileTime, at now: FileTime) -> (stamp: FileTime, isRemembered: Bool) {
        guard time <= now, let stamp = history.stamp(shownAs: time) else { return (time, true) }
        return (stamp, false)
    }
}
