import PurgeCommandLine
import PurgeModel
import PurgeStore
import PurgeSystem

/// The value of `--since`: a moment of simulated time, or a time span before now, by the device's clock.
enum Since: Hashable {
    case moment(Instant)
    case span(TimeSpan)

    init?(text: String) {
        if let span = TimeSpan(text: text) {
            self = .span(span)
        } else if let moment = Instant(iso8601: text) {
            self = .moment(moment)
        } else {
            return nil
        }
    }

    static func objection(to text: String) -> String {
        "'\(text)' is neither a time of the device's clock (2026-11-21, 2026-11-21T09:30, 2026-11-21T09:30:00Z) nor a "
            + "duration before now (30s, 10m, 2h, 3d)"
    }

    /// Returns the time in the form of `Event.time`. `clock` returns how many seconds the device's clock is ahead of real time.
    func time(_ clock: () throws(CommandFailure) -> Int64) throws(CommandFailure) -> String {
        switch self {
        case .moment(let moment): return moment.iso8601
        case .span(let span):
            let now = StoredClock.now(secondsAhead: try clock())
            return now.advanced(by: TimeSpan(seconds: -span.seconds)).iso8601
        }
    }

    static func clock(ofStore path: String) throws(CommandFailure) -> Int64 {
        do throws(StoreError) {
            return try StoredClock.secondsAhead(storePath: path)
        } catch { throw CommandFailure("cannot read the device's clock", error) }
    }
}
