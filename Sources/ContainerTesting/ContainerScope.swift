import Foundation
import Testing

/// Performs the body of a test that has a container.
enum ContainerScope {
    /// Performs `body` with `Container.current` set. Keeps the evidence of a failure as attachments in a test of Swift Testing,
    /// and in files elsewhere.
    static func perform<R>(
        _ container: Container, isolation: isolated (any Actor)? = #isolation,
        _ body: (Container) async throws -> R
    ) async throws -> R {
        // While the arguments of a test are evaluated, there is a test without a case, and IssueHandlingTrait would trap.
        guard let test = Test.current, test.isSuite || Test.Case.current != nil else {
            return try await performElsewhere(container, body)
        }
        let result = Handed<R?>(nil)
        func watched(_ body: @escaping (Container) async throws -> R) async throws {
            let body = Handed(body)
            try await FailureWatch(container).watch(test, Test.Case.current) {
                try await Container.$current.withValue(container) { result.value = try await body.value(container) }
            }
        }
        try await withoutActuallyEscaping(body, do: watched)
        guard let value = result.value else { throw CancellationError() }
        return value
    }

    private static func performElsewhere<R>(
        _ container: Container, isolation: isolated (any Actor)? = #isolation,
        _ body: (Container) async throws -> R
    ) async throws -> R {
        do {
            return try await Container.$current.withValue(container) { try await body(container) }
        } catch {
            await Threads.run { ContainerEvidence(of: container).keep(named: container.defaultName) }
            throw error
        }
    }
}

extension Container {
    /// The base name of the evidence files outside a test of Swift Testing.
    var defaultName: String { "\(ProcessInfo.processInfo.processName)-\(url.lastPathComponent)" }
}

/// @unchecked: the caller waits while its callee uses the value, so no two threads use it at once.
private final class Handed<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
