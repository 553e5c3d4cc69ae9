// What changes with the profile.
extension Device {
    /// Other rules are in force from a moment on.
    mutating func set(_ new: Profile, at now: Instant? = nil) {
        guard new != profile else { return }
        thresholds = thresholds.replacing(profile.thresholds, by: new.thresholds)
        profile = new
        reclaiming = Reclaiming()
        ageing = TemporaryAgeing(isOn: new.agesTemporary, day: new.agesTemporary ? now?.day : nil)
    }

    /// Once a day what is in `tmp` and over its age goes.
    public mutating func age(to now: Instant) -> [DeviceEffect] {
        guard ageing.isDue(at: now) else { return [] }
        revision += 1
        return ageing.pass(to: now) ? [.age(now), .save] : [.save]
    }
}
