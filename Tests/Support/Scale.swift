import Foundation

/// The factor for the counts of long tests: PURGEFS_TEST_SCALE, 1 by default.
public enum Scale {
    public static let factor: Double =
        ProcessInfo.processInfo.environment["PURGEFS_TEST_SCALE"].flatMap(Double.init) ?? 1

    /// `full` times the factor, never less than one.
    public static func of(_ full: Int) -> Int { max(1, Int((Double(full) * factor).rounded())) }

    /// The first of `all`: as many as the factor says, at most all, and at least `least`.
    public static func some<Values: Collection>(of all: Values, least: Int) -> [Values.Element] {
        Array(all.prefix(max(least, of(all.count))))
    }
}
