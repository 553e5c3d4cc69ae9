import Glibc
import PurgeCommandLine
import PurgeSystem

/// The line on a terminal that shows how far a sweep is.
struct SweepProgress {
    private let began = System.uptime()

    func show(_ done: Int, failed: Int, of all: Int) {
        let text =
            "\r\(Bar.forLocale().text(Int64(done), of: Int64(all), width: 30)) \(done) of \(all), \(failed) failed"
            + "\(Self.timeLeft(done, of: all, after: System.uptime() - began))\u{1B}[K"
        do throws(Errno) { try System.writeAll(STDERR_FILENO, Array(text.utf8)) } catch {}  // only progress
    }

    /// Assumes that the trials that are left take as long as those before them.
    ///
    /// - Parameter elapsed: the time for the first `done` trials, in nanoseconds.
    static func timeLeft(_ done: Int, of all: Int, after elapsed: Int64) -> String {
        guard done > 0, done < all else { return "" }
        let seconds = Int((Double(elapsed) / 1e9 / Double(done) * Double(all - done)).rounded(.up))
        return seconds < 120 ? ", \(seconds) s left" : ", \(seconds / 60) min left"
    }
}
