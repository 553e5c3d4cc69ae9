import Synchronization
import Testing

/// Detects that a test fails while it has a container, and then keeps the evidence about the container.
///
/// Swift Testing does not tell a trait how its test ended. But a trait that handles issues receives each issue, and an error
/// that ends the test passes through the trait's scope.
final class FailureWatch: Sendable {
    private let container: Container
    private let hasFailed = Mutex(false)

    init(_ container: Container) { self.container = container }

    /// Performs `body`, and attaches the evidence if the test fails meanwhile or its task is cancelled, for example by a time
    /// limit.
    func watch(_ test: Test, _ testCase: Test.Case?, _ body: @Sendable () async throws -> Void) async throws {
        let issues: IssueHandlingTrait = .compactMapIssues { [self] in noticed($0) }
        let result: Result<Void, any Error>
        do {
            try await issues.provideScope(for: test, testCase: testCase, performing: body)
            result = .success(())
        } catch {
            try await noticedEnd(test, testCase, error)
            result = .failure(error)
        }
        if hasFailed.withLock({ $0 }) || Task.isCancelled { await attach(test) }
        try result.get()
    }

    /// If an error ends the test, records the summary as a separate warning, because the testing library records the error only
    /// outside this scope. There is no warning for a known issue, after an earlier failure, after the container's end, or if
    /// the test was cancelled, by itself or by its time limit.
    private func noticedEnd(_ test: Test, _ testCase: Test.Case?, _ error: any Error) async throws {
        guard try await !isKnown(error, test, testCase) else { return }
        guard isFirstFailure(), !Task.isCancelled, !container.hasEnded else { return }
        Issue.record(
            "\(ContainerEvidence.summary(of: container))", severity: .warning, sourceLocation: test.sourceLocation)
    }

    /// Returns whether a `withKnownIssue` around the container expects this error, by recording an issue that is suppressed.
    private func isKnown(_ error: any Error, _ test: Test, _ testCase: Test.Case?) async throws -> Bool {
        let isKnown = Mutex(false)
        let probe: IssueHandlingTrait = .compactMapIssues { issue in
            isKnown.withLock { $0 = !issue.isFailure }
            return nil
        }
        try await probe.provideScope(for: test, testCase: testCase) { Issue.record(error) }
        return isKnown.withLock { $0 }
    }

    private func isFirstFailure() -> Bool {
        hasFailed.withLock { hasFailed in
            defer { hasFailed = true }
            return !hasFailed
        }
    }

    /// Adds the current numbers and last events to the first failure, as a comment.
    private func noticed(_ issue: Issue) -> Issue {
        guard issue.isFailure, isFirstFailure(), !container.hasEnded else { return issue }
        var issue = issue
        issue.comments.append("\(ContainerEvidence.summary(of: container))")
        return issue
    }

    private func attach(_ test: Test) async {
        let evidence = await Threads.run { [container] in ContainerEvidence(of: container) }
        evidence.attach(to: test)
    }
}

extension ContainerEvidence {
    /// Attaches the events and the report, if there is one, to the running test; `swift test --attachments-path DIR` keeps
    /// them.
    func attach(to test: Test) {
        let name = Self.fileName(test.name)
        Attachment.record(events, named: "\(name)-events.jsonl", sourceLocation: test.sourceLocation)
        if let report {
            Attachment.record(report, named: "\(name)-report.html", sourceLocation: test.sourceLocation)
        }
    }
}
