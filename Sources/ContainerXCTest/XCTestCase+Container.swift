import ContainerTesting
import XCTest

extension XCTestCase {
    /// Creates a fresh container, which ends after this test. A test may create several. Omitted settings are the defaults of
    /// `purgefs run`: 64 GiB, no other apps. `options` are further options of `purgefs run`.
    ///
    /// XCTest has no attachments on Linux. If the test fails after this call, the container's events and the page of `purgefs
    /// report` are written to the directory named by the variable PURGEFS_REPORTS; without the variable, they are not kept. The
    /// test also fails if the container cannot end cleanly, for example because it is still in use.
    ///
    /// Throws `ContainerError` if the container cannot be created.
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
