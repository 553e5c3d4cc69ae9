import Testing

/// Gives each test a fresh container, `Container.current`, which ends with it. Use `.container(...)`.
///
/// Of a suite, it is for each test in it, also in the suites in it. What a test's own trait sets wins over its suite's.
/// When the test fails, the failure has the numbers and the last events of the container as a comment, and the test the
/// events and the page of `purgefs report` as attachments.
public struct ContainerTrait: TestTrait, SuiteTrait, TestScoping {
    let settings: Container.Settings

    /// Whether a trait has given the test its container: the traits of suites come first.
    /// Threads share no variable here: each task has a value of its own.
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
    /// A fresh container for each test: `Container.current`. What is left out is as `purgefs run` has it: 64 GiB, no
    /// other apps. `options` are further ones of `purgefs run`.
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

    /// A fresh container for each test, with nothing set.
    public static var container: Self { .container() }

    /// The same with settings made before.
    public static func container(_ settings: Container.Settings) -> Self { ContainerTrait(settings: settings) }
}
