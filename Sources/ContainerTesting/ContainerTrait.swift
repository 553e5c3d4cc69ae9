import Testing

/// Gives each case of a test a fresh container, `Container.current`, which ends with it. Create the trait with
/// `.container(...)`.
///
/// On a suite, the trait gives a container to each test in the suite and in nested suites. A setting in a test's own trait wins
/// over the suite's setting. The first failure of a test gets a comment with the numbers and the last events of the container;
/// an error that ends the test gets a warning with them. A failed or cancelled test gets all events and the page of `purgefs
/// report` as attachments.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    let settings: Container.Settings

    /// Whether a trait has already given the test a container. The traits of suites come first. No lock is needed, because the
    /// value is task-local.
    @TaskLocal private static var isProvided = false

    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        if Self.isProvided { return try await function() }
        let settings = test.traits.compactMap { $0 as? ContainerTrait }.map(\.settings)
            .reduce(Container.Settings()) { $0.overridden(by: $1) }
        try await Self.$isProvided.withValue(true) {
            try await withContainer(settings) { _ in try await function() }
        }
    }
}

extension Trait where Self == ContainerTrait {
    /// Gives each test a fresh container, `Container.current`. Omitted settings are the defaults of `purgefs run`: 64 GiB, no
    /// other apps. `options` are further options of `purgefs run`.
    public static func container(
        total: Container.Size? = nil, others: Container.Size? = nil, othersPurgeable: Container.Size? = nil,
        profile: Container.Profile? = nil, purgeLatency: Container.Span? = nil,
        protection: Container.ProtectionClass? = nil, thresholds: Container.Thresholds? = nil, options: [String] = []
    ) -> Self {
        .container(
            Container.Settings(
                total: total, others: others, othersPurgeable: othersPurgeable, profile: profile,
                purgeLatency: purgeLatency, protection: protection, thresholds: thresholds, options: options))
    }

    /// Gives each test a fresh container with default settings.
    public static var container: Self { .container() }

    /// Gives each test a fresh container with prepared settings.
    public static func container(_ settings: Container.Settings) -> Self { ContainerTrait(settings: settings) }
}
