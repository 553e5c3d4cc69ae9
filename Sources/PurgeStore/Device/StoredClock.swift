import PurgeModel
import PurgeSystem

/// The clock of the device in a store.
public enum StoredClock {
    /// How many seconds it is ahead of real time, as device.json has it. Takes no lock; throws if there is no store.
    public static func secondsAhead(storePath: String) throws(StoreError) -> Int64 {
        let place = try StoreDirectory.open(storePath)
        try place.refuseForeign(try place.names(), creating: false)
        return try DeviceFile(place: place).read()?.clock ?? 0
    }

    /// The time of a device whose clock is so far ahead.
    public static func now(secondsAhead: Int64) -> Instant {
        Instant(nanoseconds: System.now()).advanced(by: TimeSpan(seconds: secondsAhead))
    }
}
