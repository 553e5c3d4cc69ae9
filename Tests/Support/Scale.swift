import Foundation

/// The factor for the counts of long tests: PURGEFS_TEST_SCALE, 1 by default.
public enum Scale {
    public static let factor: Double =
        ProcessInfo.processInfo.environment["PURGEFS_TEST_SCALE"].flatMap(Double.init) ?? 1

    /// The seconds after which a test that waits reports a hang. It asserts no speed: a call of ten seconds takes more than a
    /// minute on two CPUs with twenty busy processes.
    public static let patience: Double = 300

    /// Returns `full` times the factor, at least one.
    public static func of(_ full: Int) -> Int { max(1, Int((Double(full) * factor).rounded())) }

    /// Returns the first elements of `all`: their number times the factor, and at least `least`.
    public static func some<Values: Collection>(of all: Values, least: Int) -> [Values.Element] {
        Array(all.prefix(max(least, of(all.count))))
    }
}
