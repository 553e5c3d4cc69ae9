import Synchronization
import Testing

/// Finds out whether a test has failed while it had a container, and keeps what can be seen of the container then.
///
/// Swift Testing does not tell a trait how its test has ended. But a trait that handles issues is told each of them, and
/// an error that ends the test comes through its scope.
final class FailureWatch: Sendable {
    private let container: Container
    private let hasFailed = Mutex(false)

    init(_ container: Container) { self.container = container }

    /// Performs `body`, and gathers what is to be seen if it fails or the test's time is over.
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

    /// The issue of an error that ends a test is made outside of our scope, so what belongs to it is a warning of its own.
    /// A test that is cancelled, by itself or because its time is over, gets none.
    private func noticedEnd(_ test: Test, _ testCase: Test.Case?, _ error: any Error) async throws {
        guard try await !isKnown(error, test, testCase) else { return }
        guard isFirstFailure(), !Task.isCancelled, !container.hasEnded else { return }
        Issue.record(
            "\(ContainerEvidence.summary(of: container))", severity: .warning, sourceLocation: test.sourceLocation)
    }

    /// Whether a `withKnownIssue` around the container waits for this error: an issue that nobody hears of shows it.
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

    /// The first failure gets the numbers and the last events of its moment as a comment.
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
    /// As attachments of the test that is running: `swift test --attachments-path DIR` keeps them.
    func attach(to test: Test) {
        let name = Self.fileName(test.name)
        Attachment.record(events, named: "\(name)-events.jsonl", sourceLocation: test.sourceLocation)
        if let report {
            Attachment.record(report, named: "\(name)-report.html", sourceLocation: test.sourceLocation)
        }
    }
}
