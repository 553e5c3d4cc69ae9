// The changes that depend on the profile.
extension Device {
    /// Switches to another profile. If `now` is nil, the next call of `age` sets the first day of the daily removal in `tmp`.
    mutating func set(_ new: Profile, at now: Instant? = nil) {
        guard new != profile else { return }
        thresholds = thresholds.replacing(profile.thresholds, by: new.thresholds)
        profile = new
        reclaiming = Reclaiming()
        ageing = TemporaryAgeing(isOn: new.agesTemporary, day: new.agesTemporary ? now?.day : nil)
    }

    /// Starts the daily removal of unused files in `tmp` if it is due and needed. The first call only begins to count days.
    public mutating func age(to now: Instant) -> [DeviceEffect] {
        guard ageing.isDue(at: now) else { return [] }
        revision += 1
        return ageing.pass(to: now) && TemporaryAgeing.isNeeded(on: self) ? [.age(now), .save] : [.save]
    }
}
