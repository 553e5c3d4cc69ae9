import PurgeModel
import PurgeSystem

/// The device's clock, as stored.
public enum StoredClock {
    /// Returns the number of seconds by which the clock is ahead of real time, from device.json; 0 if there is no such file.
    /// Takes no lock. Throws if there is no store, or if the file is damaged.
    public static func secondsAhead(storePath: String) throws(StoreError) -> Int64 {
        let place = try StoreDirectory.open(storePath)
        try place.refuseForeign(try place.names(), creating: false)
        return try DeviceFile(place: place).read()?.clock ?? 0
    }

    /// Returns the device's current time, or the real time if device.json cannot be read.
    static func now(in place: StoreDirectory) -> Instant {
        do throws(StoreError) {
            return now(secondsAhead: try DeviceFile(place: place).read()?.clock ?? 0)
        } catch { return now(secondsAhead: 0) }
    }

    /// Returns the current time of a device whose clock is ahead by `secondsAhead`.
    public static func now(secondsAhead: Int64) -> Instant {
        Instant(nanoseconds: System.now()).advanced(by: TimeSpan(seconds: secondsAhead))
    }
}
