import ContainerTesting
import XCTest

extension XCTestCase {
    /// Creates a fresh container for this test, which ends after the test. A test may make several. Omitted settings are the
    /// defaults of `purgefs run`: 64 GiB, no other apps. `options` are further options of `purgefs run`.
    ///
    /// XCTest has no attachments on Linux. If the test fails, the events and the page of `purgefs report` go into the
    /// directory that the variable PURGEFS_REPORTS names. A container that is still in use at its end fails the test.
    ///
    /// Throws `ContainerError`.
    public func makeContainer(
        total: Container.Size? = nil, others: Container.Size? = nil, othersPurgeable: Container.Size? = nil,
        profile: Container.Profile? = nil, purgeLatency: Container.Span? = nil,
        protection: Container.ProtectionClass? = nil, thresholds: Container.Thresholds? = nil, options: [String] = []
    ) throws -> Container {
        let container = try Container(
            Container.Settings(
                total: total, others: others, othersPurgeable: othersPurgeable, profile: profile,
                purgeLatency: purgeLatency, protection: protection, thresholds: thresholds, options: options))
        let failuresBefore = testRun?.totalFailureCount ?? 0
        addTeardownBlock { [unowned self] in
            if (testRun?.totalFailureCount ?? 0) > failuresBefore {
                ContainerEvidence(of: container).keep(named: name)
            }
            do {
                try container.end()
            } catch { XCTFail("\(error)") }
        }
        return container
    }
}
